#include "engine/relation/query_rows.hpp"

#include "engine/definition/type/user_type.hpp"
#include "sql/algebra/build.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using sql::ListOf;
using sql::stringOf;

std::vector<catalog::Column> columnsFor(SessionCore& core, const sql::BoundQuery& query, const ::List* list) {
   const ListOf<> names(list);
   if (names.size() > query.output.size())
      throw SqlError(sqlstate::syntaxError, "too many column names were specified");
   std::vector<catalog::Column> columns;
   for (uint32_t i = 0; i < query.output.size(); ++i) {
      catalog::Column column;
      column.name = i < names.size() ? std::string(stringOf(names[i])) : query.output[i].name;
      column.attribute = static_cast<int16_t>(i + 1);
      column.type = query.output[i].type;
      if (column.type.collation == sql::conflictingCollation)
         throw SqlError(sqlstate::indeterminateCollation, "no collation was derived for column \"" + column.name +
                                                              "\" with collatable type " + formatType(column.type))
             .hint("Use the COLLATE clause to set the collation explicitly.");
      for (const catalog::Column& other : columns)
         if (other.name == column.name)
            throw SqlError(sqlstate::duplicateColumn, "column \"" + column.name + "\" specified more than once");
      if (const auto* info = catalog::builtins().type(column.type.oid); info && info->isPseudo())
         throw SqlError(sqlstate::invalidTableDefinition,
                        "column \"" + column.name + "\" has pseudo-type " + formatType(column.type));
      requireTypeUsage(core, column.type);
      columns.push_back(std::move(column));
   }
   return columns;
}

uint64_t storeRows(SessionCore& core, sql::BoundQuery query, const catalog::Relation& target,
                   const ExecutionWatch& watch) {
   auto dml = std::make_unique<sql::Dml>();
   for (uint32_t i = 0; i < query.output.size(); ++i)
      dml->target.push_back({query.output[i].column, static_cast<int16_t>(i + 1)});
   dml->table.storageId = static_cast<uint64_t>(target.storage);
   dml->table.name = target.name;
   dml->table.relation = target.oid;
   query.root = sql::makeRel(sql::RelKind::Insert, sql::op::Write{std::move(dml)}, std::move(query.root));
   query.output.clear();
   query.kind = sql::StatementKind::Insert;
   query.readOnly = false;
   QueryExecution execution(core, std::move(query), watch != nullptr);
   if (watch) watch(execution, false);
   execution.run(0, nullptr);
   if (watch) watch(execution, true);
   return execution.rowCount();
}

} // namespace ouzel::engine
