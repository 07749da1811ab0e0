#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/value/sql_type.hpp"

namespace ouzel {
struct SessionFormat; // common/type/session_format.hpp
class Reservation;
} // namespace ouzel
namespace ouzel::catalog {
class Snapshot;
struct Relation;
} // namespace ouzel::catalog

namespace ouzel::executor {

/// What functions may ask of the session that runs them. One per running statement, shared by its workers: read-only
/// while the statement runs, except what is documented as thread-safe.
struct FunctionContext {
   const SessionFormat* format = nullptr;
   int64_t transactionStart = 0; ///< now(): microseconds since 2000-01-01 UTC
   int64_t statementStart = 0;
   std::function<int64_t()> clock; ///< clock_timestamp(); thread-safe
   std::function<double()> random; ///< [0, 1); thread-safe
   std::function<void(double)> setSeed;
   const catalog::Snapshot* catalog = nullptr;
   std::string user = "postgres", sessionUser = "postgres", database = "postgres";
   std::vector<std::string> searchPath{"public"};
   int32_t backendPid = 0;
   bool isInRecovery = false; ///< the server shows what another one writes
   std::function<std::string(const std::string& name, bool missingOk)> setting; ///< current_setting(); thread-safe
   std::function<std::string(const std::string& name, const std::string& value, bool local)> setSetting;
   std::function<int64_t(uint64_t relation)> relationSize; ///< bytes
   std::function<void(int64_t micros)> sleep;              ///< pg_sleep, cancellable
   std::function<int64_t(bool assign)> transactionId;      ///< txid_current(); 0: none yet and not to be assigned
   /// An advisory lock: a bigint, or two integers in its halves.
   struct AdvisoryLock {
      int64_t key = 0;
      bool isPair = false, isShared = false;
      bool isSession = false; ///< outlives the transaction
      bool noWait = false;
   };
   std::function<bool(const AdvisoryLock&)> lockAdvisory;   ///< false: noWait, and it is taken
   std::function<bool(const AdvisoryLock&)> unlockAdvisory; ///< false: the session does not hold it
   std::function<void()> unlockAllAdvisory;
   std::function<std::vector<int32_t>(int32_t pid)> blockersOf;
   // Sequences; thread-safe.
   std::function<int64_t(const catalog::Relation&sequence)> nextValue, currentValue;
   std::function<int64_t()> lastValue;
   std::function<void(const catalog::Relation& sequence, int64_t value, bool isCalled)> setValue;
};

} // namespace ouzel::executor
