#include "engine/definition/type/user_type.hpp"

#include <algorithm>

#include "catalog/object/statistics.hpp"
#include "common/text/ascii.hpp"
#include "common/thread/stack.hpp"
#include "engine/core/privileges.hpp"
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

NewRelation newType(CommandContext& context, const ::List* name) {
   const catalog::QualifiedName qualified = typeNameOf(reinterpret_cast<const ::Node*>(name));
   ::RangeVar var{};
   var.type = T_RangeVar;
   var.schemaname = qualified.schema.empty() ? nullptr : const_cast<char*>(qualified.schema.c_str());
   var.relname = const_cast<char*>(qualified.name.c_str());
   var.relpersistence = 'p';
   var.location = -1;
   return newRelation(context, var);
}

void requireNewType(SessionCore& core, Oid schema, std::string_view name) {
   const auto existing = core.transaction.catalog().findRelation(schema, name);
   if (existing && existing->rowType && existing->relationKind != catalog::RelationKind::Shell)
      throw SqlError(sqlstate::duplicateObject, "type \"" + std::string(name) + "\" already exists");
}

void requireTypeUsage(SessionCore& core, const SqlType& type) {
   const Oid named = type.named();
   if (named < firstUserOid || core.isServer()) return;
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   const auto made = snapshot.relationOfType(named); // of an array: the type of its elements
   if (!made || !catalog::isUserType(*made)) return;
   if (!catalog::mayUse(snapshot, core.role(), *made, catalog::privilege::usage))
      throw SqlError(sqlstate::insufficientPrivilege,
                     "permission denied for type " + catalog::displayName(snapshot, core.searchPath(), *made));
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

namespace {

bool isLetter(char c) {
   return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || (c & 0x80) != 0;
}

/// Whether what precedes a name, perhaps with its schema, makes it the name of a type: x::name, CAST(x AS s.name).
bool namesType(std::string_view before) {
   while (!before.empty() && (isLetter(before.back()) || before.back() == '.' || before.back() == '"'))
      before.remove_suffix(1);
   const size_t kept = before.find_last_not_of(" \n\t");
   before = before.substr(0, kept == std::string_view::npos ? 0 : kept + 1);
   return before.ends_with("::") || before.ends_with(" as") || before.ends_with("\nas");
}

/// Whether the text may have a field or a type of the name. Both are in lower case.
bool mayName(std::string_view text, std::string_view name, bool isField) {
   for (size_t at = 0; (at = text.find(name, at)) != std::string_view::npos; ++at) {
      const size_t end = at + name.size();
      if (end < text.size() && isLetter(text[end])) continue;
      std::string_view before = text.substr(0, at);
      const bool isQuoted = before.ends_with('"');
      if (isField) {
         if (before.ends_with('.') || (isQuoted && before.ends_with(".\""))) return true;
         continue;
      }
      if (before.ends_with('_')) before.remove_suffix(1); // "_t" is the name of t[]
      if (!before.empty() && isLetter(before.back())) continue;
      const size_t next = text.find_first_not_of("\" \n\t", end);
      if (namesType(before)) return true;
      if (next != std::string_view::npos && (text[next] == '\'' || text[next] == '('))
         return true; // t 'x', range(a, b)
   }
   return false;
}

} // namespace

void requireNotInTexts(SessionCore& core, std::string_view name, bool isField, std::string_view feature) {
   const std::string word = lowerCase(name);
   const auto refuse = [&](const std::string& text, const catalog::Relation& relation) {
      if (!text.empty() && mayName(lowerCase(text), word, isField))
         throw SqlError(sqlstate::featureNotSupported,
                        std::string(feature) + " that \"" + relation.name + "\" may use is not supported");
   };
   for (const catalog::RelationPtr& relation : core.transaction.catalog().relations()) {
      refuse(relation->definition, *relation);
      for (const catalog::Constraint& constraint : relation->constraints)
         refuse(constraint.expression, *relation);
      for (const catalog::Column& column : relation->columns)
         refuse(column.defaultExpr, *relation);
      if (relation->index) {
         refuse(relation->index->predicate, *relation);
         for (const std::string& expression : relation->index->expressions)
            refuse(expression, *relation);
      }
      if (relation->partitionKey)
         for (const std::string& expression : relation->partitionKey->expressions)
            refuse(expression, *relation);
      for (const catalog::Policy& policy : relation->policies) {
         refuse(policy.usingExpr, *relation);
         refuse(policy.checkExpr, *relation);
      }
   }
   for (const catalog::StatisticsPtr& statistics : core.transaction.catalog().allStatistics())
      for (const std::string& expression : statistics->expressions)
         refuse(expression, *core.transaction.catalog().relation(statistics->table));
}

void refreshRowValues(SessionCore& core, Oid relation) {
   const auto changed = core.transaction.catalog().relation(relation);
   for (const catalog::RelationPtr& other : core.transaction.catalog().relations()) {
      if (other->storage == catalog::noStorage) continue;
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
   std::vector<std::string> names;
   for (const ::Node* object : ListOf<>(statement.objects)) {
      if (const auto relation = findUserType(context, object)) {
         if (statement.removeType == OBJECT_DOMAIN && relation->relationKind != catalog::RelationKind::Domain)
            throw SqlError(sqlstate::wrongObjectType, "\"" + typeNameOf(object).text() + "\" is not a domain");
         requireDroppable(core, *relation);
         core.transaction.lock(relation->oid, LockMode::AccessExclusive);
         names.push_back(relation->name);
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
   const catalog::Dropped dropped = core.transaction.editor().dropRelations(types, behavior);
   for (const std::string& name : names) // what has fallen with the types needs them no longer
      requireNotInTexts(core, name, false, "dropping a type");
   announceAndFree(core, dropped);
   return true;
}

} // namespace ouzel::engine
