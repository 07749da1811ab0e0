#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/pg_catalog/virtual_table.hpp"
#include "common/client/result_sink.hpp"
#include "common/value/value.hpp"
#include "engine/core/transaction_context.hpp"
#include "executor/function/session_functions.hpp"
#include "io/format/external_table.hpp"

namespace ouzel::sql {
class ProgramCompiler; // sql/bind/state/program_compiler.hpp
struct CursorPlace;    // sql/bind/state/bind_context.hpp
} // namespace ouzel::sql

namespace ouzel::engine {

class QueryExecution;
class RemoteServers; // engine/remote/remote_servers.hpp

/// How far a cursor goes.
struct CursorStep {
   enum class Direction : uint8_t { Forward, Backward, Absolute, Relative };
   static constexpr int64_t all = INT64_MAX;

   Direction direction = Direction::Forward;
   int64_t count = 1; ///< of rows; the row of Absolute. A negative count goes the other way, 0 gives the last row again
};

/// Whether a cursor goes back: unsaid, as long as its rows are few and its query locks none.
enum class CursorScroll : uint8_t { Unsaid, Always, Never };

/// Services of session/ for the lower folders of the engine: running SQL of the server's own, and the session's
/// prepared statements and cursors. Implemented by SessionImpl. Used by the session's thread.
class SessionServices {
public:
   virtual ~SessionServices() = default;

   /// Runs a query inside the session's transaction and returns its rows.
   virtual std::vector<std::vector<Value>> query(const std::string& sql) = 0;
   /// Runs an INSERT, UPDATE or DELETE inside the session's transaction, with its constraints and referential actions.
   virtual void modify(const std::string& sql) = 0;
   /// Whether the thread that asks runs the session's statement; workers do not.
   virtual bool isSessionThread() const = 0;
   /// Runs a function of a user: see executor::SessionFunctions.
   virtual std::vector<std::string> runRoutine(Oid routine, std::string_view args) = 0;
   /// Runs a row trigger: see executor::SessionFunctions.
   virtual std::optional<std::string> runRowTrigger(const executor::RowTriggerCall& call) = 0;
   /// Runs the triggers FOR EACH STATEMENT that fire before a statement writes, and all that fire after it has written
   /// and passed its constraints; some may be left to the end of the transaction.
   virtual void fireBefore(QueryExecution& query) = 0;
   virtual void fireAfter(QueryExecution& query) = 0;
   virtual void fireDeferred(const TransactionContext::DeferredTrigger& trigger) = 0;
   virtual void fireTruncate(std::span<const catalog::RelationPtr> tables, bool isBefore) = 0;
   /// Fires the event triggers for table_rewrite. `reason`: see EventState.
   virtual void fireRewrite(const catalog::Relation& table, int32_t reason) = 0;
   /// Makes expressions of functions in PL/pgSQL.
   virtual const sql::ProgramCompiler& programCompiler() const = 0;
   /// Opens a cursor over a query that has started. `name` empty: the session chooses it. Returns the name. Throws
   /// 42P03 if there is a cursor of that name, 0A000 if it is to scroll over rows that its query locks.
   virtual std::string openCursor(std::string name, std::unique_ptr<QueryExecution> query, CursorScroll scroll,
                                  std::string text) = 0;
   /// FETCH and, without a sink, MOVE. Returns the number of rows passed. Throws 34000 if there is no such cursor.
   virtual uint64_t fetchCursor(std::string_view name, const CursorStep& step, ResultSink* sink) = 0;
   virtual void closeCursor(std::string_view name) = 0; ///< throws 34000 if there is no such cursor
   virtual bool hasCursor(std::string_view name) const = 0;
   /// See sql::FindCursorPlace.
   virtual sql::CursorPlace cursorPlace(const std::string& cursor, const catalog::Relation& table) = 0;
   /// An UPDATE ... WHERE CURRENT OF has written: its cursor is on the new version of the row.
   virtual void cursorFollows(QueryExecution& update) = 0;
   /// The cursor outlives transactions that its program ends: it has the rows of a loop.
   virtual void pinCursor(std::string_view name) = 0;
   /// COMMIT and ROLLBACK of a procedure: ends the transaction and begins the next one, with the same characteristics
   /// if it is chained. Cursors that are pinned keep their rows.
   virtual void endTransaction(bool commits, bool isChained) = 0;
   /// A savepoint is rolled back to, or released: cursors opened since, when `level` or more savepoints were open, end,
   /// or belong to `level`.
   virtual void endCursors(size_t level) = 0;
   virtual void joinCursors(size_t level) = 0;
   /// Runs the constraint checks that were deferred to the end of the transaction.
   virtual void runDeferredChecks() = 0;
   /// Empties and drops the temporary tables whose ON COMMIT says so.
   virtual void endTemporaryRows() = 0;
   /// Opens the files that a call of read_csv, read_json or read_parquet names. Throws 42501 and the errors of opening.
   virtual io::ExternalTablePtr openExternalTable(std::string_view function, const io::ExternalRequest& request) = 0;
   /// Opens the table of another server that a foreign table stands for, with the user mapping of a role. Null: no code
   /// reads it.
   virtual io::ExternalTablePtr openForeignTable(const catalog::Relation& relation, Oid role) = 0;
   /// The session's connections to other servers.
   virtual RemoteServers& remoteServers() = 0;
   /// Rows of pg_prepared_statements and pg_cursors.
   virtual std::vector<catalog::SystemState::PreparedStatement> preparedStatements() const = 0;
   virtual std::vector<catalog::SystemState::Cursor> cursors() const = 0;
   /// Whether an open cursor or portal reads or writes the relation.
   virtual bool isReading(Oid relation) const = 0;
};

} // namespace ouzel::engine
