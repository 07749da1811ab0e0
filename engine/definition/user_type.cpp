#include "engine/definition/user_type.hpp"

#include <algorithm>

#include "common/thread/stack.hpp"
#include "engine/definition/change_system_object.hpp"
#include "engine/definition/rewrite_rows.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::stringOf;

catalog::QualifiedName typeNameOf(const ::Node* name) {
   const ::List* names = isNode(name, T_TypeName) ? as<::TypeName>(name)->names : as<::List>(name);
   std::vector<std::string> parts;
   for (const ::Node* part : ListOf<>(names))
      parts.emplace_back(stringOf(part));
   return catalog::toQualifiedName(std::move(parts));
}

catalog::RelationPtr findUserType(CommandContext& context, const ::Node* name) {
   SessionCore& core = context.core;
   if (isNode(name, T_TypeName) && as<::TypeName>(name)->arrayBounds) return nullptr;
   auto found = catalog::findNamedType(core.transaction.catalog(), core.searchPath(), typeNameOf(name));
   const bool isType = found && (found->relationKind == catalog::RelationKind::Composite || found->isOnlyType());
   return isType ? found : nullptr;
}

void requireNewType(SessionCore& core, Oid schema, std::string_view name) {
   const auto existing = core.transaction.catalog().findRelation(schema, name);
   if (existing && existing->rowType)
      throw SqlError(sqlstate::duplicateObject, "type \"" + std::string(name) + "\" already exists");
}

bool isMadeOf(const catalog::Snapshot& snapshot, const SqlType& type, const catalog::Relation& relation) {
   checkStack();
   const auto names = [&](Oid one) { return one && (one & ~userArrayBit) == relation.rowType; };
   if (names(type.domain) || names(type.oid)) return true;
   for (const Oid part : {type.domain, type.oid}) {
      if (part < firstUserOid) continue;
      const auto made = snapshot.relationOfType(part);
      if (!made || made->isBuiltin()) continue;
      if (std::any_of(made->columns.begin(), made->columns.end(), [&](const catalog::Column& column) {
             return !column.isDropped && isMadeOf(snapshot, column.type, relation);
          }))
         return true;
   }
   return false;
}

void requireNoCycle(SessionCore& core, const catalog::Relation& relation, const SqlType& type) {
   if (isMadeOf(core.transaction.catalog(), type, relation))
      throw SqlError(sqlstate::invalidTableDefinition,
                     "composite type " + relation.name + " cannot be made a member of itself");
}

void refreshRowValues(SessionCore& core, Oid relation) {
   const auto changed = core.transaction.catalog().relation(relation);
   for (const catalog::RelationPtr& other : core.transaction.catalog().relations()) {
      if (other->relationKind != catalog::RelationKind::Table) continue;
      std::vector<NewValue> values;
      for (const catalog::Column& column : other->columns)
         if (!column.isDropped && isMadeOf(core.transaction.catalog(), withoutDomain(column.type), *changed))
            values.push_back({column.attribute, "ouzel_current_row(" + catalog::quoteIdentifier(column.name) + ")"});
      if (values.empty()) continue;
      core.transaction.lock(other->oid, LockMode::AccessExclusive);
      requireNotInUse(core, *other, "ALTER TYPE");
      core.transaction.storage().nextCommand();
      RowRewrite(core, *other, std::move(values)).run(*other);
   }
}

bool dropUserTypes(CommandContext& context, const ::DropStmt& statement) {
   SessionCore& core = context.core;
   std::vector<Oid> types;
   for (const ::Node* object : ListOf<>(statement.objects)) {
      if (const auto relation = findUserType(context, object)) {
         if (statement.removeType == OBJECT_DOMAIN && relation->relationKind != catalog::RelationKind::Domain)
            throw SqlError(sqlstate::wrongObjectType, "\"" + relation->name + "\" is not a domain");
         core.transaction.lock(relation->oid, LockMode::AccessExclusive);
         types.push_back(relation->oid);
         continue;
      }
      const SystemObject other = findSystemObject(core, statement.removeType, object);
      if (!other.missing) return false;
      if (!statement.missing_ok) throw SqlError(*other.missing);
      core.notice(other.skipped + ", skipping");
   }
   if (types.empty()) return true;
   const auto behavior =
       statement.behavior == DROP_CASCADE ? catalog::DropBehavior::Cascade : catalog::DropBehavior::Restrict;
   announceAndFree(core, core.transaction.editor().dropRelations(types, behavior));
   return true;
}

} // namespace ouzel::engine
