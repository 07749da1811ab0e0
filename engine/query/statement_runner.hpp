#pragma once
#include <memory>
#include <span>

#include "engine/core/session_core.hpp"
#include "engine/query/query_execution.hpp"
#include "sql/parse/parser.hpp"

// What one statement is and how it runs, whichever protocol it came by.

namespace ouzel::engine {

/// True when the statement is a query (SELECT, INSERT, ...) rather than a command.
bool isQuery(const sql::ParsedStatement& statement);
/// Throws 25P02 in a failed block, unless the statement is one that ends it.
void requireUsableTransaction(const SessionCore& core, const sql::ParsedStatement& statement);
void requireUsableTransaction(const SessionCore& core);
/// True for BEGIN, COMMIT and their like, which work on the transaction itself.
bool isTransactionControl(const sql::ParsedStatement& statement);

/// Bind a query under locks on what it reads and writes.
sql::BoundQuery bindUnderLocks(SessionCore& core, const sql::ParsedScript& script, const ::Node& query,
                               std::span<const Oid> parameterTypes);
/// The same with parameters replaced by their values.
sql::BoundQuery bindUnderLocks(SessionCore& core, const sql::ParsedScript& script, const ::Node& query,
                               std::span<const BoundParameter> parameters);
/// "INSERT", ...
const char* statementName(sql::StatementKind kind);
/// Bind and plan a query for these values; nothing runs yet.
std::unique_ptr<QueryExecution> planForValues(SessionCore& core, const sql::ParsedScript& script, const ::Node& query,
                                              std::span<const BoundParameter> parameters);
/// Make an execution and let it write. When rows it wants are in another transaction's hands, take back what it did,
/// wait for them and do all of it again: READ COMMITTED sees the rows as they have become, the other levels end with
/// 40001 if they have changed. So it goes for ON CONFLICT with keys that others have committed meanwhile. Nothing has
/// reached the client by then.
std::unique_ptr<QueryExecution> runUntilWritten(SessionCore& core,
                                                const std::function<std::unique_ptr<QueryExecution>()>& make);
/// Bind, plan and start a query; one that writes has done so when it returns, and its rows are ready.
std::unique_ptr<QueryExecution> startQuery(SessionCore& core, const sql::ParsedScript& script, const ::Node& query,
                                           std::span<const BoundParameter> parameters);
/// After the last row of a query that wrote: constraints that need the whole statement.
void finishQuery(SessionCore& core, QueryExecution& execution);

} // namespace ouzel::engine
