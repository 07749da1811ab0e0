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

/// Gives a new OID >= 16384. The OID is durable when a transaction that uses it commits. Thread-safe.
using OidSource = std::function<Oid()>;

enum class DropBehavior : uint8_t { Restrict, Cascade };

/// The objects that a DROP removed. The engine reports them to the client and drops their storage.
struct Dropped {
   struct Item {
      RelationPtr relation;    ///< null for a constraint or default of a relation that stays
      std::string description; ///< "table t", "view s.v", "constraint f on table t"
      bool isCascaded;         ///< not named in the statement: NOTICE "drop cascades to ..."
      bool isInternal;         ///< an index of a dropped table, an owned sequence: no notice
   };
   std::vector<Item> items;

   /// The NOTICE about cascaded objects, and its detail; both empty if there are none.
   std::pair<std::string, std::string> notice() const;
};

/// OIDs of the objects that a DROP names.
struct DropTargets {
   std::vector<Oid> schemas{}, relations{}, collations{}, functions{}, operators{}, casts{}, extensions{}, wrappers{},
       servers{}, languages{};
   std::vector<TextSearchPtr> textSearch{};
   size_t count() const {
      return schemas.size() + relations.size() + collations.size() + functions.size() + operators.size() +
             casts.size() + extensions.size() + wrappers.size() + servers.size() + languages.size() + textSearch.size();
   }
};

/// Rewrites the text of an SQL expression or query for a renamed column or relation. The engine provides it, because
/// the catalog does not know SQL's grammar.
using SqlRewriter = std::function<std::string(const std::string& sql)>;

/// Completes the copy of a relation in a new database: gives it storage of its own, and its rows.
using CompleteCopy = std::function<void(const Relation& original, Relation& copy)>;

/// What keeps a role from being dropped, as lines for DETAIL; empty: nothing.
std::string dependentsOfRole(const Snapshot& snapshot, Oid role, const SearchPath& path = {});

/// The catalog as one transaction sees and changes it: a base snapshot, and the transaction's changes over it.
///
/// A session's transaction owns the editor; one thread uses it. Each operation checks PostgreSQL's rules against the
/// working snapshot (base and changes). An operation that throws changes nothing. The engine takes the locks and
/// changes the storage; the editor does not touch rows. Temporary relations are changes that each new transaction of
/// the session applies again; the log does not contain them.
class CatalogEditor {
public:
   /// `temporary`: the session's temporary objects (temporaryChanges() of earlier transactions).
   CatalogEditor(Snapshot base, OidSource oids, std::vector<Change> temporary = {});

   /// Sets the path that decides whether messages qualify a relation's name. By default messages qualify all names.
   void setSearchPath(SearchPath path) { searchPath_ = std::move(path); }
   /// Sets who owns new relations.
   void setCreator(Oid role) { creator_ = role; }

   const Snapshot& snapshot() const { return working_; }
   const Snapshot& base() const { return base_; }
   bool hasChanges() const; ///< true if there are changes to log
   /// Moves the transaction's changes to a newer base snapshot. READ COMMITTED calls it per statement, and a commit
   /// calls it again. Throws 40001, 42P07 or 3F000 if the changes conflict with another transaction's commit; the
   /// editor then keeps its state.
   void rebase(const Snapshot& newest);

   /// For SAVEPOINT and statement rollback.
   struct Savepoint;
   std::shared_ptr<const Savepoint> savepoint() const;
   void rollbackTo(const Savepoint& savepoint);

   /// What is another object since then, or has come or gone, the session's temporary objects too.
   std::vector<Change> changedSince(const Savepoint& before) const;
   std::vector<Change> changes() const;          ///< permanent changes, for the log
   std::vector<Change> temporaryChanges() const; ///< changes that the session keeps after the commit

   // Clusters and roles.
   /// Makes a database with copies of all that `source` has; invalidOid: with the schemas that every database begins
   /// with. Throws 42P04.
   Oid createDatabase(Database draft, Oid source = invalidOid, const CompleteCopy& complete = {});
   void dropDatabase(std::string_view name, bool missingOk, Dropped* dropped = nullptr);
   /// Throws 42P04.
   void replaceDatabase(Database changed);
   Oid createRole(Role draft);
   void dropRole(std::string_view name, bool missingOk);
   void replaceRole(Role changed);
   void setDefaultAcl(DefaultAcl defaults);
   void setSystemAcl(SystemAcl privileges);
   void removeDefaultAcl(const DefaultAcl& defaults);
   void setSettings(Oid database, Oid role, std::vector<std::pair<std::string, std::string>> values);

   /// Adds a prepared transaction, to which it gives an OID. Throws 42710.
   void addPrepared(PreparedTransaction prepared);
   void dropPrepared(const PreparedTransaction& prepared);
   /// Makes the changes of a prepared transaction, which has kept its locks on the objects.
   void repeat(std::span<const Change> changes);

   // Extended statistics (editor_statistics.cpp).
   /// Gives the draft an OID, an owner, and a name if it has none ("t_a_b_stat"). Throws 42710.
   Oid createStatistics(Statistics draft);
   /// Throws 42710 for a new name that another object has.
   void replaceStatistics(Statistics changed);
   void dropStatistics(const Statistics& statistics);
   /// Forgets what ANALYZE has found of a column, whose values have changed their type.
   void forgetStatistics(Oid relation, int16_t attribute);

   // Collations (editor_collations.cpp).
   /// Gives the draft an OID and an owner. Throws 42710.
   Oid createCollation(Collation draft);
   /// Texts that name the collation follow a new name or schema. Throws 42710 for a name that another collation has.
   void replaceCollation(Collation changed);

   // Objects of full text search (editor_text_search.cpp).
   /// Gives the draft an OID and an owner. Throws 42710.
   Oid createTextSearch(TextSearchObject draft);
   /// Throws 42710 for a name that another object of the kind has.
   void replaceTextSearch(TextSearchObject changed);

   // Functions (editor_functions.cpp).
   /// Gives the draft an OID. Throws 42723.
   Oid createFunction(FunctionDefinition draft);
   /// Throws 42723 for a name and types that another function has.
   void replaceFunction(FunctionDefinition changed);

   // Operators and casts (editor_operators.cpp).
   /// Gives the draft an OID. Throws 42723.
   Oid createOperator(OperatorDefinition draft);
   /// Throws 42723 for a name and operands that another operator has.
   void replaceOperator(OperatorDefinition changed);
   /// Gives the draft an OID. Throws 42710.
   Oid createCast(Cast draft);

   // Extensions (editor_extensions.cpp).
   /// Gives the draft an OID. Throws 42710.
   Oid createExtension(Extension draft);
   void replaceExtension(Extension changed);

   // Large objects (editor_large_objects.cpp).
   /// Makes a large object of the OID, or of a new one for invalidOid. Throws 23505.
   Oid createLargeObject(Oid wanted, Oid owner);
   void replaceLargeObject(LargeObject changed);
   void dropLargeObject(const LargeObject& object);
   /// From now on the pages of a database's large objects are there.
   void setLargeObjectPages(Oid database, StorageId storage);

   // Foreign data (editor_foreign.cpp).
   /// Make or replace. Throw 42710.
   void replaceWrapper(ForeignWrapper changed);
   void replaceServer(ForeignServer changed);

   // Schemas.
   Oid createSchema(std::string name, Oid owner);
   Dropped dropSchema(Oid schema, DropBehavior behavior);
   /// `rewriteView` rewrites views over the schema's relations; as with renameRelation().
   void renameSchema(Oid schema, std::string name, const SqlRewriter& rewriteView = nullptr);
   void replaceSchema(Schema changed);
   /// The session's schema pg_temp_n; the first call creates it.
   Oid temporarySchema(int32_t backendId);

   // Relations. createRelation adds missing OIDs, row types, attnums and names of constraints to `draft`. Throws 42P07.
   // Primary key and unique constraints get an index relation with the constraint's name.
   Oid createRelation(Relation draft);
   /// Replaces a relation by a new version with the same OID (ALTER TABLE, CREATE OR REPLACE VIEW, TRUNCATE's new
   /// storage id).
   void replaceRelation(Relation changed);
   Dropped dropRelation(Oid relation, DropBehavior behavior);
   /// Drops several relations together: dependencies among the listed relations do not prevent the DROP.
   Dropped dropRelations(std::span<const Oid> relations, DropBehavior behavior);
   /// Drops objects of several kinds together, as DROP OWNED does.
   Dropped dropTogether(const DropTargets& targets, DropBehavior behavior);
   /// Throws 0A000 if views read the relation and `rewriteView` is empty.
   void renameRelation(Oid relation, std::string name, const SqlRewriter& rewriteView = nullptr);
   void setSchema(Oid relation, Oid schema, const SqlRewriter& rewriteView = nullptr);

   // Columns and constraints.
   int16_t addColumn(Oid relation, Column draft);
   Dropped dropColumn(Oid relation, std::string_view name, DropBehavior behavior);
   /// `rewriteExpr` rewrites CHECK constraints, generated columns and index expressions that read the column;
   /// `rewriteView` rewrites views. Throws 0A000 if a needed rewriter is empty.
   void renameColumn(Oid relation, std::string_view from, std::string to, const SqlRewriter& rewriteExpr = nullptr,
                     const SqlRewriter& rewriteView = nullptr);
   void setNotNull(Oid relation, std::string_view column, bool notNull);
   /// `sequence`: the sequence of a default of the form nextval('...'). `relationsInDefault`: those that another names.
   void setDefault(Oid relation, std::string_view column, std::string expr, Oid sequence = invalidOid,
                   std::vector<Oid> relationsInDefault = {});
   Oid addConstraint(Oid relation, Constraint draft);
   Dropped dropConstraint(Oid relation, std::string_view name, DropBehavior behavior, bool missingOk);
   void renameConstraint(Oid relation, std::string_view from, std::string to);

   /// Empty text removes the comment.
   void setComment(Oid classOid, Oid object, int32_t attribute, std::string text);

   Oid allocateOid() { return oids_(); }
   /// For a type: the OID of the shell type that it is going to define, or a new one.
   Oid allocateTypeOid(Oid schema, std::string_view name);
   /// A name that is free in the schema, shortened to 63 bytes as in PostgreSQL: "t_a_key", "t_pkey1".
   std::string chooseName(std::string_view table, std::string_view column, std::string_view label, Oid schema) const;
   /// The name of an index that got none: "t_a_b_idx", by the columns of `draft`.
   std::string chooseIndexName(std::string_view table, const Relation& draft) const;

private:
   friend class DropPlan; // editor_drop.cpp

   /// The first of "first_second_label", "first_second_label1", ... that is free.
   static std::string chooseFree(std::string_view first, std::string_view second, std::string_view label,
                                 const std::function<bool(const std::string&)>& isFree);

   void put(ObjectPtr after);
   void remove(const ObjectKey& key);
   void record(const ObjectKey& key, ObjectPtr after, bool temporary);
   bool isTemporary(const CatalogObject& object) const;
   /// Of a temporary schema, or of the row type of a temporary relation.
   bool isTemporary(const Function& function) const;
   /// Whether the type is one of a temporary relation.
   bool isOfSession(const SqlType& type) const;
   /// The index, with what its collations say of its keys.
   RelationPtr withCollationKeys(const RelationPtr& index) const;
   /// Throws 0A000 if a permanent object needs a temporary one: other sessions would miss it.
   void requireLasting(const CatalogObject& object) const;
   // editor_conflicts.cpp
   void checkAgainst(const Snapshot& newest, const Snapshot& result) const;
   /// Throws the error for a name that another object has.
   [[noreturn, gnu::cold]] static void throwNameTaken(const CatalogObject& object);
   /// A copy of a relation, to change and put. Throws XX000 for an unknown or built-in relation.
   Relation copyOf(Oid relation) const;
   void checkNewName(Oid schema, std::string_view name) const;
   /// The shell type that a new relation's type defines; null: there is none. Throws 42501 for another one's shell.
   RelationPtr shellOf(const Relation& draft) const;
   void removeShell(const Relation& shell, Oid definedType);
   /// Gives the constraint an OID and a name, makes its index, appends the constraint to the relation.
   Oid attachConstraint(Relation& relation, Constraint draft);
   Oid createConstraintIndex(const Constraint& constraint, const Relation& relation);
   bool isConstraintNameTaken(Oid schema, std::string_view name) const;
   void removeComments(Oid classOid, Oid object);
   /// Drops the extended statistics of a relation, or those that need an attribute of it.
   void dropStatisticsOn(Oid relation, int16_t attribute);
   void removeCollation(const Collation& collation);
   void removeTextSearch(const TextSearchObject& object);
   void removeFunction(const Function& function);
   void removeOperator(const Operator& op);
   void removeCast(const Cast& cast);
   void removeExtension(const Extension& extension);
   void removeWrapper(const ForeignWrapper& wrapper);
   void removeServer(const ForeignServer& server);
   /// Changes the texts that the catalog keeps.
   void rewriteTexts(const std::function<void(std::string&)>& change);
   void rewriteStatistics(Oid relation, int16_t attribute, const SqlRewriter& rewriteExpr);
   void rewriteDependents(const Relation& relation, int16_t attribute, const SqlRewriter& rewriteView,
                          std::string_view feature);

   // PROPERTIES
   const OidSource oids_;
   SearchPath searchPath_;
   Oid creator_ = bootstrapRole;
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
