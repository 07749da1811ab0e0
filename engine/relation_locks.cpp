#include "engine/relation_locks.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <vector>

#include "common/env/clock.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::engine {

namespace {

constexpr std::chrono::milliseconds interruptSlice{50}; // how often a waiter looks whether it was cancelled

bool compatible(LockMode a, LockMode b) {
   if (a == LockMode::Exclusive || b == LockMode::Exclusive) return false;
   if (a == LockMode::WriteAlone) return b == LockMode::Read;
   if (b == LockMode::WriteAlone) return a == LockMode::Read;
   return true;
}

} // namespace

bool RelationLocks::conflicts(const Entry& entry, Owner owner, LockMode mode) const {
   for (const auto& [holder, held] : entry.holders)
      if (holder != owner && !compatible(held, mode)) return true;
   return false;
}

/// True when `from` waits, directly or through others, for `target`.
bool RelationLocks::waitsFor(Owner from, Owner target) const {
   std::set<Owner> seen;
   std::vector<Owner> open{from};
   while (!open.empty()) {
      const Owner owner = open.back();
      open.pop_back();
      if (owner == target) return true;
      const auto wait = waiting_.find(owner);
      if (wait == waiting_.end() || !seen.insert(owner).second) continue;
      const auto entry = entries_.find(wait->second.relation);
      if (entry == entries_.end()) continue;
      for (const auto& [holder, held] : entry->second.holders)
         if (holder != owner && !compatible(held, wait->second.mode)) open.push_back(holder);
   }
   return false;
}

void RelationLocks::acquire(Owner owner, Oid relation, LockMode mode, int64_t millisMax,
                            const std::function<void()>& interrupted) {
   std::unique_lock lock(mutex_);
   const auto held = entries_[relation].holders.find(owner);
   if (held != entries_[relation].holders.end() && held->second >= mode) return;
   const int64_t giveUpAt = millisMax > 0 ? steadyNanos() + millisMax * 1'000'000 : INT64_MAX;
   while (conflicts(entries_[relation], owner, mode)) {
      for (const auto& [holder, theirs] : entries_[relation].holders)
         if (holder != owner && !compatible(theirs, mode) && waitsFor(holder, owner))
            throw SqlError(sqlstate::tRDeadlockDetected, "deadlock detected");
      const int64_t left = giveUpAt == INT64_MAX ? INT64_MAX : giveUpAt - steadyNanos();
      if (left <= 0) throw SqlError(sqlstate::lockNotAvailable, "canceling statement due to lock timeout");
      waiting_[owner] = {relation, mode};
      changed_.wait_for(lock, std::min<std::chrono::nanoseconds>(interruptSlice, std::chrono::nanoseconds(left)));
      waiting_.erase(owner);
      lock.unlock();
      interrupted();
      lock.lock();
   }
   entries_[relation].holders[owner] = mode;
}

void RelationLocks::releaseAll(Owner owner) {
   const std::lock_guard lock(mutex_);
   for (auto it = entries_.begin(); it != entries_.end();) {
      it->second.holders.erase(owner);
      it = it->second.holders.empty() ? entries_.erase(it) : std::next(it);
   }
   changed_.notify_all();
}

} // namespace ouzel::engine
