#include "engine/session/describe.hpp"

#include "engine/command/command.hpp"
#include "engine/program/call.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using sql::as;
using sql::isNode;

StatementDescription describeStatement(SessionCore& core, const sql::ParsedScript& script,
                                       const sql::ParsedStatement& statement, std::span<const Oid> parameterTypes) {
   StatementDescription description;
   const ::Node* node = statement.node;
   const bool isExplain = isNode(node, T_ExplainStmt);
   const ::Node* query = isExplain ? as<::ExplainStmt>(node)->query : node;
   std::optional<CallQuery> call;
   if (isNode(node, T_CallStmt)) query = &call.emplace(core, *as<::CallStmt>(node)).node();
   if (isNode(query, T_CreateTableAsStmt)) query = as<::CreateTableAsStmt>(query)->query;
   if (isNode(query, T_DeclareCursorStmt)) query = as<::DeclareCursorStmt>(query)->query;
   description.parameterTypes.assign(parameterTypes.begin(), parameterTypes.end());
   description.shownParameterTypes = description.parameterTypes;
   if (sql::isBindable(*query)) {
      core.transaction.startStatement();
      const catalog::SearchPath path = core.searchPath();
      sql::BindContext context = core.bindContext(path, &script.source());
      context.parameterTypes = parameterTypes;
      context.calledProcedure = core.calledProcedure;
      const sql::BoundQuery bound = sql::bindQuery(*query, context);
      description.parameterTypes.clear();
      description.shownParameterTypes.clear();
      for (const SqlType& type : bound.parameters) {
         description.parameterTypes.push_back(type.oid);
         description.shownParameterTypes.push_back(type.named());
      }
      const bool isVoid = call && bound.output.size() == 1 && bound.output[0].type.oid == oid::voidType;
      if ((query == node || call) && !isVoid && (bound.kind == sql::StatementKind::Select || !bound.output.empty())) {
         description.returnsRows = true;
         for (const sql::OutputColumn& column : bound.output)
            description.columns.push_back(
                {column.name, column.type, storedRepresentation(column.type), column.tableOid, column.attribute});
      }
   }
   if (isExplain) {
      description.returnsRows = true;
      description.columns = explainColumns(*as<::ExplainStmt>(node));
   } else if (isNode(node, T_VariableShowStmt)) {
      description.returnsRows = true;
      description.columns = showColumns(*as<::VariableShowStmt>(node));
   }
   return description;
}

} // namespace ouzel::engine
