#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/object/objects.hpp"

// The catalog as of one moment.

namespace ouzel::catalog {

/// One changed object: what is written to the log, and what a commit rebases onto the newest snapshot.
struct Change {
   ObjectKey key;
   ObjectPtr before; ///< null: it did not exist. Not logged
   ObjectPtr after;  ///< null: dropped
};

/// An immutable catalog, seen from one database: what is in other databases is invisible except where said. A
/// snapshot is a handle; copying it is cheap, and it keeps alive what it contains. Safe to read from any thread.
/// Built-in relations (pg_class, information_schema.tables, ...) are found in it like the others.
class Snapshot {
public:
   /// Empty: no objects, only for decoding and tests.
   Snapshot();
   /// What a new data directory has: postgres, template1, template0, the predefined roles, schema public.
   static Snapshot bootstrap();

   /// Different for every snapshot that may differ in content (other than the database looked from).
   uint64_t version() const;
   Oid database() const { return database_; }
   /// The same catalog seen from another database.
   Snapshot inDatabase(Oid database) const;

   // By OID; null if there is none.
   DatabasePtr database(Oid oid) const;
   RolePtr role(Oid oid) const;
   SchemaPtr schema(Oid oid) const;
   RelationPtr relation(Oid oid) const; ///< built-in ones and those of this database

   // By name; null if there is none.
   DatabasePtr findDatabase(std::string_view name) const;
   RolePtr findRole(std::string_view name) const;
   SchemaPtr findSchema(std::string_view name) const;
   RelationPtr findRelation(Oid schema, std::string_view name) const;

   // In OID order. relations() are those of this database without the built-in ones (see systemRelations()).
   std::vector<DatabasePtr> databases() const;
   std::vector<RolePtr> roles() const;
   std::vector<SchemaPtr> schemas() const;
   std::vector<RelationPtr> relations() const;
   std::vector<std::shared_ptr<const Comment>> comments() const; ///< of this database and of shared objects
   std::vector<std::shared_ptr<const Settings>> settings() const;

   /// The relation a row type belongs to (its rowType or rowTypeArray); null if there is none.
   RelationPtr relationOfType(Oid type) const;
   /// The relation that has a constraint, and the constraint; nulls if there is none.
   std::pair<RelationPtr, const Constraint*> constraint(Oid oid) const;
   /// Indexes of a table, in OID order.
   std::vector<RelationPtr> indexesOf(Oid table) const;
   /// Relations whose definition reads the relation, in OID order.
   std::vector<RelationPtr> dependentsOf(Oid relation) const;
   /// COMMENT ON text of an object of this database or a shared one, built-in comments included; nothing if none.
   std::optional<std::string> comment(Oid classOid, Oid object, int32_t attribute = 0) const;
   /// ALTER ... SET values for exactly this pair; zero is "any".
   std::vector<std::pair<std::string, std::string>> settingsFor(Oid database, Oid role) const;

   // Whole-cluster access for recovery, editing and tests.
   ObjectPtr object(const ObjectKey& key) const;
   std::vector<ObjectPtr> allObjects() const;
   /// The snapshot after `changes`; `before` parts are not looked at.
   Snapshot apply(std::span<const Change> changes) const;
   /// Relations of all databases, for dropping a database.
   std::vector<RelationPtr> relationsOfDatabase(Oid database) const;

private:
   struct State;
   Snapshot(std::shared_ptr<const State> state, Oid database);

   std::shared_ptr<const State> state_; ///< shared among the handles
   Oid database_ = invalidOid;
};

/// OIDs of the first databases.
inline constexpr Oid template1Database = 1, template0Database = 4, postgresDatabase = 5;

} // namespace ouzel::catalog
