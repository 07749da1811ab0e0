#pragma once
#include <string>
#include <vector>

#include "engine/query/command_context.hpp"
#include "engine/query/statement_runner.hpp"

// Utility statements: all statements that are neither queries nor define objects (engine/definition). One function for
// each kind of statement; it returns the command tag.

struct ConstraintsSetStmt;
struct CopyStmt;
struct CreateTableAsStmt;
struct DefElem;
struct ExplainStmt;
struct ListenStmt;
struct LoadStmt;
struct LockStmt;
struct NotifyStmt;
struct TransactionStmt;
struct UnlistenStmt;
struct VacuumStmt;
struct VariableSetStmt;
struct VariableShowStmt;

namespace ouzel::engine {

// variable.cpp: SET, RESET, SHOW
/// SET ROLE and SET SESSION AUTHORIZATION, which look roles up.
bool setsRole(const ::VariableSetStmt& statement);
std::string setVariable(CommandContext& context, const ::VariableSetStmt& statement);
std::string showVariable(CommandContext& context, const ::VariableShowStmt& statement);
std::vector<ResultColumn> showColumns(const ::VariableShowStmt& statement);
// variable.cpp also: BEGIN, COMMIT, ROLLBACK, SAVEPOINT
std::string transactionControl(CommandContext& context, const ::TransactionStmt& statement);
// prepared_transaction.cpp
std::string prepareTransaction(CommandContext& context, const ::TransactionStmt& statement);
std::string finishPrepared(CommandContext& context, const ::TransactionStmt& statement);
// set_constraints.cpp
std::string setConstraints(CommandContext& context, const ::ConstraintsSetStmt& statement);
// explain.cpp
/// Makes the relations of CREATE TABLE AS, whose plans are EXPLAIN's, too.
struct RelationMaker {
   /// Whether IF NOT EXISTS lets the statement do nothing. Throws 42P07 if the relation exists otherwise.
   bool (*skips)(CommandContext& context, const ::CreateTableAsStmt& statement);
   std::string (*create)(CommandContext& context, const ::CreateTableAsStmt& statement, const ExecutionWatch& watch);
};
std::string explain(CommandContext& context, const ::ExplainStmt& statement, const RelationMaker& relations);
std::vector<ResultColumn> explainColumns(const ::ExplainStmt& statement);
// copy.cpp
std::string copy(CommandContext& context, const ::CopyStmt& statement);
// lock_table.cpp
std::string lockTables(CommandContext& context, const ::LockStmt& statement);
// notify.cpp
std::string listen(CommandContext& context, const ::ListenStmt& statement);
std::string notify(CommandContext& context, const ::NotifyStmt& statement);
std::string unlisten(CommandContext& context, const ::UnlistenStmt& statement);
// maintenance.cpp: VACUUM, ANALYZE, CHECKPOINT, LOAD
std::string vacuum(CommandContext& context, const ::VacuumStmt& statement);
std::string checkpoint(CommandContext& context);
/// LOAD of a library of an extension that there is; it does nothing.
std::string load(CommandContext& context, const ::LoadStmt& statement);

/// Rows of text for the client: SHOW, EXPLAIN. Each row has one field per column.
void emitTextRows(ResultSink& sink, const std::vector<ResultColumn>& columns,
                  const std::vector<std::vector<std::string>>& rows);
ResultColumn textColumn(std::string name);
/// The value of an option in parentheses; without one it is true. Throws 42601.
bool booleanOption(const ::DefElem& option);

} // namespace ouzel::engine
