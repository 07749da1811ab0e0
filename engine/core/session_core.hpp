#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "catalog/object/search_path.hpp"
#include "catalog/pg_catalog/virtual_table.hpp"
#include "common/env/random.hpp"
#include "common/sync/mutex.hpp"
#include "engine/core/internals.hpp"
#include "engine/core/session.hpp"
#include "engine/core/transaction_context.hpp"
#include "engine/setting/settings.hpp"
#include "executor/function/context.hpp"
#include "sql/bind/binder.hpp"

namespace ouzel::executor {
struct ExecutionContext;
}

namespace ouzel::engine {

class SessionServices; // engine/core/session_services.hpp

/// A parameter's value with the type the statement gives it.
struct BoundParameter {
   SqlType type;
   Value value;
};

inline std::vector<Oid> parameterTypes(std::span<const BoundParameter> parameters) {
   std::vector<Oid> types;
   for (const BoundParameter& parameter : parameters)
      types.push_back(parameter.type.oid);
   return types;
}

/// Which foreign keys reference a relation, for one state of the catalog.
struct ReferenceCache {
   bool isFilled = false;
   uint64_t version = 0;
   std::map<Oid, std::vector<std::pair<Oid, Oid>>> byParent; ///< table, constraint
};

/// What the parts of a session share: its place in the database, its settings, its transaction, and the means to stop
/// it. Used by the session's thread, except cancel().
class SessionCore {
public:
   SessionCore(Database::Internals& database, const SessionOptions& options, NoticeSink& notices,
               SessionServices& services);
   ~SessionCore();

   Database::Internals& database;
   NoticeSink& notices;
   SessionServices& services;
   const SessionOptions options;
   Settings settings;
   TransactionContext transaction;
   int64_t statementStart = 0;
   int32_t temporaryBackend = 0; ///< number of pg_temp_n, 0: none yet

   const std::string& user() const { return options.user; }
   /// search_path as it resolves in the transaction's catalog. REQUIRES: a transaction.
   catalog::SearchPath searchPath();
   /// What binding needs; refers to `path`, which the caller keeps.
   sql::BindContext bindContext(const catalog::SearchPath& path, const sql::SourceText* source);
   /// For functions of a statement that starts now; shared by its workers.
   executor::FunctionContext functionContext();
   const SessionFormat& format();
   /// Append the texts of a column of regclass or its like and where each ends.
   void appendNames(std::string& bytes, uint32_t* ends, const ResultColumn& column, const Vector& values,
                    const Selection& selection);
   ReferenceCache references;
   SessionRandom random{unpredictableSeed()};
   SessionSequences sequences;

   void warn(SqlState state, std::string message);
   void notice(std::string message, std::string detail = {}, SqlState state = sqlstate::successfulCompletion);

   // Cancellation: any thread may ask; the session's thread and its workers notice.
   void cancel(CancelReason reason) noexcept;
   /// Throws 57014 or 57P01 when somebody asked.
   void checkInterrupts();
   /// The same for an Interruptible, which the session's thread is while it runs a statement.
   const std::function<void()> interruptCheck = [this] { checkInterrupts(); };
   /// Requests to cancel count from here, and statement_timeout runs, unless it does already ...
   void statementBegins();
   /// ... to here: one that comes too late is forgotten, unless the session is to end.
   void statementEnds();
   /// Only the time limit ends here; one that passed a moment ago is forgotten.
   void timeLimitEnds();
   /// For pg_sleep: wait, but not longer than until somebody cancels. Any thread; throws as checkInterrupts().
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
   void forget(CancelReason reason);

   Mutex cancelMutex_;
   CondVar cancelled_;
   AlarmClock::Id timeLimit_ = 0;
   bool isActive_ GUARDED_BY(cancelMutex_) = false;                         // under cancelMutex_: a statement runs
   executor::ExecutionContext* running_ GUARDED_BY(cancelMutex_) = nullptr; // under cancelMutex_
   std::atomic<int> cancelRequested_{-1};                                   // a CancelReason, -1: none
   SessionFormat format_;
   sql::OpenExternal openExternal_;
   std::unique_ptr<executor::SessionFunctions> functions_;
};

/// 25006 in a READ ONLY transaction.
void requireWritable(SessionCore& core, std::string_view command);

} // namespace ouzel::engine
