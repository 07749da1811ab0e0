#include "engine/statement_runner.hpp"

#include "engine/command/command.hpp"
#include "engine/unique_keys.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using sql::as;
using sql::isNode;

namespace {

/// One attempt to bind; the caller repeats it when an object changed while it waited for locks.
sql::BoundQuery bindUnderLocks(SessionCore& core, const sql::ParsedScript& script, const ::Node& node,
                               std::span<const BoundParameter> parameters) {
   const std::vector<Oid> types = parameterTypes(parameters);
   for (int attempt = 0;; ++attempt) {
      const catalog::SearchPath path = core.searchPath();
      sql::BindContext context = core.bindContext(path, &script.source());
      context.parameterTypes = types;
      context.allowParameters = !types.empty();
      sql::BoundQuery query = sql::bindQuery(node, context);
      const catalog::Snapshot bound = core.transaction.catalog();
      const Oid target = query.root->dml ? query.root->dml->table.relation : invalidOid;
      for (const Oid relation : query.relations) {
         LockMode mode = LockMode::AccessShare;
         if (relation == target) mode = lockForWriting(bound, *query.root);
         core.transaction.lock(relation, mode);
      }
      // Rows committed while this statement waited belong to its snapshot under READ COMMITTED.
      core.transaction.startStatement();
      bool moved = false;
      for (const Oid relation : query.relations)
         moved = moved || bound.relation(relation) != core.transaction.catalog().relation(relation);
      if (!moved || attempt == 10) return query;
   }
}

} // namespace

bool isQuery(const sql::ParsedStatement& statement) {
   return sql::isBindable(*statement.node);
}

bool isTransactionControl(const sql::ParsedStatement& statement) {
   return isNode(statement.node, T_TransactionStmt);
}

void requireUsableTransaction(const SessionCore& core, const sql::ParsedStatement& statement) {
   if (!core.transaction.hasFailed()) return;
   if (isTransactionControl(statement)) {
      const auto kind = as<::TransactionStmt>(statement.node)->kind;
      if (kind == TRANS_STMT_COMMIT || kind == TRANS_STMT_ROLLBACK || kind == TRANS_STMT_ROLLBACK_TO) return;
   }
   throw SqlError(sqlstate::inFailedSqlTransaction,
                  "current transaction is aborted, commands ignored until end of transaction block");
}

StatementDescription describeStatement(SessionCore& core, const sql::ParsedScript& script,
                                       const sql::ParsedStatement& statement, std::span<const Oid> parameterTypes) {
   StatementDescription description;
   const ::Node* node = statement.node;
   const bool isExplain = isNode(node, T_ExplainStmt);
   const ::Node* query = isExplain ? as<::ExplainStmt>(node)->query : node;
   if (isNode(query, T_CreateTableAsStmt)) query = as<::CreateTableAsStmt>(query)->query;
   if (isNode(query, T_DeclareCursorStmt)) query = as<::DeclareCursorStmt>(query)->query;
   description.parameterTypes.assign(parameterTypes.begin(), parameterTypes.end());
   if (sql::isBindable(*query)) {
      core.transaction.startStatement();
      const catalog::SearchPath path = core.searchPath();
      sql::BindContext context = core.bindContext(path, &script.source());
      context.parameterTypes = parameterTypes;
      const sql::BoundQuery bound = sql::bindQuery(*query, context);
      description.parameterTypes.clear();
      for (const SqlType& type : bound.parameters)
         description.parameterTypes.push_back(type.oid);
      if (query == node && (bound.readOnly || !bound.output.empty())) {
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

std::unique_ptr<QueryExecution> startQuery(SessionCore& core, const sql::ParsedScript& script, const ::Node& node,
                                           std::span<const BoundParameter> parameters) {
   sql::BoundQuery query = bindUnderLocks(core, script, node, parameters);
   substituteParameters(query, parameters);
   if (query.readOnly) sql::padOutput(query);
   if (!query.readOnly) {
      const char* command = query.root->kind == sql::RelKind::Insert   ? "INSERT"
                            : query.root->kind == sql::RelKind::Update ? "UPDATE"
                                                                       : "DELETE";
      requireWritable(core, command);
   }
   return std::make_unique<QueryExecution>(core, std::move(query));
}

void finishQuery(SessionCore& core, const QueryExecution& execution) {
   if (execution.target() == invalidOid) return;
   if (execution.rowCount() > 0 && execution.isInserting())
      checkUniqueKeys(core, execution.target(), execution.command(), execution.assigned());
   core.transaction.storage().nextCommand();
}

} // namespace ouzel::engine
