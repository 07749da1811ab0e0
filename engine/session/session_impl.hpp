#pragma once
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "engine/core/session_core.hpp"
#include "engine/core/session_services.hpp"
#include "engine/core/value_encoder.hpp"
#include "engine/program/run_routine.hpp"
#include "engine/program/session_programs.hpp"
#include "engine/query/command_context.hpp"
#include "engine/query/statement_runner.hpp"
#include "engine/remote/remote_servers.hpp"
#include "engine/session/portals.hpp"
#include "engine/session/statement_audit.hpp"
#include "engine/session/statement_counting.hpp"
#include "engine/session/statement_log.hpp"

struct CreateTableAsStmt;
struct ExecuteStmt;
struct ExplainStmt;
struct TransactionStmt;

namespace ouzel::engine {

/// One client's session over the engine's parts.
class SessionImpl final : public Backend, private SessionServices {
public:
   SessionImpl(Database::Internals& database, const SessionOptions& options, NoticeSink& notices)
      : core_(database, options, notices, *this), log_(core_), audit_(core_), counting_(core_) {}

   std::vector<std::pair<std::string, std::string>> reportedParameters() override { return core_.settings.reported(); }
   std::vector<Notification> notifications() override {
      if (core_.listener.queue->isEmpty() || transactionStatus() != TransactionStatus::Idle) return {};
      return core_.listener.queue->take();
   }
   std::vector<std::pair<std::string, std::string>> changedParameters() override {
      return core_.settings.takeChanges();
   }
   const ValueEncoder& valueEncoder() override { return encoder_.emplace(core_); }
   CharacterEncoding clientEncoding() const override { return core_.settings.clientEncoding(); }
   TransactionStatus transactionStatus() const override { return core_.transaction.status(); }
   int64_t idleMillisMax() const override {
      return core_.settings.integer(core_.transaction.inBlock() ? SettingName("idle_in_transaction_session_timeout")
                                                                : SettingName("idle_session_timeout"));
   }
   std::unique_ptr<Script> parseScript(std::string_view sql) override;
   void prepare(std::string_view name, std::string_view sql, std::span<const Oid> parameterTypes) override;
   const StatementDescription& describeStatement(std::string_view name) override;
   void bind(std::string_view portal, std::string_view statement, std::span<const RawParameter> parameters,
             std::span<const ValueFormat> resultFormats) override;
   PortalDescription describePortal(std::string_view name) override;
   ExecuteResult execute(std::string_view portal, uint64_t maxRows, ResultSink& sink) override;
   void closeStatement(std::string_view name) override;
   void closePortal(std::string_view name) override;
   void callFunction(const FunctionCall& call, ResultSink& sink) override;
   void sync() override;
   void fail() noexcept override;
   void cancel(CancelReason reason) noexcept override { core_.cancel(reason); }

private:
   friend class ScriptImpl;

   std::vector<std::vector<Value>> query(const std::string& sql) override;
   void modify(const std::string& sql) override;
   RunCommand runsCommands();
   bool isSessionThread() const override { return std::this_thread::get_id() == thread_; }
   std::vector<std::string> runRoutine(Oid routine, std::string_view args) override;
   std::optional<std::string> runRowTrigger(const executor::RowTriggerCall& call) override;
   void fireBefore(QueryExecution& query) override;
   void fireAfter(QueryExecution& query) override;
   void fireDeferred(const TransactionContext::DeferredTrigger& trigger) override;
   void fireTruncate(std::span<const catalog::RelationPtr> tables, bool isBefore) override;
   void fireRewrite(const catalog::Relation& table, int32_t reason) override;
   const sql::ProgramCompiler& programCompiler() const override { return programCompiler_; }
   std::string openCursor(std::string name, std::unique_ptr<QueryExecution> query, CursorScroll scroll,
                          std::string text) override;
   uint64_t fetchCursor(std::string_view name, const CursorStep& step, ResultSink* sink) override;
   void closeCursor(std::string_view name) override;
   bool hasCursor(std::string_view name) const override { return portals_.find(name) != nullptr; }
   sql::CursorPlace cursorPlace(const std::string& cursor, const catalog::Relation& table) override;
   void cursorFollows(QueryExecution& update) override;
   void pinCursor(std::string_view name) override { requireCursor(name).isPinned = true; }
   void endTransaction(bool commits, bool isChained) override;
   void endCursors(size_t level) override { portals_.endFrom(level); }
   void joinCursors(size_t level) override { portals_.joinLevel(level); }
   void runDeferredChecks() override;
   void endTemporaryRows() override;
   io::ExternalTablePtr openExternalTable(std::string_view function, const io::ExternalRequest& request) override;
   io::ExternalTablePtr openForeignTable(const catalog::Relation& relation, Oid role) override {
      return remoteServers_.open(relation, role);
   }
   RemoteServers& remoteServers() override { return remoteServers_; }
   std::vector<catalog::SystemState::PreparedStatement> preparedStatements() const override;
   std::vector<catalog::SystemState::Cursor> cursors() const override;
   bool isReading(Oid relation) const override { return portals_.read(relation); }

   /// Begin a statement: time limit, transaction, snapshot, pg_stat_activity. No snapshot for transaction control and
   /// SET.
   void beginStatement(const sql::ParsedScript& script, const sql::ParsedStatement& statement);
   /// The same for a statement that is known to be a query.
   void beginQuery(std::string_view text);
   void beginActivity(std::string_view text);
   /// Run a whole statement and return its tag.
   std::string runStatement(const sql::ParsedScript& script, const sql::ParsedStatement& statement,
                            std::span<const BoundParameter> parameters, ResultSink& sink);
   void prepareEditor();
   /// Runs a command, and fires event triggers around it.
   std::string runCommand(const sql::ParsedScript& script, const sql::ParsedStatement& statement,
                          std::span<const BoundParameter> parameters, ResultSink& sink, bool isTopLevel = false);
   std::string dispatch(CommandContext& context);
   ExecuteResult runPortal(Portal& portal, uint64_t maxRows, ResultSink& sink);
   ExecuteResult runQuery(Portal& portal, uint64_t maxRows, ResultSink& sink);
   void startPortal(Portal& portal, const sql::ParsedScript& script);
   /// Starts the query of a portal that Bind has made and FETCH or MOVE runs first. Throws 55000 unless it only reads.
   void startBound(std::string_view name, Portal& portal);
   std::unique_ptr<QueryExecution> startGeneric(Portal& portal);

   // PREPARE, EXECUTE, DEALLOCATE, DECLARE, FETCH, CLOSE, DISCARD
   std::string prepareSql(const sql::ParsedScript& script, const sql::ParsedStatement& statement);
   std::vector<BoundParameter> executeParameters(const sql::ParsedScript& script, const ::ExecuteStmt& call,
                                                 const PreparedStatement& prepared);
   std::string withPrepared(CommandContext& context, const ::Node* execute,
                            const std::function<std::string(CommandContext&)>& run);
   std::string runCreateTableAs(CommandContext& context, const ::CreateTableAsStmt& statement);
   std::string runExplain(CommandContext& context, const ::ExplainStmt& statement);
   std::string executeSql(const sql::ParsedScript& script, const sql::ParsedStatement& statement, ResultSink& sink);
   std::string deallocate(const ::Node& statement);
   std::string declareCursor(const sql::ParsedScript& script, const sql::ParsedStatement& statement,
                             std::span<const BoundParameter> parameters);
   Portal& requireCursor(std::string_view name);
   std::string fetch(const ::Node& statement, ResultSink& sink);
   /// A FETCH of the simple protocol gives the rows of a BINARY cursor as bytes.
   void useFormatOf(const ::Node& statement, ResultSink& sink) const;
   std::string closeCursors(const ::Node& statement);
   std::string discard(const ::Node& statement);
   std::shared_ptr<PreparedStatement> makePrepared(std::string_view sql, std::span<const Oid> parameterTypes);
   void describeText(PreparedStatement& prepared);
   void describeRowsOfOthers(const sql::ParsedStatement& statement, StatementDescription& description);
   const std::shared_ptr<PreparedStatement>& requireStatement(std::string_view name);
   Portal& requirePortal(std::string_view name);
   MemoryLedger& ledger() { return core_.database.governor->ledger(); }
   /// A text whose parse takes more than 10 ms.
   static bool isLong(std::string_view text) { return text.size() > 64 << 10; }
   /// Parses a statement. A long text's parse can be cancelled, and the memory of its tree is charged to `memory`.
   sql::ParsedScript parseCharged(std::string_view text, MemoryCharge& memory);
   Value parseParameter(const SqlType& type, const RawParameter& parameter);
   Value parseName(const SqlType& type, std::string_view text);
   /// Runs the portal; an error makes it unusable, for it may outlive the error in a block with savepoints. In a failed
   /// transaction nothing runs: the portal can go on after ROLLBACK TO.
   template <typename Run>
   auto runOrFail(std::string_view name, Run&& run) {
      const bool hadFailed = core_.transaction.hasFailed();
      const RunningPortal running(portals_, name);
      const auto failed = [&](const SqlError* error) {
         Portal* portal = portals_.find(name); // null: the statement has ended it
         if (!portal || hadFailed) return;
         portal->isFailed = true;
         if (error) audit_.fail(std::move(portal->audited), *error);
      };
      try {
         return run();
      } catch (const SqlError& error) {
         failed(&error);
         throw;
      } catch (...) {
         failed(nullptr);
         throw;
      }
   }
   [[noreturn]] static void throwCannotRun(std::string_view portal);
   /// The portal has failed: its transaction has, too, or it cannot be run any more.
   [[noreturn]] void refuseFailed(std::string_view portal);
   /// A commit is about to come: Portals::hold(). On an error the transaction is rolled back, as by a failed commit.
   void holdPortals();
   /// Commit the implicit transaction. What was declared WITH HOLD outlives it.
   void commitImplicit();
   /// BEGIN, COMMIT, ROLLBACK, SAVEPOINT, ...: the transaction, and the portals that end with it.
   std::string controlTransaction(CommandContext& context, const ::TransactionStmt& statement);

   class PortalLog; ///< extended.cpp
   // The audit of statements, of Execute messages, and of what fails before.
   void beginAudit(const sql::ParsedStatement& statement);
   void beginAudit(Portal& portal);
   void endAudit(std::string_view portal, const ExecuteResult& result, uint64_t maxRows);
   // The same for pg_stat_statements.
   std::unique_ptr<CountedRun> beginCount(Portal& portal);
   void endCount(std::string_view portal, std::unique_ptr<CountedRun> run, const ExecuteResult& result,
                 uint64_t maxRows, const std::shared_ptr<const PreparedStatement>& statement);
   std::string countedText(const PreparedStatement& statement) const;
   /// A simple Query message is about to run: log_statement.
   void announceScript(const sql::ParsedScript& script);
   /// Of a script that executes a prepared statement: "prepare: PREPARE ...".
   std::string preparedForLog(const sql::ParsedScript& script) const;
   /// "execute name/portal", as the log calls the Execute message.
   static std::string nameForLog(std::string_view verb, const PreparedStatement* statement, std::string_view portal);

   std::thread::id thread_; ///< that runs the statement
   SessionCore core_;
   const SessionPrograms programCompiler_{core_};
   RemoteServers remoteServers_{core_};
   StatementLog log_;
   StatementAudit audit_;
   StatementCounting counting_;
   std::optional<SessionValueEncoder> encoder_; // of the last valueEncoder()
   std::map<std::string, std::shared_ptr<PreparedStatement>, std::less<>> statements_;
   Portals portals_; // destroyed before core_, audit_ and counting_
   uint64_t unnamedCursors_ = 0;
};

} // namespace ouzel::engine
