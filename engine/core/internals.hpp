#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <string>

#include "catalog/catalog.hpp"
#include "common/client/endpoints.hpp"
#include "common/client/session_control.hpp"
#include "common/env/clock.hpp"
#include "common/sync/mutex.hpp"
#include "common/thread/alarm_clock.hpp"
#include "engine/core/copy_progress.hpp"
#include "engine/core/database.hpp"
#include "engine/core/database_uses.hpp"
#include "engine/core/exported_snapshots.hpp"
#include "engine/core/following.hpp"
#include "engine/core/function_uses.hpp"
#include "engine/core/notifications.hpp"
#include "engine/core/prepared_transactions.hpp"
#include "engine/core/sequence_values.hpp"
#include "engine/core/setting_defaults.hpp"
#include "engine/core/statement_count.hpp"
#include "engine/lock/lock_manager.hpp"
#include "engine/statement/statement_statistics.hpp"
#include "executor/pipeline/memory_grant.hpp"
#include "executor/schedule/query_progress.hpp"
#include "executor/schedule/scheduler.hpp"
#include "io/spill/spill.hpp"
#include "storage/buffer/memory_governor.hpp"
#include "storage/database/database.hpp"

namespace ouzel::engine {

/// A row of pg_stat_activity. Written by the session's thread, read by others, under Internals::activityMutex.
struct SessionActivity {
   int32_t processId = 0;
   Endpoints endpoints;
   Oid role = invalidOid; ///< of the user when the session began
   Oid databaseOid = invalidOid;
   std::string user, database, applicationName, state = "idle", query;
   int64_t backendStart = 0, transactionStart = 0, queryStart = 0,
           stateChange = 0; ///< microseconds since 2000-01-01; 0: none
};

/// The engine's own view of a Database. Members are made in order and destroyed in reverse; all are thread-safe.
struct Database::Internals {
   const int64_t openedAt = wallClockMicros(); ///< microseconds since 2000-01-01 UTC
   DatabaseOptions options;                    ///< its settings are those of the start, see `defaults`
   SettingDefaults defaults;
   SettingList ownSettings; ///< of `defaults`: those that show what the server is, and that a reload keeps
   size_t memoryLimit = 0;
   std::unique_ptr<storage::MemoryGovernor> governor;
   std::unique_ptr<io::SpillManager> spill;
   std::unique_ptr<executor::MemoryShares> shares; ///< divide the memory that the governor leaves for queries
   std::unique_ptr<executor::Scheduler> scheduler;
   std::unique_ptr<storage::Database> storage;
   std::unique_ptr<catalog::Catalog> catalog;
   std::unique_ptr<SequenceValues> sequences;
   LockManager locks{[this](int32_t processId) { return statementForLog(processId); },
                     [this](Oid database) { uses.add(database, &DatabaseUses::Use::deadlocks); }};
   std::unique_ptr<PreparedTransactions> prepared; ///< null: a read-only server
   AlarmClock alarms;                              ///< for statement_timeout
   StatementCounters counters;
   std::unique_ptr<StatementStatistics> statements; ///< what pg_stat_statements shows
   CopyProgressList copies;
   DatabaseUses uses;
   ServerUses serverUses;
   FunctionUses functionUses;
   executor::QueryProgressList progress; ///< what ouzel_stat_progress shows
   NotificationHub notifications;
   ExportedSnapshots exportedSnapshots;
   Mutex largeObjectsMutex; ///< held by who makes the table of a database's large objects
   Mutex activityMutex;
   std::map<int32_t, SessionActivity> activity GUARDED_BY(activityMutex);
   int32_t nextTemporarySchema GUARDED_BY(activityMutex) = 1; ///<
   std::map<std::string, std::string> verifiers; ///< of roles, they replace the catalog's; set before sessions open
   std::atomic<SessionControl*> sessionControl{nullptr}; ///< of the server; null: nobody serves clients
   std::unique_ptr<Following> following;                 ///< of a read-only server; null: the server writes

   /// The statement that pg_stat_activity shows of a session, without passwords.
   std::string statementForLog(int32_t processId) EXCLUDES(activityMutex);
};

} // namespace ouzel::engine
