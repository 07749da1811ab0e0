#include "engine/core/privileges.hpp"
#include "engine/definition/new_relation.hpp"
#include "engine/query/query_execution.hpp"
#include "engine/query/statement_runner.hpp"
#include "engine/relation/query_rows.hpp"
#include "engine/relation/relation.hpp"
#include "engine/setting/relation_options.hpp"
#include "sql/parse/node_access.hpp"

// CREATE TABLE AS and SELECT INTO.

namespace ouzel::engine {

bool skipsCreation(CommandContext& context, const ::CreateTableAsStmt& statement) {
   const NewRelation target = newRelation(context, *statement.into->rel);
   if (skipsExisting(context, target, statement.if_not_exists)) return true;
   requireAbsent(target);
   return false;
}

std::string createTableAs(CommandContext& context, const ::CreateTableAsStmt& statement, const ExecutionWatch& watch) {
   const bool isView = statement.objtype == OBJECT_MATVIEW;
   requireWritable(context.core, isView ? "CREATE MATERIALIZED VIEW" : "CREATE TABLE AS");
   refuseInto(context.script, *statement.query);
   if (isView) return createMaterializedView(context, statement, watch);
   const catalog::SearchPath path = context.core.searchPath();
   sql::BindContext bind = context.core.bindContext(path, &context.source());
   const std::vector<Oid> types = parameterTypes(context.parameters);
   bind.parameterTypes = types;
   bind.variables = context.core.program.variables;
   sql::BoundQuery query = sql::bindQuery(*statement.query, bind);
   requireAccess(context.core, query.access);
   substituteParameters(query, context.parameters);
   const NewRelation target = newRelation(context, *statement.into->rel);
   const char onCommit = onCommitAction(statement.into->onCommit, target);
   if (skipsExisting(context, target, statement.if_not_exists)) return "CREATE TABLE AS";
   requireAbsent(target);
   requireTableMethod(statement.into->accessMethod);
   if (!query.readOnly) throwNotSupported("INSERT, UPDATE or DELETE in WITH under CREATE TABLE AS");
   catalog::Relation draft;
   draft.name = target.name.name;
   draft.schema = target.schema;
   draft.database = context.core.transaction.catalog().database();
   draft.persistence = target.persistence();
   draft.onCommit = onCommit;
   draft.options = checkedOptions(OptionOwner::Table, statement.into->options);
   draft.columns = columnsFor(context.core, query, statement.into->colNames);
   makeStorage(context.core, draft);
   const Oid table = context.core.transaction.editor().createRelation(std::move(draft));
   if (statement.into->skipData) return "CREATE TABLE AS";
   requirePopulated(context.core, query.relations);
   const auto made = context.core.transaction.catalog().relation(table);
   return "SELECT " + std::to_string(storeRows(context.core, std::move(query), *made, watch));
}

} // namespace ouzel::engine
