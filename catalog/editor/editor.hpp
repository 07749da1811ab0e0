#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/object/search_path.hpp"
#include "catalog/object/snapshot.hpp"

namespace ouzel::catalog {

/// Gives out OIDs >= 16384 that are durable once something using them commits. Thread-safe.
using OidSource = std::function<Oid()>;

enum class DropBehavior : uint8_t { Restrict, Cascade };

/// What a DROP removed, so that the engine can tell the client and drop storage.
struct Dropped {
   struct Item {
      RelationPtr relation;    ///< null for a constraint or default that fell with something else
      std::string description; ///< "table t", "view s.v", "constraint f on table t"
      bool isCascaded;         ///< not named in the statement: NOTICE "drop cascades to ..."
      bool isInternal;         ///< an index of a dropped table, an owned sequence: no notice
   };
   std::vector<Item> items;

   /// The NOTICE about what cascaded, and its detail; both empty if nothing did.
   std::pair<std::string, std::string> notice() const;
};

/// Rewrites an SQL expression or query for a renamed column or relation. The catalog keeps text and knows no grammar.
using SqlRewriter = std::function<std::string(const std::string& sql)>;

/// The catalog as one transaction changes it: a snapshot with the transaction's own changes on top.
///
/// Owned by a session's transaction, used by one thread. Each operation checks its rules against the working snapshot
/// and throws PostgreSQL's error; a throw leaves the editor as it was. The engine takes locks and does what storage
/// needs; nothing here touches rows. Temporary relations are changes that are re-applied but never logged.
class CatalogEditor {
public:
   /// `temporary`: the session's temporary objects (temporaryChanges() of earlier transactions).
   CatalogEditor(Snapshot base, OidSource oids, std::vector<Change> temporary = {});

   /// How messages name relations: unqualified when visible. By default nothing is visible.
   void setSearchPath(SearchPath path) { searchPath_ = std::move(path); }

   const Snapshot& snapshot() const { return working_; }
   const Snapshot& base() const { return base_; }
   bool hasChanges() const; ///< that need to be logged
   /// Own changes on top of a newer snapshot; READ COMMITTED does this per statement, commit does it once more.
   /// Throws 40001, 42P07 or 3F000 when another transaction's commit is in the way; the editor stays as it was.
   void rebase(const Snapshot& newest);

   /// For SAVEPOINT and statement rollback.
   struct Savepoint;
   std::shared_ptr<const Savepoint> savepoint() const;
   void rollbackTo(const Savepoint& savepoint);

   std::vector<Change> changes() const;          ///< permanent ones, for the log
   std::vector<Change> temporaryChanges() const; ///< the session keeps them after commit

   // Clusters and roles.
   Oid createDatabase(Database draft);
   void dropDatabase(std::string_view name, bool missingOk, Dropped* dropped = nullptr);
   void replaceDatabase(Database changed);
   Oid createRole(Role draft);
   void dropRole(std::string_view name, bool missingOk);
   void replaceRole(Role changed);
   void setSettings(Oid database, Oid role, std::vector<std::pair<std::string, std::string>> values);

   // Schemas.
   Oid createSchema(std::string name, Oid owner);
   Dropped dropSchema(Oid schema, DropBehavior behavior);
   void renameSchema(Oid schema, std::string name);
   void replaceSchema(Schema changed);
   /// The session's pg_temp_n, made on first use.
   Oid temporarySchema(int32_t backendId);

   // Relations. `draft.oid`, row types, attnums, constraint OIDs and names are filled in where missing. Throws 42P07.
   // Primary key and unique constraints get an index relation of the constraint's name.
   Oid createRelation(Relation draft);
   /// Replace one wholesale (ALTER TABLE, CREATE OR REPLACE VIEW, TRUNCATE's new storage id); same OID.
   void replaceRelation(Relation changed);
   Dropped dropRelation(Oid relation, DropBehavior behavior);
   /// Several at once: what the list names is no obstacle to the others.
   Dropped dropRelations(std::span<const Oid> relations, DropBehavior behavior);
   /// With views on it, `rewriteView` must be given, else 0A000.
   void renameRelation(Oid relation, std::string name, const SqlRewriter& rewriteView = nullptr);
   void setSchema(Oid relation, Oid schema);

   // Columns and constraints.
   int16_t addColumn(Oid relation, Column draft);
   Dropped dropColumn(Oid relation, std::string_view name, DropBehavior behavior);
   /// `rewriteExpr` is asked for checks, generated columns and index expressions that read the column, `rewriteView`
   /// for views; where one is needed and missing: 0A000.
   void renameColumn(Oid relation, std::string_view from, std::string to, const SqlRewriter& rewriteExpr = nullptr,
                     const SqlRewriter& rewriteView = nullptr);
   void setNotNull(Oid relation, std::string_view column, bool notNull);
   /// `sequence`: what a default of the form nextval('...') draws from.
   void setDefault(Oid relation, std::string_view column, std::string expr, Oid sequence = invalidOid);
   Oid addConstraint(Oid relation, Constraint draft);
   Dropped dropConstraint(Oid relation, std::string_view name, DropBehavior behavior, bool missingOk);
   void renameConstraint(Oid relation, std::string_view from, std::string to);

   /// Empty text removes the comment.
   void setComment(Oid classOid, Oid object, int32_t attribute, std::string text);

   Oid allocateOid() { return oids_(); }
   /// "t_a_key", "t_pkey1": a name not yet taken in the schema, cut to 63 bytes as PostgreSQL does.
   std::string chooseName(std::string_view table, std::string_view column, std::string_view label, Oid schema) const;

private:
   friend class DropPlan; // editor_drop.cpp

   void put(ObjectPtr after);
   void remove(const ObjectKey& key);
   void record(const ObjectKey& key, ObjectPtr after, bool temporary);
   bool isTemporary(const CatalogObject& object) const;
   void checkAgainst(const Snapshot& newest, const Snapshot& result) const;
   /// A copy to change and put; throws XX000 for an unknown or built-in one.
   Relation copyOf(Oid relation) const;
   void checkNewName(Oid schema, std::string_view name) const;
   /// Fill in OID and name, make the index behind it, append it.
   Oid attachConstraint(Relation& relation, Constraint draft);
   Oid createConstraintIndex(const Constraint& constraint, const Relation& relation);
   bool isConstraintNameTaken(Oid schema, std::string_view name) const;
   void removeComments(Oid classOid, Oid object);
   void rewriteDependents(const Relation& relation, int16_t attribute, const SqlRewriter& rewriteView,
                          std::string_view feature);

   // PROPERTIES
   const OidSource oids_;
   SearchPath searchPath_;
   // STATE
   struct Entry {
      Change change;
      bool temporary;
   };
   Snapshot base_;
   Snapshot working_;
   std::map<ObjectKey, Entry> entries_;
};

struct CatalogEditor::Savepoint {
   Snapshot base, working;
   std::map<ObjectKey, Entry> entries;
};

} // namespace ouzel::catalog
