#include "engine/command/rewrite_rows.hpp"

#include "engine/command/command.hpp"
#include "engine/constraint/unique_keys.hpp"
#include "engine/query/query_execution.hpp"
#include "sql/algebra/build.hpp"

namespace ouzel::engine {

namespace {

/// A column above the query's root that holds `column` as an assignment to `target` casts it.
sql::ColumnId assigned(SessionCore& core, sql::BoundQuery& query, sql::ColumnId column, const catalog::Column& target) {
   const catalog::SearchPath path = core.searchPath();
   std::vector<sql::ComputedColumn> computed(1);
   try {
      computed[0].expr = sql::castForAssignment(sql::makeColumn(column, query.columns[column].type), target.type,
                                                target.name, core.bindContext(path, nullptr));
   } catch (const SqlError& error) {
      if (error.state() != sqlstate::datatypeMismatch) throw;
      throw SqlError(sqlstate::datatypeMismatch, "result of USING clause for column \"" + target.name +
                                                     "\" cannot be cast automatically to type " +
                                                     formatType({target.type.oid, -1, invalidOid}))
          .hint("You might need to add an explicit cast.");
   }
   sql::ColumnInfo info;
   info.name = target.name;
   info.type = target.type;
   info.repr = storedRepresentation(target.type);
   computed[0].column = query.columns.add(std::move(info));
   const sql::ColumnId result = computed[0].column;
   query.root = sql::makeMap(std::move(query.root), std::move(computed));
   return result;
}

} // namespace

void rewriteRows(SessionCore& core, Oid table, catalog::Relation changed, int16_t attribute, const std::string& value) {
   catalog::CatalogEditor& editor = core.transaction.editor();
   const auto relation = editor.snapshot().relation(table);
   // The query reads no column by its new type, and no new column.
   std::string select;
   std::vector<storage::ColumnDefinition> columns;
   auto dml = std::make_unique<sql::Dml>();
   for (const catalog::Column& target : changed.columns) {
      columns.push_back(storage::ColumnDefinition::of(target.type));
      if (target.isDropped) continue;
      select += (select.empty() ? "" : ", ") +
                (target.attribute == attribute ? value : catalog::quoteIdentifier(target.name));
   }
   const catalog::SearchPath path = core.searchPath();
   const std::string sqlText = "SELECT " + select + " FROM " + quotedTable(editor.snapshot(), *relation);
   const auto script = sql::ParsedScript::parse(sqlText);
   // PostgreSQL gives no positions here.
   sql::BoundQuery query = sql::bindQuery(*script.statements()[0].node, core.bindContext(path, nullptr));
   uint32_t next = 0;
   for (const catalog::Column& target : changed.columns) {
      if (target.isDropped) continue;
      sql::ColumnId column = query.output[next++].column;
      if (target.attribute == attribute) column = assigned(core, query, column, target);
      dml->target.push_back({column, target.attribute});
   }
   const auto fresh = core.database.storage->createTable(core.transaction.storage(), std::move(columns));
   dml->table.storageId = static_cast<uint64_t>(fresh->id());
   dml->table.relation = table;
   dml->table.name = relation->name;
   query.root = sql::makeRel(sql::RelKind::Insert, sql::op::Write{std::move(dml)}, std::move(query.root));
   query.output.clear();
   query.kind = sql::StatementKind::Insert;
   query.readOnly = false;
   QueryExecution execution(core, std::move(query));
   execution.run(0, nullptr);
   core.database.storage->dropTable(core.transaction.storage(), relation->storage);
   changed.storage = fresh->id();
   editor.replaceRelation(std::move(changed));
   if (hasUniqueKeys(editor.snapshot(), table)) checkUniqueKeysOfTable(core, table);
}

} // namespace ouzel::engine
