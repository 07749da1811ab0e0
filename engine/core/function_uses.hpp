#pragma once
#include <cstdint>
#include <map>
#include <optional>

#include "common/sync/mutex.hpp"
#include "common/value/sql_type.hpp"

namespace ouzel::engine {

/// Calls of functions of users since the server has started, while track_functions asks for it: what
/// pg_stat_user_functions shows. Thread-safe.
class FunctionUses {
public:
   struct Use {
      int64_t calls = 0, totalNanos = 0;
      int64_t selfNanos = 0; ///< without the functions that it has called
   };
   void add(Oid function, int64_t totalNanos, int64_t selfNanos) {
      const MutexLock lock(mutex_);
      Use& use = uses_[function];
      ++use.calls;
      use.totalNanos += totalNanos;
      use.selfNanos += selfNanos;
   }
   std::optional<Use> of(Oid function) const {
      const MutexLock lock(mutex_);
      const auto found = uses_.find(function);
      return found == uses_.end() ? std::nullopt : std::optional(found->second);
   }
   void reset(Oid function) {
      const MutexLock lock(mutex_);
      uses_.erase(function);
   }

private:
   mutable Mutex mutex_;
   std::map<Oid, Use>
       uses_ GUARDED_BY(mutex_); ///< entries of dropped functions stay, and no new function has their OIDs
};

} // namespace ouzel::engine
