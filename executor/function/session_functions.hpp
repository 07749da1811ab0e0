#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/client/endpoints.hpp"
#include "common/value/sql_type.hpp"

namespace ouzel::catalog {
struct Relation;
}

namespace ouzel::executor {

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

   virtual int64_t transactionId() = 0; ///< of the current transaction; unique since the server started
   virtual bool hasWritten() = 0;       ///< whether the current transaction has written

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

   virtual int64_t nextValue(const catalog::Relation& sequence) = 0;
   virtual int64_t currentValue(const catalog::Relation& sequence) = 0; ///< 55000 before nextValue()
   virtual int64_t lastValue() = 0;                                     ///< 55000 before nextValue()
   virtual void setValue(const catalog::Relation& sequence, int64_t value, bool isCalled) = 0;

   // Texts of objects as PostgreSQL prints them, with names as the session's search_path asks for them.
   virtual std::string viewText(const catalog::Relation& view, const TextLayout& layout) = 0;
   /// CREATE RULE ...; null: there is no such rule.
   virtual std::optional<std::string> ruleText(Oid rule, const TextLayout& layout) = 0;
   /// An expression that the catalog keeps as SQL. `relation`: over whose columns it is; invalidOid: none.
   virtual ExpressionText expressionText(std::string_view stored, Oid relation, const TextLayout& layout) = 0;
};

} // namespace ouzel::executor
