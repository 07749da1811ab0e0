#include "sql/bind/query/view_rows.hpp"

#include <algorithm>

#include "catalog/object/function.hpp"
#include "sql/bind/expression/row.hpp"
#include "sql/bind/query/from.hpp"
#include "sql/bind/state/nested_query.hpp"
#include "sql/bind/state/routine_call.hpp"

// Functions that PostgreSQL makes views of, in FROM: the rows are those of the view.

namespace ouzel::sql {

namespace {

/// Functions without arguments, and the views or queries that give their rows.
constexpr std::pair<std::string_view, std::string_view> rowsOf[] = {
    {"pg_config", "pg_catalog.pg_config"},
    {"pg_cursor", "pg_catalog.pg_cursors"},
    {"pg_get_backend_memory_contexts", "pg_catalog.pg_backend_memory_contexts"},
    {"pg_hba_file_rules", "pg_catalog.pg_hba_file_rules"},
    {"pg_ident_file_mappings", "pg_catalog.pg_ident_file_mappings"},
    {"pg_lock_status", "pg_catalog.pg_locks"},
    {"pg_prepared_statement", "pg_catalog.pg_prepared_statements"},
    {"pg_show_all_settings", "pg_catalog.pg_settings"},
    {"pg_stat_get_archiver", "pg_catalog.pg_stat_archiver"},
    {"pg_stat_get_slru", "pg_catalog.pg_stat_slru"},
    {"pg_stat_get_wal", "pg_catalog.pg_stat_wal"},
    {"pg_timezone_abbrevs", "pg_catalog.pg_timezone_abbrevs"},
    {"pg_timezone_names", "pg_catalog.pg_timezone_names"},
    {"pg_stat_get_backend_idset",
     "(SELECT row_number() OVER (ORDER BY backend_start, pid)::int4 AS pg_stat_get_backend_idset "
     "FROM pg_catalog.pg_stat_activity) sessions"},
};

} // namespace

std::optional<FromItem> bindViewRows(BindState& state, Scope& scope, const ::RangeFunction& node) {
   const ListOf<List> functions(node.functions);
   if (functions.size() != 1 || node.ordinality || node.coldeflist) return std::nullopt;
   const ::Node* expression = ListOf<>(functions[0])[0];
   if (!isNode(expression, T_FuncCall)) return std::nullopt;
   const auto& call = *as<FuncCall>(expression);
   if (ListOf<>(call.args).size() > 0) return std::nullopt;
   const ListOf<> parts(call.funcname);
   if (parts.size() > 2) return std::nullopt;
   const catalog::QualifiedName name{{},
                                     parts.size() == 2 ? std::string(stringOf(parts[0])) : std::string(),
                                     std::string(stringOf(parts[parts.size() - 1])),
                                     state.at(call.location)};
   const auto* found =
       std::find_if(std::begin(rowsOf), std::end(rowsOf), [&](const auto& entry) { return entry.first == name.name; });
   if (found == std::end(rowsOf)) return std::nullopt;
   const auto meant = catalog::functionsNamed(state.context.catalog, state.context.searchPath, name);
   if (meant.empty() || meant.front()->oid >= firstUserOid) return std::nullopt;

   noteBuiltin(state, *meant.front());
   const ParsedScript script = ParsedScript::parse("SELECT * FROM " + std::string(found->second));
   const SourceText* const source = std::exchange(state.source, nullptr);
   auto* const recorder = std::exchange(state.recorder, nullptr);
   BoundRel query = bindSelect(state, *as<SelectStmt>(script.statements().front().node), &scope);
   state.recorder = recorder;
   state.source = source;

   NamespaceItem item;
   item.alias = name.name;
   item.columns = scopeColumns(state, scope, query);
   if (item.columns.size() == 1) {
      item.isScalarFunction = true;
      if (node.alias) item.columns[0].name = node.alias->aliasname;
   }
   applyAlias(item, node.alias);
   FromItem result;
   result.rel = std::move(query.rel);
   result.items.push_back(std::move(item));
   return result;
}

} // namespace ouzel::sql
