#include "catalog/editor/editor.hpp"

#include <algorithm>
#include <set>

#include "catalog/object/collation.hpp"
#include "catalog/object/collation_text.hpp"
#include "catalog/object/comments.hpp"
#include "catalog/object/default_acl.hpp"
#include "catalog/object/prepared_transaction.hpp"
#include "catalog/object/statistics.hpp"
#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::catalog {

namespace {

constexpr std::string_view temporaryPrefix = "pg_temp_";

[[noreturn, gnu::cold]] void throwConcurrent() {
   throw SqlError(sqlstate::tRSerializationFailure, "could not serialize access due to concurrent update");
}

bool startsWith(std::string_view text, std::string_view prefix) {
   return text.substr(0, prefix.size()) == prefix;
}

/// Throws the error for a name that another transaction has taken since the base snapshot.
[[noreturn, gnu::cold]] void throwNameTaken(const CatalogObject& object) {
   switch (object.kind) {
   case ObjectKind::Database:
      throw SqlError(sqlstate::duplicateDatabase,
                     "database \"" + static_cast<const Database&>(object).name + "\" already exists");
   case ObjectKind::Role:
      throw SqlError(sqlstate::duplicateObject,
                     "role \"" + static_cast<const Role&>(object).name + "\" already exists");
   case ObjectKind::Schema:
      throw SqlError(sqlstate::duplicateSchema,
                     "schema \"" + static_cast<const Schema&>(object).name + "\" already exists");
   case ObjectKind::Relation:
      throw SqlError(sqlstate::duplicateTable,
                     "relation \"" + static_cast<const Relation&>(object).name + "\" already exists");
   case ObjectKind::Server:
      throw SqlError(sqlstate::duplicateObject,
                     "server \"" + static_cast<const ForeignServer&>(object).name + "\" already exists");
   case ObjectKind::Statistics:
      throw SqlError(sqlstate::duplicateObject,
                     "statistics object \"" + static_cast<const Statistics&>(object).name + "\" already exists");
   case ObjectKind::Collation:
      throw SqlError(sqlstate::duplicateObject,
                     "collation \"" + static_cast<const Collation&>(object).name + "\" already exists");
   case ObjectKind::PreparedTransaction:
      throw SqlError(sqlstate::duplicateObject, "transaction identifier \"" +
                                                    static_cast<const PreparedTransaction&>(object).name +
                                                    "\" is already in use");
   case ObjectKind::Comment:
   case ObjectKind::Settings:
   case ObjectKind::DefaultAcl: break;
   }
   throwConcurrent();
}

/// The object that has this object's name in a snapshot, or null.
ObjectPtr sameName(const Snapshot& snapshot, const CatalogObject& object) {
   switch (object.kind) {
   case ObjectKind::Database: return snapshot.findDatabase(static_cast<const Database&>(object).name);
   case ObjectKind::Role: return snapshot.findRole(static_cast<const Role&>(object).name);
   case ObjectKind::Schema: {
      const auto& schema = static_cast<const Schema&>(object);
      return snapshot.inDatabase(schema.database).findSchema(schema.name);
   }
   case ObjectKind::Relation: {
      const auto& relation = static_cast<const Relation&>(object);
      return snapshot.inDatabase(relation.database).findRelation(relation.schema, relation.name);
   }
   case ObjectKind::Server: {
      const auto& server = static_cast<const ForeignServer&>(object);
      return snapshot.inDatabase(server.database).findServer(server.name);
   }
   case ObjectKind::Statistics: {
      const auto& statistics = static_cast<const Statistics&>(object);
      return snapshot.inDatabase(statistics.database).findStatistics(statistics.schema, statistics.name);
   }
   case ObjectKind::Collation: {
      const auto& collation = static_cast<const Collation&>(object);
      return snapshot.inDatabase(collation.database).findCollation(collation.schema, collation.name);
   }
   case ObjectKind::PreparedTransaction:
      return snapshot.findPrepared(static_cast<const PreparedTransaction&>(object).name);
   case ObjectKind::Comment:
   case ObjectKind::Settings:
   case ObjectKind::DefaultAcl: break;
   }
   return nullptr;
}

} // namespace

CatalogEditor::CatalogEditor(Snapshot base, OidSource oids, std::vector<Change> temporary)
   : oids_(std::move(oids)), base_(std::move(base)), working_(base_) {
   for (Change& change : temporary) {
      DCHECK(change.after != nullptr);
      entries_.insert_or_assign(change.key, Entry{{change.key, nullptr, change.after}, true});
   }
   working_ = base_.apply(temporary);
}

bool CatalogEditor::hasChanges() const {
   for (const auto& [key, entry] : entries_)
      if (!entry.temporary) return true;
   return false;
}

std::vector<Change> CatalogEditor::changes() const {
   std::vector<Change> result;
   for (const auto& [key, entry] : entries_)
      if (!entry.temporary) result.push_back(entry.change);
   return result;
}

std::vector<Change> CatalogEditor::temporaryChanges() const {
   std::vector<Change> result;
   for (const auto& [key, entry] : entries_)
      if (entry.temporary && entry.change.after) result.push_back(entry.change);
   return result;
}

void CatalogEditor::rebase(const Snapshot& newest) {
   const Snapshot moved = newest.inDatabase(base_.database());
   if (moved.version() == base_.version()) return;
   std::vector<Change> all;
   for (const auto& [key, entry] : entries_)
      all.push_back(entry.change);
   DCHECK(moved.version() > base_.version()); // the base never moves to an older snapshot
   Snapshot result = moved.apply(all);
   checkAgainst(moved, result);
   base_ = moved;
   working_ = std::move(result);
}

namespace {

/// Whether a column has the row type of `type`, or the domain that it is, or an array of them.
bool hasColumnOf(const Relation& relation, const Relation& type) {
   if (type.rowType == invalidOid) return false;
   return std::any_of(relation.columns.begin(), relation.columns.end(), [&](const Column& column) {
      return !column.isDropped && ((column.type.oid & ~userArrayBit) == type.rowType ||
                                   (column.type.domain & ~userArrayBit) == type.rowType);
   });
}

} // namespace

void CatalogEditor::checkAgainst(const Snapshot& newest, const Snapshot& result) const {
   for (const auto& [key, entry] : entries_) {
      const Change& change = entry.change;
      if (key.kind == ObjectKind::Comment || key.kind == ObjectKind::Settings) continue; // the last commit wins
      if (newest.object(key) != change.before) throwConcurrent();
      if (!change.after) {
         const Snapshot view = key.kind == ObjectKind::Schema ? result.inDatabase(key.a) : result;
         if (key.kind == ObjectKind::Relation &&
             (!view.dependentsOf(key.a).empty() || !view.withPoliciesReading(key.a).empty() ||
              !view.withRulesUsing(key.a).empty()))
            throwConcurrent();
         if (key.kind == ObjectKind::Relation && change.before)
            for (const RelationPtr& relation :
                 view.relationsOfDatabase(static_cast<const Relation&>(*change.before).database))
               if (hasColumnOf(*relation, static_cast<const Relation&>(*change.before))) throwConcurrent();
         if (key.kind == ObjectKind::Role && !dependentsOfRole(view, key.a).empty()) throwConcurrent();
         if (key.kind == ObjectKind::Schema) {
            for (const RelationPtr& relation : view.relations())
               if (relation->schema == key.b) throwConcurrent();
            for (const StatisticsPtr& statistics : view.allStatistics())
               if (statistics->schema == key.b) throwConcurrent();
            for (const CollationPtr& collation : view.collations())
               if (collation->schema == key.b) throwConcurrent();
         }
         if (key.kind == ObjectKind::Collation && change.before) {
            const auto& collation = static_cast<const Collation&>(*change.before);
            const SchemaPtr schema = base_.inDatabase(collation.database).schema(collation.schema);
            for (const RelationPtr& relation : result.relationsOfDatabase(collation.database))
               if (usesCollation(*relation, collation, schema ? schema->name : "")) throwConcurrent();
         }
         continue;
      }
      const ObjectPtr holder = sameName(newest, *change.after);
      if (holder && keyOf(*holder) != key && !entries_.contains(keyOf(*holder))) throwNameTaken(*change.after);
      if (key.kind == ObjectKind::Statistics) {
         const auto& statistics = static_cast<const Statistics&>(*change.after);
         const Snapshot view = result.inDatabase(statistics.database);
         if (!view.schema(statistics.schema) || !view.relation(statistics.table)) throwConcurrent();
      }
      if (key.kind == ObjectKind::Collation) {
         const auto& collation = static_cast<const Collation&>(*change.after);
         if (!result.inDatabase(collation.database).schema(collation.schema)) throwConcurrent();
      }
      if (key.kind != ObjectKind::Relation) continue;
      const auto& relation = static_cast<const Relation&>(*change.after);
      const Snapshot view = result.inDatabase(relation.database);
      if (!view.schema(relation.schema)) {
         const SchemaPtr old = base_.inDatabase(relation.database).schema(relation.schema);
         throw SqlError(sqlstate::undefinedSchema, "schema \"" + (old ? old->name : "") + "\" does not exist");
      }
      for (const Dependency& dependency : relation.dependsOn)
         if (!view.relation(dependency.relation)) throwConcurrent();
      for (const Policy& policy : relation.policies)
         if (!std::all_of(policy.dependsOn.begin(), policy.dependsOn.end(),
                          [&](const Dependency& read) { return view.relation(read.relation) != nullptr; }) ||
             !std::all_of(policy.roles.begin(), policy.roles.end(),
                          [&](Oid role) { return role == invalidOid || view.role(role) != nullptr; }))
            throwConcurrent();
      for (const Rule& rule : relation.rules)
         for (const Dependency& dependency : rule.dependsOn)
            if (!view.relation(dependency.relation)) throwConcurrent();
      for (const Column& column : relation.columns)
         for (const Oid type : {column.type.oid, column.type.domain})
            if (!column.isDropped && type >= firstUserOid && !view.relationOfType(type)) throwConcurrent();
      if (entry.temporary) continue; // of this session alone: nobody who drops a collation sees it
      for (const Column& column : relation.columns)
         if (const Oid collation = column.type.collation;
             !column.isDropped && collation >= firstUserOid && !view.collation(collation))
            throwConcurrent();
   }
}

std::shared_ptr<const CatalogEditor::Savepoint> CatalogEditor::savepoint() const {
   return std::make_shared<const Savepoint>(Savepoint{base_, working_, entries_});
}

void CatalogEditor::rollbackTo(const Savepoint& savepoint) {
   base_ = savepoint.base;
   working_ = savepoint.working;
   entries_ = savepoint.entries;
}

bool CatalogEditor::isTemporary(const CatalogObject& object) const {
   if (object.kind == ObjectKind::Relation)
      return static_cast<const Relation&>(object).persistence == Persistence::Temporary;
   if (object.kind == ObjectKind::Schema) return startsWith(static_cast<const Schema&>(object).name, temporaryPrefix);
   if (object.kind == ObjectKind::Statistics) {
      const auto& statistics = static_cast<const Statistics&>(object);
      const SchemaPtr schema = working_.schema(statistics.schema);
      const RelationPtr table = working_.relation(statistics.table);
      return (schema && isTemporary(*schema)) || (table && table->persistence == Persistence::Temporary);
   }
   if (object.kind == ObjectKind::Comment) {
      const ObjectKey& key = static_cast<const Comment&>(object).object;
      if (const StatisticsPtr statistics = key.b == class_oid::pgStatisticExt ? working_.statistics(key.c) : nullptr)
         return isTemporary(*statistics);
      const RelationPtr relation = key.b == class_oid::pgClass ? working_.relation(key.c) : nullptr;
      return relation && relation->persistence == Persistence::Temporary;
   }
   return false;
}

void CatalogEditor::put(ObjectPtr after) {
   const bool temporary = isTemporary(*after);
   const ObjectKey key = keyOf(*after);
   if (!temporary && after->kind == ObjectKind::Relation) requireLasting(static_cast<const Relation&>(*after));
   if (after->kind == ObjectKind::Relation && static_cast<const Relation&>(*after).index)
      after = withCollationKeys(std::static_pointer_cast<const Relation>(after));
   record(key, std::move(after), temporary);
}

RelationPtr CatalogEditor::withCollationKeys(const RelationPtr& index) const {
   const Snapshot view = working_.inDatabase(index->database);
   bool has = false;
   for (size_t i = 0; i < index->index->columns.size() && i < index->columns.size(); ++i)
      has = has || isNondeterministic(view, index->columns[i].type.collation);
   if (has == index->index->hasCollationKeys) return index;
   Relation changed = *index;
   changed.index->hasCollationKeys = has;
   return std::make_shared<const Relation>(std::move(changed));
}

void CatalogEditor::requireLasting(const Relation& relation) const {
   const auto require = [&](Oid needed) {
      const RelationPtr found = needed == invalidOid ? nullptr : working_.relation(needed);
      if (found && found->persistence == Persistence::Temporary)
         throwNotSupported("a permanent object that needs a temporary one");
   };
   for (const Dependency& dependency : relation.dependsOn)
      require(dependency.relation);
   for (const Column& column : relation.columns) {
      require(column.defaultSequence);
      for (const Oid sequence : column.relationsInDefault)
         require(sequence);
   }
   for (const Constraint& constraint : relation.constraints)
      require(constraint.foreignRelation);
   if (relation.sequence) require(relation.sequence->ownerRelation);
}

void CatalogEditor::remove(const ObjectKey& key) {
   record(key, nullptr, false);
}

void CatalogEditor::record(const ObjectKey& key, ObjectPtr after, bool temporary) {
   DCHECK(!after || keyOf(*after) == key);
   const Change change{key, nullptr, after};
   Snapshot next = working_.apply(std::span(&change, 1));
   const auto found = entries_.find(key);
   if (found == entries_.end()) {
      entries_.emplace(key, Entry{{key, base_.object(key), std::move(after)}, temporary});
   } else if (!after && !found->second.change.before) {
      entries_.erase(found);
   } else {
      found->second.change.after = std::move(after);
   }
   working_ = std::move(next);
}

void CatalogEditor::replaceServer(ForeignServer changed) {
   const ServerPtr holder = working_.findServer(changed.name);
   if (holder && holder->oid != changed.oid) throwNameTaken(changed);
   put(std::make_shared<const ForeignServer>(std::move(changed)));
}

void CatalogEditor::dropServer(const ForeignServer& server) {
   removeComments(class_oid::pgForeignServer, server.oid);
   remove(keyOf(server));
}

void CatalogEditor::addPrepared(PreparedTransaction prepared) {
   if (working_.findPrepared(prepared.name)) throwNameTaken(prepared);
   prepared.oid = oids_();
   put(std::make_shared<const PreparedTransaction>(std::move(prepared)));
}

void CatalogEditor::dropPrepared(const PreparedTransaction& prepared) {
   remove(keyOf(prepared));
}

Oid CatalogEditor::createSchema(std::string name, Oid owner) {
   if (startsWith(name, "pg_"))
      throw SqlError(sqlstate::reservedName, "unacceptable schema name \"" + name + "\"")
          .detail("The prefix \"pg_\" is reserved for system schemas.");
   auto schema = std::make_shared<Schema>();
   schema->database = working_.database();
   schema->name = std::move(name);
   schema->owner = owner;
   schema->acl = initialAcl(working_, owner, invalidOid, AclKind::Schema);
   if (working_.findSchema(schema->name)) throwNameTaken(*schema);
   schema->oid = oids_();
   const Oid oid = schema->oid;
   put(std::move(schema));
   return oid;
}

void CatalogEditor::renameSchema(Oid schema, std::string name, const SqlRewriter& rewriteView) {
   const SchemaPtr old = working_.schema(schema);
   if (!old) throwInternal("schema to rename does not exist");
   if (startsWith(name, "pg_"))
      throw SqlError(sqlstate::reservedName, "unacceptable schema name \"" + name + "\"")
          .detail("The prefix \"pg_\" is reserved for system schemas.");
   std::set<Oid> moved;
   for (const RelationPtr& relation : working_.relations()) {
      if (relation->schema != schema) continue;
      if (!working_.withPoliciesReading(relation->oid).empty())
         throwNotSupported("renaming a schema whose tables are used by policies");
      if (!working_.withRulesUsing(relation->oid).empty())
         throwNotSupported("renaming a schema whose tables are used by rules");
      moved.insert(relation->oid);
   }
   // Rewrite all views before putting any of them, because binding one view reads the old versions of the other views.
   std::vector<Relation> rewritten;
   for (const RelationPtr& view : working_.relations()) {
      const bool isConcerned = std::any_of(view->dependsOn.begin(), view->dependsOn.end(),
                                           [&](const Dependency& read) { return moved.contains(read.relation); });
      if (!isConcerned || view->definition.empty()) continue;
      if (!rewriteView) throwNotSupported("renaming a schema whose tables are used by views");
      rewritten.push_back(*view);
      rewritten.back().definition = rewriteView(view->definition);
   }
   const SchemaPtr holder = working_.findSchema(name);
   if (holder && holder->oid != schema) throwNameTaken(*holder);
   for (Relation& view : rewritten)
      put(std::make_shared<const Relation>(std::move(view)));
   rewriteTexts([&](std::string& text) { text = withCollationsMoved(text, old->name, name); });
   Schema changed = *old;
   changed.name = std::move(name);
   replaceSchema(std::move(changed));
}

void CatalogEditor::replaceSchema(Schema changed) {
   const SchemaPtr holder = working_.findSchema(changed.name);
   if (holder && holder->oid != changed.oid) throwNameTaken(changed);
   put(std::make_shared<const Schema>(std::move(changed)));
}

Oid CatalogEditor::temporarySchema(int32_t backendId) {
   const std::string name = std::string(temporaryPrefix) + std::to_string(backendId);
   if (const SchemaPtr existing = working_.findSchema(name)) return existing->oid;
   auto schema = std::make_shared<Schema>();
   schema->database = working_.database();
   schema->oid = oids_();
   schema->name = name;
   const Oid oid = schema->oid;
   put(std::move(schema));
   return oid;
}

void CatalogEditor::setComment(Oid classOid, Oid object, int32_t attribute, std::string text) {
   const bool isShared =
       classOid == class_oid::pgAuthid || classOid == class_oid::pgDatabase || classOid == class_oid::pgTablespace;
   const ObjectKey key{ObjectKind::Comment, isShared ? invalidOid : working_.database(), classOid, object, attribute};
   if (text.empty()) return remove(key);
   auto comment = std::make_shared<Comment>();
   comment->object = key;
   comment->text = std::move(text);
   put(std::move(comment));
}

void CatalogEditor::removeComments(Oid classOid, Oid object) {
   for (const auto& comment : working_.comments())
      if (comment->object.b == classOid && comment->object.c == object) remove(comment->object);
}

} // namespace ouzel::catalog
