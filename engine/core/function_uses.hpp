#pragma once
#include <cstdint>
#include <map>
#include <optional>

#include "common/sync/mutex.hpp"
#include "common/value/sql_type.hpp"

namespace ouzel::engine {

/// Calls of functions of users, while track_functions asks for it, in one transaction or in all that have ended since
/// the server has started: what pg_stat_user_functions shows. Thread-safe.
class FunctionUses {
public:
   struct Use {
      int64_t calls = 0, totalNanos = 0;
      int64_t selfNanos = 0; ///< without the functions that it has called
   };
   void add(Oid function, const Use& more) {
      const MutexLock lock(mutex_);
      Use& use = uses_[function];
      use.calls += more.calls;
      use.totalNanos += more.totalNanos;
      use.selfNanos += more.selfNanos;
   }
   /// Takes what a transaction has called, which ends.
   void take(FunctionUses& transaction) {
      for (const auto& [function, use] : transaction.all())
         add(function, use);
      transaction.clear();
   }
   std::map<Oid, Use> all() const {
      const MutexLock lock(mutex_);
      return uses_;
   }
   void clear() {
      const MutexLock lock(mutex_);
      uses_.clear();
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
