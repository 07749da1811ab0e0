#include "sql/bind/type/callee.hpp"

#include "catalog/object/function_text.hpp"
#include "catalog/object/range_constructors.hpp"
#include "sql/bind/type/qualified_name.hpp"

// The name of a call. Stored texts name functions of users by their OIDs.

namespace ouzel::sql {

using catalog::builtins;
using catalog::FunctionInfo;

namespace {

/// The range type or multirange type of a user that the name of a call means; null: there is none.
catalog::RelationPtr rangeTypeNamed(BindState& state, const ListOf<>& path) {
   catalog::QualifiedName name = catalog::QualifiedName::of(std::string(stringOf(path.back())));
   if (path.size() > 1) name.schema = stringOf(path[path.size() - 2]);
   if (path.size() == 1 && !builtins().functions(name.name).empty()) return nullptr;
   auto found = catalog::findNamedType(state.context.catalog, state.path(), name);
   return found && found->range ? found : nullptr;
}

/// Rewrites call these, with argument types that no lookup by name would give them.
bool isHidden(std::string_view name, bool isQualified, Clause clause) {
   if (!name.starts_with("ouzel_")) return false;
   const bool isBoundKey = clause == Clause::PartitionKey && isQualified && // as TableParts has it
                           (name == "ouzel_collation_key" || name == "ouzel_collation_keys");
   return name != "ouzel_version" && name != "ouzel_current_row" && name != "ouzel_domain" && !isBoundKey;
}

} // namespace

std::vector<const FunctionInfo*> functionsCalled(const catalog::Snapshot& catalog, const catalog::SearchPath& path,
                                                 const ::List* name) {
   const ListOf<> parts(name);
   const std::string_view last = stringOf(parts.back());
   if (const auto stored = parts.size() == 1 ? catalog::functionOfStoredName(last) : std::nullopt) {
      const FunctionInfo* function = catalog::functionInfo(catalog, *stored);
      return function ? std::vector{function} : std::vector<const FunctionInfo*>();
   }
   catalog::QualifiedName qualified = catalog::QualifiedName::of(std::string(last));
   if (parts.size() > 1) qualified.schema = stringOf(parts[parts.size() - 2]);
   return catalog::functionsNamed(catalog, path, qualified);
}

Callee calleeOf(BindState& state, const ::FuncCall& call, Clause clause) {
   const uint32_t position = state.at(call.location);
   const ListOf<> parts(call.funcname);
   Callee callee;
   callee.name = stringOf(parts.back());
   callee.isQualified = parts.size() > 1;
   for (const ::Node* part : parts)
      callee.shownName += (callee.shownName.empty() ? "" : ".") + std::string(stringOf(part));
   requireOwnDatabase(parts, state.context.catalog, position);
   if (callee.isQualified) {
      const std::string schema(stringOf(parts[parts.size() - 2]));
      const bool isAlias = schema == "pg_temp" && state.path().temporary != invalidOid;
      if (!isAlias && !state.context.catalog.findSchema(schema))
         throw SqlError(sqlstate::undefinedSchema, "schema \"" + schema + "\" does not exist").at(position);
   }
   if (isHidden(callee.name, callee.isQualified, clause)) return callee;
   callee.functions = functionsCalled(state.context.catalog, state.path(), call.funcname);
   callee.extensionType = extensionTypeNamed(state.context.catalog, state.path(), parts);
   callee.rangeType = rangeTypeNamed(state, parts);
   if (callee.rangeType) {
      const auto constructors = catalog::rangeConstructors(*callee.rangeType);
      callee.functions.insert(callee.functions.begin(), constructors.begin(), constructors.end());
   }
   return callee;
}

} // namespace ouzel::sql
