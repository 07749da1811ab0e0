#include "catalog/editor/editor.hpp"

#include <algorithm>
#include <set>

#include "catalog/object/cast.hpp"
#include "catalog/object/collation.hpp"
#include "catalog/object/collation_text.hpp"
#include "catalog/object/comments.hpp"
#include "catalog/object/function_text.hpp"
#include "catalog/object/operator.hpp"
#include "catalog/object/prepared_transaction.hpp"
#include "catalog/object/privilege/default_acl.hpp"
#include "catalog/object/statistics.hpp"
#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::catalog {

namespace {

constexpr std::string_view temporaryPrefix = "pg_temp_";

bool startsWith(std::string_view text, std::string_view prefix) {
   return text.substr(0, prefix.size()) == prefix;
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

std::vector<Change> CatalogEditor::changedSince(const Savepoint& before) const {
   std::set<ObjectKey> keys;
   for (const auto* entries : {&before.entries, &entries_})
      for (const auto& [key, entry] : *entries)
         keys.insert(key);
   std::vector<Change> result;
   for (const ObjectKey& key : keys) {
      ObjectPtr was = before.working.object(key), is = working_.object(key);
      if (was != is) result.push_back({key, std::move(was), std::move(is)});
   }
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
   if (object.kind == ObjectKind::Function) return isTemporary(static_cast<const Function&>(object));
   if (object.kind == ObjectKind::Operator) {
      const auto& op = static_cast<const Operator&>(object);
      const SchemaPtr schema = working_.schema(op.schema);
      return (schema && isTemporary(*schema)) || isOfSession(op.left) || isOfSession(op.right) ||
             isOfSession(op.result);
   }
   if (object.kind == ObjectKind::Cast) {
      const auto& cast = static_cast<const Cast&>(object);
      return isOfSession(cast.source) || isOfSession(cast.target);
   }
   if (object.kind == ObjectKind::Comment) {
      const ObjectKey& key = static_cast<const Comment&>(object).object;
      if (const FunctionPtr function = key.b == class_oid::pgProc ? working_.function(key.c) : nullptr)
         return isTemporary(*function);
      if (const OperatorPtr op = key.b == class_oid::pgOperator ? working_.op(key.c) : nullptr) return isTemporary(*op);
      if (const CastPtr cast = key.b == class_oid::pgCast ? working_.cast(key.c) : nullptr) return isTemporary(*cast);
      if (const StatisticsPtr statistics = key.b == class_oid::pgStatisticExt ? working_.statistics(key.c) : nullptr)
         return isTemporary(*statistics);
      const RelationPtr relation = key.b == class_oid::pgClass ? working_.relation(key.c) : nullptr;
      return relation && relation->persistence == Persistence::Temporary;
   }
   return false;
}

bool CatalogEditor::isOfSession(const SqlType& type) const {
   const RelationPtr relation = type.named() < firstUserOid ? nullptr : working_.relationOfType(type.named());
   return relation && relation->persistence == Persistence::Temporary;
}

bool CatalogEditor::isTemporary(const Function& function) const {
   const SchemaPtr schema = working_.schema(function.schema);
   return (schema && startsWith(schema->name, temporaryPrefix)) || isOfSession(function.returnType) ||
          std::any_of(function.parameters.begin(), function.parameters.end(),
                      [&](const FunctionParameter& parameter) { return isOfSession(parameter.type); });
}

void CatalogEditor::put(ObjectPtr after) {
   const bool temporary = isTemporary(*after);
   const ObjectKey key = keyOf(*after);
   if (!temporary) requireLasting(*after);
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

void CatalogEditor::requireLasting(const CatalogObject& object) const {
   const auto refuse = [] { throwNotSupported("a permanent object that needs a temporary one"); };
   const auto requireCalls = [&](const std::string& text) {
      forEachCall(text, [&](Oid called) {
         if (const FunctionPtr function = working_.function(called); function && isTemporary(*function)) refuse();
         if (const OperatorPtr op = working_.op(called); op && isTemporary(*op)) refuse();
      });
   };
   if (object.kind == ObjectKind::Function) {
      const auto& function = static_cast<const Function&>(object);
      for (const FunctionParameter& parameter : function.parameters)
         requireCalls(parameter.defaultExpr);
      if (function.aggregate)
         for (const Oid used : function.aggregate->functions())
            if (const FunctionPtr own = working_.function(used); own && isTemporary(*own)) refuse();
   }
   const auto requireFunction = [&](Oid used) {
      if (const FunctionPtr own = working_.function(used); own && isTemporary(*own)) refuse();
   };
   if (object.kind == ObjectKind::Operator) requireFunction(static_cast<const Operator&>(object).function);
   if (object.kind == ObjectKind::Cast) requireFunction(static_cast<const Cast&>(object).function);
   if (object.kind == ObjectKind::Statistics)
      for (const std::string& expression : static_cast<const Statistics&>(object).expressions)
         requireCalls(expression);
   if (object.kind != ObjectKind::Relation) return;
   const auto& relation = static_cast<const Relation&>(object);
   const auto require = [&](Oid needed) {
      const RelationPtr found = needed == invalidOid ? nullptr : working_.relation(needed);
      if (found && found->persistence == Persistence::Temporary) refuse();
   };
   forEachText(relation, requireCalls);
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
