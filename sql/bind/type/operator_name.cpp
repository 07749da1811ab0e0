#include "sql/bind/type/operator_name.hpp"

#include "catalog/object/function_text.hpp"
#include "sql/bind/state/view_text.hpp"
#include "sql/bind/type/overload_resolution.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::sql {

std::string operatorName(const BindState& state, const ::List* name, uint32_t position) {
   const ListOf<> parts(name);
   std::string symbol(stringOf(parts.back()));
   if (parts.size() == 1) return symbol;
   const std::string schema(stringOf(parts[parts.size() - 2]));
   const bool isOnlyOfUsers = withUserOperators() && catalog::builtins().operators(symbol).empty();
   if (schema == "pg_catalog" && !isOnlyOfUsers) return symbol;
   if (catalog::functionOfStoredName(schema)) return schema + "." + symbol;
   catalog::requireSchema(state.context.catalog, state.context.searchPath, schema, position);
   return schema + "." + symbol;
}

void recordOperator(const BindState& state, const ::List* name, int32_t location, Oid left, Oid right) {
   if (!state.recorder || !state.source || location < 0 || !withUserOperators()) return;
   const std::string symbol(stringOf(ListOf<>(name).back()));
   const auto found = resolveOperator(operatorName(state, name, 0), left, right);
   if (found.outcome != Resolution::Found || found.op->oid < firstUserOid) return;
   const std::string_view text = state.source->text();
   const auto begin = static_cast<uint32_t>(location);
   const bool isPlain = ListOf<>(name).size() == 1 && text.substr(begin, symbol.size()) == symbol;
   const size_t end = isPlain ? begin + symbol.size() : text.find(')', begin) + 1;
   state.recorder->replace(begin, static_cast<uint32_t>(end - begin),
                           "OPERATOR(" + catalog::storedFunctionName(found.op->oid) + "." + symbol + ")");
}

} // namespace ouzel::sql
