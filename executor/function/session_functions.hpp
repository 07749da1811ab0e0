#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/client/endpoints.hpp"
#include "common/value/sql_type.hpp"
#include "common/value/value.hpp"

namespace ouzel::catalog {
struct Relation;
}

namespace ouzel::executor {

class LargeObjectFunctions; // executor/function/large_object_functions.hpp

/// How the texts of views, rules and expressions are laid out.
struct TextLayout {
   bool isPretty = false;  ///< only the parentheses that are needed
   int32_t lineLength = 0; ///< of select lists and FROM; 0: a line for each item, negative: no breaks
};

/// An expression as SQL. isCall: it is written as name(...), which needs no parentheses around it.
struct ExpressionText {
   std::string text;
   bool isCall = false;
};

/// An advisory lock: a bigint, or two integers in its halves.
struct AdvisoryLock {
   int64_t key = 0;
   bool isPair = false, isShared = false;
   bool isSession = false; ///< outlives the transaction
   bool noWait = false;
};

/// A row for a BEFORE or INSTEAD OF trigger. Rows are records of the target's live columns.
struct RowTriggerCall {
   Oid target = invalidOid;  ///< of the statement
   Oid table = invalidOid;   ///< where the row lies: the target, or a part of it; invalidOid: no part takes it
   Oid trigger = invalidOid; ///< of the table, or the one of the target that the table's is a part of
   uint32_t event = 0;       ///< of catalog::trigger_bit
   std::optional<std::string_view> oldRow, newRow;
};

/// Calls from functions to the session that runs the statement. Thread-safe: several workers may call at once.
class SessionFunctions {
public:
   virtual ~SessionFunctions() = default;

   virtual int64_t clock() = 0;             ///< clock_timestamp(): microseconds since 2000-01-01 UTC
   virtual int64_t serverStart() = 0;       ///< pg_postmaster_start_time(), in the same unit
   virtual int64_t configurationLoad() = 0; ///< pg_conf_load_time(), in the same unit
   virtual double random() = 0;             ///< [0, 1)
   virtual void setSeed(double seed) = 0;
   virtual void sleep(int64_t micros) = 0; ///< pg_sleep(); throws when the statement is cancelled
   /// current_setting(). Throws 42704.
   virtual std::string setting(const std::string& name) = 0;
   /// set_config(): returns the value as SHOW does. `isLocal`: until the transaction ends.
   virtual std::string setSetting(const std::string& name, const std::string& value, bool isLocal) = 0;
   virtual int64_t relationSize(Oid relation) = 0; ///< bytes
   /// For each attribute of a view whether a write reaches a column of a table; empty: no statement can write the view.
   virtual std::vector<bool> writableColumns(const catalog::Relation& view) = 0;

   /// pg_export_snapshot(): the name of the statement's snapshot for other transactions.
   virtual std::string exportSnapshot() = 0;
   virtual int64_t transactionId() = 0; ///< of the current transaction; unique since the server started
   /// Of all transactions of the server, the oldest that was open when the statement's snapshot was taken.
   virtual uint64_t oldestOpenTransaction() = 0;
   virtual bool hasWritten() = 0; ///< whether the current transaction has written

   virtual bool lockAdvisory(const AdvisoryLock& lock) = 0;   ///< false: noWait, and another session has it
   virtual bool unlockAdvisory(const AdvisoryLock& lock) = 0; ///< false: the session does not hold it
   virtual void unlockAllAdvisory() = 0;
   virtual std::vector<int32_t> blockersOf(int32_t pid) = 0; ///< pg_blocking_pids()

   virtual const Endpoints& endpoints() = 0; ///< of the session's connection
   virtual std::string currentQuery() = 0;   ///< the text of the client's request
   /// pg_cancel_backend(). False, with a warning: there is no such session.
   virtual bool cancelBackend(int32_t pid) = 0;
   /// pg_terminate_backend(): waits up to `waitMillis` for the end. False, with a warning: there is no such session, or
   /// it has not ended in time.
   virtual bool terminateBackend(int32_t pid, int64_t waitMillis) = 0;

   /// Throws 0A000 for other threads than the session's.
   virtual LargeObjectFunctions& largeObjects() = 0;

   /// pg_stat_reset() and its kin. `part`: "database" (the session's, with its tables), "table" or "function"
   /// (`object`), "slru/" and a name, or a target of pg_stat_reset_shared().
   virtual void resetStatistics(const std::string& part, Oid object) = 0;
   /// pg_log_backend_memory_contexts(). False, with a warning: there is no such session.
   virtual bool logMemory(int32_t pid) = 0;
   /// pg_stat_clear_snapshot(): the next statement sees the newest statistics.
   virtual void clearStatistics() = 0;
   /// pg_stat_get_snapshot_timestamp(): when all statistics were read that the transaction sees; empty: they were not.
   virtual std::optional<int64_t> statisticsTime() = 0;
   /// Where the server keeps its data, its write-ahead log ("wal"), what queries spill ("spill"), or its log's files
   /// ("log"); empty: it keeps none in files of its own.
   virtual std::string serverDirectory(std::string_view kind) = 0;
   /// The path of a file that pg_read_file() and its kin read: relative ones lie in the server's directory. Throws
   /// 42501 for files elsewhere, unless the role may read all files of the machine.
   virtual std::string serverFile(std::string_view path) = 0;
   /// The end of the log: what was given to the device, or is durable.
   virtual int64_t logPosition() = 0;
   /// pg_settings_get_flags(); none: there is no such setting.
   virtual std::optional<std::vector<std::string>> settingFlags(const std::string& name) = 0;

   virtual void notify(const std::string& channel, const std::string& payload) = 0; ///< pg_notify()
   virtual std::vector<std::string> listeningChannels() = 0;

   virtual int64_t nextValue(const catalog::Relation& sequence) = 0;
   virtual int64_t currentValue(const catalog::Relation& sequence) = 0; ///< 55000 before nextValue()
   virtual int64_t lastValue() = 0;                                     ///< 55000 before nextValue()
   /// The value that was drawn last by any session; none before the first.
   virtual std::optional<int64_t> lastDrawn(const catalog::Relation& sequence) = 0;
   virtual void setValue(const catalog::Relation& sequence, int64_t value, bool isCalled) = 0;

   /// Runs a function of a user. `args` and the results are bytes of rows (common/type/row.hpp): a record of the
   /// arguments, and for each row that it gives a value of its row type, or a record of its columns. Only the session's
   /// thread may call it.
   virtual std::vector<std::string> runRoutine(Oid routine, std::string_view args) = 0;

   /// The row that the statement goes on with: OLD of a DELETE. None: the trigger has taken it away. Only the session's
   /// thread may call it.
   virtual std::optional<std::string> runRowTrigger(const RowTriggerCall& call) = 0;
   /// The partition of a new row of a partitioned table; invalidOid: there is none. `keys`: a record of the values of
   /// the keys of all partitioned tables below it, in the order of sql::TableParts::nodes. As runRowTrigger().
   virtual Oid partitionOf(Oid table, std::string_view keys) = 0;
   virtual uint32_t triggerDepth() = 0; ///< pg_trigger_depth()
   /// The rows of pg_event_trigger_ddl_commands() and pg_event_trigger_dropped_objects(), as the columns have them; the
   /// numbers of pg_event_trigger_table_rewrite_oid() and _reason(). Throw 39P03 outside such an event trigger.
   virtual std::vector<std::vector<Value>> eventRows(std::string_view function) = 0;
   virtual int64_t eventNumber(std::string_view function) = 0;
   /// CREATE TRIGGER ...; null: there is no such trigger.
   virtual std::optional<std::string> triggerText(Oid trigger, const TextLayout& layout) = 0;

   // Texts of objects as PostgreSQL prints them, with names as the session's search_path asks for them.
   virtual std::string viewText(const catalog::Relation& view, const TextLayout& layout) = 0;
   /// CREATE RULE ...; null: there is no such rule.
   virtual std::optional<std::string> ruleText(Oid rule, const TextLayout& layout) = 0;
   /// The body of a function that was written as SQL; null: there is no such function.
   virtual std::optional<std::string> functionBody(Oid function) = 0;
   /// An expression that the catalog keeps as SQL. `relation`: over whose columns it is; invalidOid: none.
   virtual ExpressionText expressionText(std::string_view stored, Oid relation, const TextLayout& layout) = 0;
};

} // namespace ouzel::executor
