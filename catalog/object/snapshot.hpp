#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/object/heirs.hpp"
#include "catalog/object/objects.hpp"

// Immutable states of the catalog.

namespace ouzel::catalog {

/// A change of one object. The log contains changes, and a commit applies them to the newest snapshot.
struct Change {
   ObjectKey key;
   ObjectPtr before; ///< null: the object is new. Not in the log
   ObjectPtr after;  ///< null: the object is dropped
};

/// An immutable state of the catalog, seen from one database: objects in other databases are invisible unless a
/// function says otherwise. A snapshot is a handle: a copy is cheap and keeps the objects alive. Any thread may read
/// it. Lookups also find built-in relations (pg_class, information_schema.tables, ...).
class Snapshot {
public:
   /// A snapshot without objects, for decoding and tests.
   Snapshot();
   /// The catalog of a new data directory: postgres, template1, template0, the predefined roles, schema public.
   static Snapshot bootstrap();

   /// Two snapshots of one version have the same objects, perhaps seen from different databases. Versions increase.
   uint64_t version() const;
   Oid database() const { return database_; }
   /// The same catalog, seen from another database.
   Snapshot inDatabase(Oid database) const;

   // By OID; null if there is no such object.
   DatabasePtr database(Oid oid) const;
   RolePtr role(Oid oid) const;
   SchemaPtr schema(Oid oid) const;
   RelationPtr relation(Oid oid) const; ///< a built-in relation or one of this database
   StatisticsPtr statistics(Oid oid) const;
   CollationPtr collation(Oid oid) const; ///< one of users
   FunctionPtr function(Oid oid) const;   ///< the same
   OperatorPtr op(Oid oid) const;         ///< the same
   CastPtr cast(Oid oid) const;           ///< the same
   ServerPtr server(Oid oid) const;
   ForeignWrapperPtr wrapper(Oid oid) const; ///< the built-in one, too
   ExtensionPtr extension(Oid oid) const;    ///< not plpgsql
   LargeObjectPtr largeObject(Oid oid) const;
   TextSearchPtr textSearch(ObjectKind kind, Oid oid) const; ///< one of users
   StorageId largeObjectPages() const;                       ///< noStorage: the database has had no large object

   // By name; null if there is no such object.
   DatabasePtr findDatabase(std::string_view name) const;
   RolePtr findRole(std::string_view name) const;
   SchemaPtr findSchema(std::string_view name) const;
   RelationPtr findRelation(Oid schema, std::string_view name) const;
   ServerPtr findServer(std::string_view name) const;
   ForeignWrapperPtr findWrapper(std::string_view name) const;       ///< the built-in one, too
   PreparedTransactionPtr findPrepared(std::string_view name) const; ///< of any database
   std::vector<PreparedTransactionPtr> preparedTransactions() const; ///< of all databases
   StatisticsPtr findStatistics(Oid schema, std::string_view name) const;
   CollationPtr findCollation(Oid schema, std::string_view name) const;                                ///< one of users
   FunctionPtr findFunction(Oid schema, std::string_view name, std::span<const Oid> inputTypes) const; ///< the same
   /// All of a name, in no certain order.
   std::vector<FunctionPtr> findFunctions(Oid schema, std::string_view name) const;
   /// An operator of a user with just these operands; `left` invalidOid: a prefix operator.
   OperatorPtr findOperator(Oid schema, std::string_view name, Oid left, Oid right) const;
   std::vector<OperatorPtr> findOperators(Oid schema, std::string_view name) const;
   CastPtr findCast(Oid source, Oid target) const;                                         ///< of a user
   ExtensionPtr findExtension(std::string_view name) const;                                ///< not plpgsql
   TextSearchPtr findTextSearch(ObjectKind kind, Oid schema, std::string_view name) const; ///< one of users
   /// Whether there are operators or casts of users in this database. Cheap: bindings ask.
   bool hasOperators() const;
   bool hasCasts() const;

   // In OID order. relations() gives the relations of this database without built-in relations (see systemRelations()).
   std::vector<DatabasePtr> databases() const;
   std::vector<RolePtr> roles() const;
   std::vector<SchemaPtr> schemas() const;
   std::vector<RelationPtr> relations() const;
   std::vector<std::shared_ptr<const Comment>> comments() const; ///< of this database and of shared objects
   std::vector<std::shared_ptr<const Settings>> settings() const;
   std::vector<std::shared_ptr<const DefaultAcl>> defaultAcls() const; ///< of this database
   std::vector<std::shared_ptr<const SystemAcl>> systemAcls() const;   ///< of this database
   /// Null: GRANT and REVOKE have changed nothing (see system_acl.hpp).
   std::shared_ptr<const SystemAcl> systemAcl(Oid classOid, Oid object) const;
   std::vector<ServerPtr> servers() const;                              ///< of this database
   std::vector<ForeignWrapperPtr> wrappers() const;                     ///< of users, in this database
   std::vector<StatisticsPtr> allStatistics() const;                    ///< of this database
   std::vector<CollationPtr> collations() const;                        ///< of users, in this database
   std::vector<TextSearchPtr> textSearchObjects(ObjectKind kind) const; ///< of users, in this database
   std::vector<FunctionPtr> functions() const;                          ///< of users, in this database
   std::vector<OperatorPtr> operators() const;                          ///< of users, in this database
   std::vector<CastPtr> casts() const;                                  ///< of users, in this database
   std::vector<ExtensionPtr> extensions() const;                        ///< of this database, without plpgsql
   std::vector<LargeObjectPtr> largeObjects() const;                    ///< of this database

   /// The relation whose rowType or rowTypeArray is `type`; null if there is none.
   RelationPtr relationOfType(Oid type) const;
   /// The relation that has a constraint, and the constraint; nulls if there is none.
   std::pair<RelationPtr, const Constraint*> constraint(Oid oid) const;
   /// The tables that inherit from a table directly; null if there are none.
   std::shared_ptr<const HeirList> heirs(Oid table) const;
   /// Their OIDs, ascending; and those of all that inherit from it, level by level, each once.
   std::vector<Oid> heirOids(Oid table) const;
   std::vector<Oid> allHeirOids(Oid table) const;
   /// The objects of CREATE STATISTICS on a table, in OID order.
   std::vector<StatisticsPtr> statisticsOf(Oid table) const;
   /// Over all databases: relations with a row type, relations that others inherit from, relations with indexes. Cheap:
   /// estimates ask.
   struct Counts {
      size_t withRowType, withHeirs, withIndexes;
   };
   Counts counts() const;
   /// Indexes of a table, in OID order.
   std::vector<RelationPtr> indexesOf(Oid table) const;
   bool hasIndexes(Oid table) const;
   /// Relations whose definition reads the relation, in OID order.
   std::vector<RelationPtr> dependentsOf(Oid relation) const;
   /// Other tables with policies that read the relation, in OID order.
   std::vector<RelationPtr> withPoliciesReading(Oid relation) const;
   /// Relations with rules that use the relation, or whose own rules these are, in OID order.
   std::vector<RelationPtr> withRulesUsing(Oid relation) const;
   /// The relation that has a rule, and the rule; nulls if there is none.
   std::pair<RelationPtr, const Rule*> rule(Oid oid) const;
   /// The comment on an object of this database or on a shared object, built-in comments included; empty if there is
   /// none.
   std::optional<std::string> comment(Oid classOid, Oid object, int32_t attribute = 0) const;
   /// The settings of ALTER ... SET for exactly this pair; zero stands for any database or role.
   std::vector<std::pair<std::string, std::string>> settingsFor(Oid database, Oid role) const;

   // Whole-cluster access for recovery, editing and tests.
   ObjectPtr object(const ObjectKey& key) const;
   std::vector<ObjectPtr> allObjects() const;
   /// The snapshot after `changes`. Ignores `before`.
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
