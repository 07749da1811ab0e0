#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "catalog/object/search_path.hpp"
#include "catalog/pg_catalog/virtual_table.hpp"
#include "common/env/random.hpp"
#include "common/log/session.hpp"
#include "common/sync/mutex.hpp"
#include "engine/core/computed_indexes.hpp"
#include "engine/core/domain_checks.hpp"
#include "engine/core/internals.hpp"
#include "engine/core/kept_statistics.hpp"
#include "engine/core/session.hpp"
#include "engine/core/transaction_context.hpp"
#include "engine/setting/settings.hpp"
#include "executor/function/context.hpp"
#include "sql/bind/binder.hpp"

struct FuncCall;
struct Node;

namespace ouzel::executor {
struct ExecutionContext;
}
namespace ouzel::catalog {
struct ExtensionInfo; // catalog/builtin/extensions.hpp
}

namespace ouzel::engine {

class ProgramCache;     // engine/core/program_cache.hpp
class SessionServices;  // engine/core/session_services.hpp
class TouchedRelations; // engine/core/touched_relations.hpp
struct EventState;      // engine/core/event_state.hpp
struct TriggerCall;     // engine/core/trigger_call.hpp

/// A parameter's value with the type the statement gives it.
struct BoundParameter {
   SqlType type;
   Value value;
};

/// Domains by their names.
inline std::vector<Oid> parameterTypes(std::span<const BoundParameter> parameters) {
   std::vector<Oid> types;
   for (const BoundParameter& parameter : parameters)
      types.push_back(parameter.type.named());
   return types;
}

/// Which foreign keys reference a relation, for one state of the catalog.
struct ReferenceCache {
   bool isFilled = false;
   uint64_t version = 0;
   std::map<Oid, std::vector<std::pair<Oid, Oid>>> byParent; ///< table, constraint
};

/// The state that the parts of a session share: its database, settings, transaction, and the means to cancel it. Owned
/// by SessionImpl. Used by the session's thread; only the cancellation members are for any thread.
///
/// Cancellation: cancel() stores the reason in cancelRequested_, tells the running query's workers, and wakes the
/// thread from a lock wait or sleep. The threads then throw at their next check. A reason that ends the session is
/// never forgotten; Request and StatementTimeout are forgotten when the statement ends.
class SessionCore {
public:
   SessionCore(Database::Internals& database, const SessionOptions& options, NoticeSink& notices,
               SessionServices& services);
   ~SessionCore();

   Database::Internals& database;
   NoticeSink& notices;
   SessionServices& services;
   const SessionOptions options;
   LogSession& log; ///< SessionOptions::log, or one that nobody reads
   Settings settings;
   TransactionContext transaction;
   int64_t statementStart = 0;
   std::string_view requestText;        ///< the client's request that runs, whole; only good while it runs
   TouchedRelations* touched = nullptr; ///< what the running statement does, while there is an audit
   int32_t temporaryBackend = 0;        ///< number of pg_temp_n, 0: none yet

   // Who acts: the session's user is who logged in, until SET SESSION AUTHORIZATION; the current role is that user,
   // until SET ROLE. Both are settings, so that a rollback undoes a change and plans follow it.
   const std::string& sessionUser() const { return settings.value("session_authorization"); }
   const std::string& user() const {
      const std::string& role = settings.value("role");
      return role == "none" ? sessionUser() : role;
   }
   /// The current role. REQUIRES: a transaction.
   Oid role();
   /// The role of a name that the session has taken; nobodyRole if that role was dropped or renamed since, whoever has
   /// the name now.
   Oid roleNamed(const catalog::Snapshot& catalog, const std::string& name) const;
   /// Remembers which role the name means, as the session takes it.
   void noteRoleName(const catalog::Snapshot& catalog, const std::string& name);
   /// The function whose statements run, null: none. `givesRow`: the next query gives its result, each row as one
   /// value. `expected`: the types of the columns of a function that returns records of any kind, if they are known.
   struct RunningRoutine {
      const catalog::Function* function = nullptr;
      bool givesRow = false;
      std::span<const SqlType> expected{};
   };
   RunningRoutine routine;
   /// The PL/pgSQL program whose text is bound: what its names may mean, and what its columns are cast to.
   struct RunningProgram {
      const sql::VariableNames* variables = nullptr;
      std::span<const SqlType> types{};
      const sql::PartTarget* part = nullptr;
   };
   RunningProgram program;
   const TriggerCall* trigger = nullptr; ///< whose function's program runs; null: another one's, or none
   uint32_t triggerDepth = 0;            ///< pg_trigger_depth()
   KeptStatistics statistics;
   int64_t calledNanos = 0; ///< of functions that the running one has called and that are counted: track_functions
   const EventState* event = nullptr; ///< of the event trigger whose function runs; null: none does
   /// What EXPLAIN says of the functions that are bound: "f(integer): compiled". Null: nobody asks.
   std::vector<std::pair<std::string, std::string>>* programNotes = nullptr;
   int definers = 0;                                      ///< functions that run and are SECURITY DEFINER
   const std::unique_ptr<ProgramCache> programs;          ///< functions that were parsed
   const catalog::ExtensionInfo* madeExtension = nullptr; ///< whose script runs; null: none
   const ::FuncCall* calledProcedure = nullptr;           ///< of a CALL that is being bound; null: none
   sql::CalledProcedure* called = nullptr;                ///< of the CALL whose arguments are being bound; null: none
   const ::Node* cursorQuery = nullptr;                   ///< of the cursor that is being opened; null: none
   /// Loops of programs over queries that write, which no COMMIT or ROLLBACK may interrupt.
   uint32_t writingLoops = 0;

   /// While it lives, the server acts in its own name: the checks of a foreign key read tables that the user may not.
   class AsServer {
   public:
      explicit AsServer(SessionCore& core) : core_(core) { ++core_.asServer_; }
      ~AsServer() { --core_.asServer_; }
      AsServer(const AsServer&) = delete;

   private:
      SessionCore& core_;
   };
   /// While it lives, the user acts again.
   class AsUser {
   public:
      explicit AsUser(SessionCore& core) : core_(core), outer_(std::exchange(core.asServer_, 0)) {}
      ~AsUser() { core_.asServer_ = outer_; }
      AsUser(const AsUser&) = delete;

   private:
      SessionCore& core_;
      const uint32_t outer_;
   };
   bool isServer() const { return asServer_ > 0; }
   /// SET: Settings::set(), and what a setting does besides having a value.
   /// Throws 42501 for what only superusers set, and for a role that the user may not become.
   void set(std::string_view name, std::string_view value, bool isLocal);
   void reset(std::string_view name);
   /// Follow the configuration if it was read again. Does nothing within a transaction.
   void adoptDefaults() {
      if (database.defaults.version() != seenDefaults_ && !transaction.isOpen()) adoptNewDefaults();
   }
   /// search_path as it resolves in the transaction's catalog. REQUIRES: a transaction.
   catalog::SearchPath searchPath();
   /// The session's pg_temp_n; invalidOid: it has made no temporary object. REQUIRES: a transaction.
   Oid temporarySchema();
   /// See executor::SessionFunctions.
   Oid partitionOf(Oid table, std::string_view keys);
   /// The context for binding a query. Refers to `path`, which the caller keeps.
   sql::BindContext bindContext(const catalog::SearchPath& path, const sql::SourceText* source);
   /// The context of functions for a statement that starts now; the statement's workers share it.
   executor::FunctionContext functionContext();
   const SessionFormat& format();
   ComputedIndexes& computedIndexes() { return *computedIndexes_; }
   /// While it lives, literals are read as when a statement was prepared, and 'now' is what it was then.
   class LiteralsAsPrepared {
   public:
      LiteralsAsPrepared(SessionCore& core, const SessionFormat& prepared)
         : core_(core), outer_(std::exchange(core.literals_, &prepared)) {}
      ~LiteralsAsPrepared() { core_.literals_ = outer_; }
      LiteralsAsPrepared(const LiteralsAsPrepared&) = delete;
      LiteralsAsPrepared& operator=(const LiteralsAsPrepared&) = delete;

   private:
      SessionCore& core_;
      const SessionFormat* outer_;
   };
   ReferenceCache references;
   const NotificationHub::Session listener; ///< the session as one that may listen
   /// NOTIFY: throws 22023 for a channel or payload that cannot be.
   void notify(const std::string& channel, const std::string& payload);
   SessionRandom random{unpredictableSeed()};
   SessionSequences sequences;

   void warn(SqlState state, std::string message);
   /// A warning from any thread of the running statement; the client gets it when the statement ends.
   void warnLater(SqlState state, std::string message);
   /// A message of any severity, unless client_min_messages holds it back.
   void report(const Notice& notice);
   void notice(std::string message, std::string detail = {}, SqlState state = sqlstate::successfulCompletion);
   /// What VERBOSE asks for: an INFO, which client_min_messages does not hold back.
   void inform(std::string message);

   // Cancellation: any thread may ask; the session's thread and its workers notice.
   void cancel(CancelReason reason) noexcept;
   /// Throws 57014 or 57P01 when cancel() was called. Any thread.
   void checkInterrupts();
   /// checkInterrupts() as a function, for the Interruptible of the session's thread while it runs a statement.
   const std::function<void()> interruptCheck = [this] { checkInterrupts(); };
   /// A statement begins: CancelReason::Request has an effect from now on, and statement_timeout starts unless it runs
   /// already.
   void statementBegins();
   /// The statement has ended: stop the time limit and forget a Request or StatementTimeout that was not noticed. A
   /// request that ends the session stays.
   void statementEnds();
   /// Stop only the time limit, and forget a StatementTimeout that was not noticed.
   void timeLimitEnds();
   /// For pg_sleep: wait `micros` or until cancel(). Any thread; throws as checkInterrupts().
   void sleep(int64_t micros);
   /// While it lives, cancel() reaches the workers of `context`.
   class Cancellable {
   public:
      Cancellable(SessionCore& core, executor::ExecutionContext& context);
      ~Cancellable();

   private:
      SessionCore& core_;
      executor::ExecutionContext* outer_;
   };

   void reportActivity(const std::string& state, const std::string& query);

private:
   void publish(const PendingNotifications& said);
   /// ALTER ROLE ... SET and ALTER DATABASE ... SET. What has become wrong is a warning.
   void adoptStoredSettings(const catalog::Snapshot& catalog, Oid ownDatabase, Oid role);
   /// A setting with which the session begins. Throws 42501 for roles that the user may not become.
   void setInitial(const std::string& name, const std::string& value);
   /// Tell the client that a setting keeps only the beginning of its value.
   void noteTruncation(std::string_view setting, std::string_view value);
   /// Enters the session into the list of sessions. Throws 53300 when the CONNECTION LIMIT of its role or of its
   /// database is reached.
   void enter(const catalog::Role* role, const catalog::Database& own);
   void forget(CancelReason reason);
   uint32_t asServer_ = 0; ///< AsServer that live
   std::map<std::string, Oid> roleNames_;
   void adoptNewDefaults();

   LogSession ownLog_;
   uint64_t seenDefaults_ = 0;                   ///< SettingDefaults::version() of defaults_
   std::shared_ptr<const SettingList> defaults_; ///< null: `settings` began with the newest
   Mutex cancelMutex_;
   CondVar cancelled_;
   AlarmClock::Id timeLimit_ = 0;
   bool isActive_ GUARDED_BY(cancelMutex_) = false;                         // under cancelMutex_: a statement runs
   executor::ExecutionContext* running_ GUARDED_BY(cancelMutex_) = nullptr; // under cancelMutex_
   std::vector<Notice> warnings_ GUARDED_BY(cancelMutex_);                  // for the end of the statement
   std::atomic<int> cancelRequested_{-1};                                   // a CancelReason, or -1 for none
   SessionFormat format_;
   const SessionFormat* literals_ = nullptr; ///< of the prepared statement that starts
   sql::OpenExternal openExternal_;
   sql::OpenForeign openForeign_;
   std::unique_ptr<executor::SessionFunctions> functions_;
   std::unique_ptr<DomainChecks> types_;
   std::unique_ptr<ComputedIndexes> computedIndexes_;
   std::shared_ptr<const sql::TableParts> parts_; ///< of the table that partitionOf() was last asked about
   uint64_t partsVersion_ = 0;                    ///< of the catalog then
};

/// 25006 in a READ ONLY transaction.
void requireWritable(SessionCore& core, std::string_view command);
/// Throws 25001 "<command> cannot run inside a transaction block" inside one.
void refuseInBlock(const SessionCore& core, std::string_view command);

} // namespace ouzel::engine
