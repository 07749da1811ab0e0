#include <algorithm>

#include "catalog/object/snapshot.hpp"
#include "common/text/ascii.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/name_scope.hpp"

// pg_indexam_has_property(), pg_index_has_property() and pg_index_column_has_property(): what the access methods of
// PostgreSQL 15 can do. NULL for a property that there is not, or not at that place.

namespace ouzel::executor {

namespace {

struct AccessMethod {
   Oid oid;
   std::string_view name;
   bool orders, isUnique, hasColumns, excludes,
       includes;                   ///< can_order, can_unique, can_multi_col, can_exclude, can_include
   bool clusters, scans, goesBack; ///< clusterable, index_scan, backward_scan
   bool returns, searchesArrays, searchesNulls;
};
constexpr AccessMethod methods[] = {
    {403, "btree", true, true, true, true, true, true, true, true, true, true, true},
    {405, "hash", false, false, false, true, false, false, true, true, false, false, false},
    {783, "gist", false, false, true, true, true, true, true, false, false, false, true},
    {2742, "gin", false, false, true, false, false, false, false, false, false, false, false},
    {4000, "spgist", false, false, false, true, true, false, true, false, false, false, true},
    {3580, "brin", false, false, true, false, false, false, false, false, false, false, true},
};

const AccessMethod* methodOf(std::string_view name) {
   for (const AccessMethod& method : methods)
      if (method.name == name) return &method;
   return nullptr;
}

std::optional<bool> methodHas(int64_t oid, StringView name) {
   const auto* method = std::ranges::find(methods, static_cast<Oid>(oid), &AccessMethod::oid);
   if (method == std::end(methods)) return std::nullopt;
   const std::string property = lowerCase(name.view());
   if (property == "can_order") return method->orders;
   if (property == "can_unique") return method->isUnique;
   if (property == "can_multi_col") return method->hasColumns;
   if (property == "can_exclude") return method->excludes;
   if (property == "can_include") return method->includes;
   return std::nullopt;
}

std::optional<bool> indexHas(int64_t oid, StringView name, KernelEnv& env) {
   const auto relation = NameScope(env.context).snapshot().relation(static_cast<Oid>(oid));
   const AccessMethod* method = relation && relation->index ? methodOf(relation->index->method) : nullptr;
   if (!method) return std::nullopt;
   const std::string property = lowerCase(name.view());
   if (property == "clusterable") return method->clusters;
   if (property == "index_scan") return method->scans;
   if (property == "bitmap_scan") return true;
   if (property == "backward_scan") return method->goesBack;
   return std::nullopt;
}

std::optional<bool> columnHas(int64_t oid, int32_t column, StringView name, KernelEnv& env) {
   const auto relation = NameScope(env.context).snapshot().relation(static_cast<Oid>(oid));
   const AccessMethod* method = relation && relation->index ? methodOf(relation->index->method) : nullptr;
   if (!method || column < 1) return std::nullopt;
   const catalog::IndexDefinition& index = *relation->index;
   const auto number = static_cast<size_t>(column - 1);
   if (number >= index.columns.size() + index.included.size()) return std::nullopt;
   const bool isKey = number < index.columns.size();
   const uint8_t options = isKey && number < index.options.size() ? index.options[number] : 0;
   const bool descends = (options & 1) != 0, nullsFirst = (options & 2) != 0;
   const auto ofKey = [&](bool value) { return isKey ? std::optional(method->orders && value) : std::nullopt; };
   const std::string property = lowerCase(name.view());
   if (property == "asc") return ofKey(!descends);
   if (property == "desc") return ofKey(descends);
   if (property == "nulls_first") return ofKey(nullsFirst);
   if (property == "nulls_last") return ofKey(!nullsFirst);
   if (property == "orderable") return isKey && method->orders;
   if (property == "distance_orderable") return false;
   if (property == "returnable") return method->returns;
   if (property == "search_array") return isKey ? std::optional(method->searchesArrays) : std::nullopt;
   if (property == "search_nulls") return isKey ? std::optional(method->searchesNulls) : std::nullopt;
   return std::nullopt;
}

} // namespace

void registerIndexProperties() {
   addKernel<methodHas>("pg_indexam_has_property");
   addKernel<indexHas>("pg_index_has_property");
   addKernel<columnHas>("pg_index_column_has_property");
}

} // namespace ouzel::executor
