#include "sql/bind/type/operator_name.hpp"

#include "sql/parse/node_access.hpp"

namespace ouzel::sql {

std::string operatorName(const BindState& state, const ::List* name, uint32_t position) {
   const ListOf<> parts(name);
   std::string symbol(stringOf(parts.back()));
   if (parts.size() == 1) return symbol;
   const std::string schema(stringOf(parts[parts.size() - 2]));
   if (schema == "pg_catalog") return symbol;
   catalog::requireSchema(state.context.catalog, state.context.searchPath, schema, position);
   return schema + "." + symbol;
}

} // namespace ouzel::sql
