#pragma once
#include <memory>
#include <span>

#include "engine/core/session_core.hpp"
#include "engine/query/query_execution.hpp"
#include "sql/parse/parser.hpp"

// Kinds of statements, and the way of a query through binder, optimizer and executor, for both protocols.

struct CreateTableAsStmt;
struct IntoClause;
struct SelectStmt;

namespace ouzel::engine {

/// True when the statement is a query (SELECT, INSERT, ...) rather than a command.
bool isQuery(const sql::ParsedStatement& statement);
/// The INTO of SELECT ... INTO, also of one that a set operation begins with; null: there is none.
const ::IntoClause* intoOf(const ::Node& query);
/// Throws 42601 for SELECT ... INTO.
void refuseInto(const sql::ParsedScript& script, const ::Node& query);
/// SELECT ... INTO in the words of CREATE TABLE AS. Refers to the statement.
class SelectInto {
public:
   static bool is(const ::Node& statement);
   explicit SelectInto(const ::Node& statement);
   SelectInto(const SelectInto&) = delete;
   ~SelectInto();
   const ::CreateTableAsStmt& statement() const { return *create_; }

private:
   std::unique_ptr<::SelectStmt> query_;
   std::unique_ptr<::CreateTableAsStmt> create_;
};

/// Throws 25P02 in a failed block, unless the statement is one that ends it.
void requireUsableTransaction(const SessionCore& core, const sql::ParsedStatement& statement);
void requireUsableTransaction(const SessionCore& core);
/// True for BEGIN, COMMIT, SAVEPOINT and the other statements that work on the transaction itself.
bool isTransactionControl(const sql::ParsedStatement& statement);

/// Bind a query and lock the relations that it reads and writes.
sql::BoundQuery bindUnderLocks(SessionCore& core, const sql::ParsedScript& script, const ::Node& query,
                               std::span<const Oid> parameterTypes);
/// The same with parameters replaced by their values, but for a query that rules rewrite.
sql::BoundQuery bindUnderLocks(SessionCore& core, const sql::ParsedScript& script, const ::Node& query,
                               std::span<const BoundParameter> parameters);
/// Throws 55000 if one of the relations is a materialized view WITH NO DATA.
void requirePopulated(SessionCore& core, std::span<const Oid> relations);
/// Whether the query changes rows of temporary tables only, or none: it may run in a READ ONLY transaction.
bool changesOnlyTemporary(const SessionCore& core, const sql::BoundQuery& query);
/// "INSERT", ...
const char* statementName(sql::StatementKind kind);
/// Bind and plan a query for these values; nothing runs yet. `hasRules`: set if the query is one that rules rewrite, of
/// which there is no plan; the result is null then.
std::unique_ptr<QueryExecution> planForValues(SessionCore& core, const sql::ParsedScript& script, const ::Node& query,
                                              std::span<const BoundParameter> parameters, bool& hasRules);
/// Make an execution and run its writes. When another transaction holds rows that it has to write, undo its writes,
/// wait for the rows and run it again: READ COMMITTED then sees the rows as they have become, the other levels throw
/// 40001 if the rows have changed. ON CONFLICT runs again in the same way when other transactions have committed one of
/// its keys. The client has received nothing by then.
std::unique_ptr<QueryExecution> runUntilWritten(SessionCore& core,
                                                const std::function<std::unique_ptr<QueryExecution>()>& make);
/// Bind, plan and start a query. A query that writes has written all its rows at the return, and its result is ready.
std::unique_ptr<QueryExecution> startQuery(SessionCore& core, const sql::ParsedScript& script, const ::Node& query,
                                           std::span<const BoundParameter> parameters);
/// Check the constraints that need the whole statement. Call after the last row of a query.
void finishQuery(SessionCore& core, QueryExecution& execution);

/// Looks at the execution of a query that makes a relation: when it is planned (`hasRun` false), and when it has run.
using ExecutionWatch = std::function<void(QueryExecution& execution, bool hasRun)>;

/// While it lives, the query is bound as a cursor's: its rows tell where they lie.
class OpensCursor {
public:
   OpensCursor(SessionCore& core, const ::Node& query) : core_(core), outer_(std::exchange(core.cursorQuery, &query)) {}
   ~OpensCursor() { core_.cursorQuery = outer_; }
   OpensCursor(const OpensCursor&) = delete;

private:
   SessionCore& core_;
   const ::Node* const outer_;
};

} // namespace ouzel::engine
