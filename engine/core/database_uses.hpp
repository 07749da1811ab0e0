#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "common/env/clock.hpp"
#include "common/sync/mutex.hpp"
#include "common/value/sql_type.hpp"
#include "storage/base/write_use.hpp"

namespace ouzel::engine {

/// Transactions and sessions of each database since the server has started or reset(), for pg_stat_database.
/// Thread-safe.
class DatabaseUses {
public:
   struct Use {
      int64_t commits = 0, rollbacks = 0, sessions = 0, deadlocks = 0;
      int64_t resetAt = 0; ///< microseconds since 2000-01-01 UTC; 0: never
   };
   void add(Oid database, int64_t Use::*counter) {
      const MutexLock lock(mutex_);
      ++(uses_[database].*counter);
   }
   Use of(Oid database) const {
      const MutexLock lock(mutex_);
      const auto found = uses_.find(database);
      return found == uses_.end() ? Use() : found->second;
   }
   void reset(Oid database) {
      const MutexLock lock(mutex_);
      uses_[database] = {.resetAt = wallClockMicros()};
   }

private:
   mutable Mutex mutex_;
   std::map<Oid, Use> uses_ GUARDED_BY(mutex_);
};

/// When the statistics of the whole server were reset, by the names that pg_stat_reset_shared() and
/// pg_stat_reset_slru() know ("slru/" before the latter), and what storage had counted then. Thread-safe.
class ServerUses {
public:
   struct Base {
      int64_t resetAt = 0; ///< 0: never
      storage::LogUse log;
      storage::CheckpointUse checkpoints;
   };
   void reset(const std::string& part, const storage::LogUse& log, const storage::CheckpointUse& checkpoints) {
      const MutexLock lock(mutex_);
      bases_[part] = {wallClockMicros(), log, checkpoints};
   }
   Base of(const std::string& part) const {
      const MutexLock lock(mutex_);
      const auto found = bases_.find(part);
      return found == bases_.end() ? Base() : found->second;
   }

private:
   mutable Mutex mutex_;
   std::map<std::string, Base> bases_ GUARDED_BY(mutex_);
};

} // namespace ouzel::engine
