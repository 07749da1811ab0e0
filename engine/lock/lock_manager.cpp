#include "engine/lock/lock_manager.hpp"

#include <algorithm>
#include <chrono>

#include "common/env/clock.hpp"
#include "common/error/check.hpp"
#include "common/thread/wait_scope.hpp"
#include "engine/lock/lock_state.hpp"

namespace ouzel::engine {

const char* lockModeName(LockMode mode) {
   static constexpr const char* names[] = {
       "INVALID",   "AccessShareLock",       "RowShareLock",  "RowExclusiveLock",   "ShareUpdateExclusiveLock",
       "ShareLock", "ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock"};
   static_assert(std::size(names) == lockModes);
   return names[static_cast<size_t>(mode)];
}

bool conflicts(LockMode a, LockMode b) {
   return (conflictsOf(a) & bitOf(b)) != 0;
}

LockOwner::LockOwner(int32_t processId, Oid database) : processId_(processId), database_(database) {}

LockOwner::~LockOwner() {
   CHECK(taken_.empty());
   CHECK(session_.empty());
   CHECK(waiters_.empty());
}

size_t LockOwner::position() const {
   const MutexLock lock(mutex_);
   return taken_.size();
}

void LockOwner::interrupt() noexcept {
   const MutexLock lock(mutex_);
   for (LockManager::Waiter* waiter : waiters_) {
      const MutexLock waiterLock(waiter->mutex);
      waiter->isInterrupted = true;
      waiter->changed.notify_one();
   }
}

LockManager::Held* LockOwner::relation(uint64_t oid) const {
   const auto place = std::ranges::lower_bound(relations_, oid, {}, &OfRelation::first);
   return place != relations_.end() && place->first == oid ? place->second : nullptr;
}

void LockOwner::remember(uint64_t oid, LockManager::Held* held) {
   const auto place = std::ranges::lower_bound(relations_, oid, {}, &OfRelation::first);
   DCHECK(place == relations_.end() || place->first != oid);
   relations_.emplace(place, oid, held);
}

void LockOwner::forget(uint64_t oid) {
   const auto place = std::ranges::lower_bound(relations_, oid, {}, &OfRelation::first);
   DCHECK(place != relations_.end() && place->first == oid);
   relations_.erase(place);
}

LockManager::LockManager(StatementOf statementOf, OnDeadlock onDeadlock)
   : statementOf_(std::move(statementOf)), onDeadlock_(std::move(onDeadlock)),
     partitions_(std::make_unique<Partition[]>(partitionCount)) {}
LockManager::~LockManager() = default;

LockManager::Partition& LockManager::partitionOf(const LockTag& tag) const {
   return partitions_[Partition::Hash()(tag) >> 40 & (partitionCount - 1)];
}

/// The owner's entry for the lock, or null. REQUIRES: the partition's mutex is held, the owner's is not.
LockManager::Held* LockManager::find(const Lock& lock, const LockOwner& owner) {
   if (lock.tag.kind == LockKind::Relation) { // a relation may have many holders
      const MutexLock ownerLock(owner.mutex_);
      return owner.relation(lock.tag.object);
   }
   for (Held* held = lock.holders; held; held = held->next)
      if (held->owner == &owner) return held;
   return nullptr;
}

/// True when another owner holds a mode that conflicts with `mode`.
bool LockManager::isBlocked(const Lock& lock, const Held* own, LockMode mode) {
   const uint16_t against = conflictsOf(mode);
   const uint16_t mine = own ? own->allModes() : uint16_t{0};
   for (size_t other = 1; other < lockModes; ++other)
      if ((against >> other & 1) && lock.granted[other] > (mine >> other & 1u)) return true;
   return false;
}

/// Give the owner the mode. `held`: its entry for the lock, null if it has none.
void LockManager::grant(Lock& lock, LockOwner& owner, Held* held, LockMode mode, bool forSession) {
   const MutexLock ownerLock(owner.mutex_);
   if (!held) {
      if (owner.free_.empty()) {
         held = &owner.held_.emplace_back();
      } else {
         held = owner.free_.back();
         owner.free_.pop_back();
      }
      held->lock = &lock;
      held->owner = &owner;
      held->previous = nullptr;
      held->next = lock.holders;
      if (lock.holders) lock.holders->previous = held;
      lock.holders = held;
      if (lock.tag.kind == LockKind::Relation) owner.remember(lock.tag.object, held);
   }
   const bool isNew = (held->allModes() & bitOf(mode)) == 0;
   if (forSession) {
      ++held->sessionCounts[static_cast<size_t>(mode)];
      if (std::find(owner.session_.begin(), owner.session_.end(), held) == owner.session_.end())
         owner.session_.push_back(held);
   } else if ((held->modes & bitOf(mode)) == 0) {
      held->modes = static_cast<uint16_t>(held->modes | bitOf(mode));
      owner.taken_.push_back({held, mode});
   }
   if (isNew) ++lock.granted[static_cast<size_t>(mode)];
   DCHECK(lock.granted[static_cast<size_t>(mode)] > 0);
   DCHECK((held->allModes() & bitOf(mode)) != 0);
}

/// Put the waiter in the queue: at the end, but before the first waiter that waits for a lock of the same owner, since
/// that waiter cannot go first anyway. False: nothing conflicts at that place, so the lock can be granted at once.
bool LockManager::enqueue(Lock& lock, Waiter& waiter, const Held* own) {
   auto place = lock.queue.end();
   uint16_t ahead = 0;
   for (auto it = lock.queue.begin(); it != lock.queue.end(); ++it) {
      if (own && (conflictsOf((*it)->mode) & own->allModes())) {
         place = it;
         break;
      }
      ahead = static_cast<uint16_t>(ahead | bitOf((*it)->mode));
   }
   if (!(conflictsOf(waiter.mode) & ahead) && !isBlocked(lock, own, waiter.mode)) return false;
   lock.queue.insert(place, &waiter);
   return true;
}

bool LockManager::acquire(LockOwner& owner, const LockTag& tag, LockMode mode, const LockWait& wait) {
   if (tag.kind == LockKind::Relation) {
      // Without the partition's mutex: only the owner's own workers release its locks, and no worker does while others
      // take some.
      const MutexLock ownerLock(owner.mutex_);
      if (const Held* held = owner.relation(tag.object); held && (held->modes & bitOf(mode))) return true;
   }
   return acquireFor(owner, tag, mode, wait, false);
}

bool LockManager::acquireSession(LockOwner& owner, const LockTag& tag, LockMode mode, const LockWait& wait) {
   return acquireFor(owner, tag, mode, wait, true);
}

bool LockManager::acquireFor(LockOwner& owner, const LockTag& tag, LockMode mode, const LockWait& wait,
                             bool forSession) {
   Partition& partition = partitionOf(tag);
   const MutexLock guard(partition.mutex);
   const auto [place, isNew] = partition.locks.try_emplace(tag);
   Lock& lock = place->second;
   if (isNew) lock.tag = tag; // written once: holders read the tag without the mutex
   Held* own = find(lock, owner);
   if (own && (own->allModes() & bitOf(mode))) {
      grant(lock, owner, own, mode, forSession);
      return true;
   }
   Waiter waiter{&lock, &owner, mode, forSession, {}, {}};
   if (!enqueue(lock, waiter, own)) {
      grant(lock, owner, own, mode, forSession);
      return true;
   }
   if (wait.noWait) {
      std::erase(lock.queue, &waiter);
      return false; // other owners use the lock, so it must not be erased
   }
   {
      const MutexLock ownerLock(owner.mutex_);
      owner.waiters_.push_back(&waiter);
   }
   const auto leave = [&]() REQUIRES(partition.mutex) {
      {
         const MutexLock ownerLock(owner.mutex_);
         std::erase(owner.waiters_, &waiter);
      }
      {
         const MutexLock waiterLock(waiter.mutex);
         if (waiter.isGranted) return;
      }
      std::erase(lock.queue, &waiter);
      wakeQueue(lock);
      if (lock.isUnused()) partition.locks.erase(LockTag(tag));
   };
   try {
      const MutexUnlock waiting(partition.mutex);
      waitUntilGranted(waiter, wait);
   } catch (...) {
      leave();
      throw;
   }
   leave();
   return true;
}

void LockManager::waitUntilGranted(Waiter& waiter, const LockWait& wait) {
   const int64_t start = steadyNanos();
   const int64_t giveUpAt = wait.millisMax > 0 ? start + wait.millisMax * 1'000'000 : INT64_MAX;
   int64_t checkAt = start + wait.deadlockMillis * 1'000'000;
   const WaitScope waiting;
   while (true) {
      if (wait.interrupted) (*wait.interrupted)();
      UniqueLock own(waiter.mutex);
      waiter.isInterrupted = false;
      while (!waiter.isGranted && !waiter.isInterrupted) {
         const int64_t now = steadyNanos(), until = std::min(giveUpAt, checkAt);
         if (now >= until) break;
         if (until == INT64_MAX)
            waiter.changed.wait(own);
         else
            waiter.changed.wait_for(own, std::chrono::nanoseconds(until - now));
      }
      if (waiter.isGranted) {
         own.unlock();
         if (wait.isLogged && checkAt == INT64_MAX) logAcquired(waiter, start);
         break;
      }
      const bool wasInterrupted = waiter.isInterrupted;
      own.unlock();
      if (wasInterrupted) continue;
      if (steadyNanos() >= giveUpAt)
         throw SqlError(sqlstate::lockNotAvailable, "canceling statement due to lock timeout");
      if (steadyNanos() >= checkAt) {
         // One search is enough: the last waiter of a cycle that searches finds the cycle.
         checkAt = INT64_MAX;
         Deadlock deadlock;
         if (!resolveDeadlock(waiter, deadlock)) {
            if (onDeadlock_) onDeadlock_(waiter.owner->database());
            throw deadlockError(std::move(deadlock));
         }
         if (wait.isLogged) logWait(waiter, start);
      }
   }
}

/// Grant the lock to all waiters that conflict neither with its holders nor with an earlier waiter.
void LockManager::wakeQueue(Lock& lock) {
   uint16_t ahead = 0;
   for (size_t i = 0; i < lock.queue.size();) {
      Waiter& waiter = *lock.queue[i];
      Held* own = find(lock, *waiter.owner);
      if ((conflictsOf(waiter.mode) & ahead) || isBlocked(lock, own, waiter.mode)) {
         ahead = static_cast<uint16_t>(ahead | bitOf(waiter.mode));
         ++i;
         continue;
      }
      lock.queue.erase(lock.queue.begin() + static_cast<ptrdiff_t>(i));
      grant(lock, *waiter.owner, own, waiter.mode, waiter.forSession);
      const MutexLock waiterLock(waiter.mutex);
      DCHECK(!waiter.isGranted);
      waiter.isGranted = true;
      waiter.changed.notify_one();
   }
}

/// Called after modes were removed from `held`: unlinks it when it has none left, and grants the lock to waiters.
/// REQUIRES: the owner's mutex is not held.
void LockManager::releaseHeld(Partition& partition, Held& held) {
   partition.mutex.assertHeld(); // by all callers; the header does not know Partition
   DCHECK(held.lock != nullptr);
   Lock& lock = *held.lock;
   if (held.allModes() == 0) {
      DCHECK((lock.holders == &held) == (held.previous == nullptr));
      if (held.previous) held.previous->next = held.next;
      if (held.next) held.next->previous = held.previous;
      if (lock.holders == &held) lock.holders = held.next;
      LockOwner& owner = *held.owner;
      const MutexLock ownerLock(owner.mutex_);
      if (lock.tag.kind == LockKind::Relation) owner.forget(lock.tag.object);
      held.lock = nullptr;
      owner.free_.push_back(&held);
   }
   if (!lock.queue.empty()) wakeQueue(lock);
   if (lock.isUnused()) partition.locks.erase(LockTag(lock.tag));
}

void LockManager::releaseTo(LockOwner& owner, size_t position) noexcept {
   while (true) {
      LockOwner::Taken taken;
      {
         const MutexLock ownerLock(owner.mutex_);
         if (owner.taken_.size() <= position) break;
         taken = owner.taken_.back();
         owner.taken_.pop_back();
      }
      Held& held = *taken.held;
      const LockTag tag = held.lock->tag; // fixed while the owner holds it
      Partition& partition = partitionOf(tag);
      const MutexLock guard(partition.mutex);
      DCHECK(held.owner == &owner);
      DCHECK((held.modes & bitOf(taken.mode)) != 0);
      DCHECK(held.lock->granted[static_cast<size_t>(taken.mode)] > 0);
      held.modes = static_cast<uint16_t>(held.modes & ~bitOf(taken.mode));
      if ((held.allModes() & bitOf(taken.mode)) == 0) --held.lock->granted[static_cast<size_t>(taken.mode)];
      releaseHeld(partition, held);
   }
   if (position > 0) return;
   const MutexLock ownerLock(owner.mutex_);
   if (owner.free_.size() == owner.held_.size()) { // free the entries of a transaction that locked thousands of keys
      constexpr size_t keptMax = 64;
      if (owner.held_.size() > keptMax) {
         owner.free_.clear();
         owner.held_.clear();
      }
   }
}

std::vector<std::pair<LockTag, LockMode>> LockManager::taken(const LockOwner& owner) const {
   const MutexLock ownerLock(owner.mutex_);
   std::vector<std::pair<LockTag, LockMode>> all;
   for (const LockOwner::Taken& taken : owner.taken_)
      all.emplace_back(taken.held->lock->tag, taken.mode); // the tag is fixed while the owner holds it
   return all;
}

void LockManager::moveTo(LockOwner& from, LockOwner& to) {
   for (const auto& [tag, mode] : taken(from)) {
      Partition& partition = partitionOf(tag);
      const MutexLock guard(partition.mutex);
      Lock& lock = partition.locks.at(tag);
      grant(lock, to, find(lock, to), mode, false);
   }
   to.transaction.store(from.transaction.load());
   releaseAll(from);
}

bool LockManager::releaseSession(LockOwner& owner, const LockTag& tag, LockMode mode) {
   Partition& partition = partitionOf(tag);
   const MutexLock guard(partition.mutex);
   const auto found = partition.locks.find(tag);
   if (found == partition.locks.end()) return false;
   Held* held = find(found->second, owner);
   const auto index = static_cast<size_t>(mode);
   if (!held || held->sessionCounts[index] == 0) return false;
   if (--held->sessionCounts[index] > 0) return true;
   DCHECK(found->second.granted[index] > 0);
   if ((held->allModes() & bitOf(mode)) == 0) --found->second.granted[index];
   bool isSession = false;
   for (const uint32_t count : held->sessionCounts)
      isSession = isSession || count > 0;
   if (!isSession) {
      const MutexLock ownerLock(owner.mutex_);
      std::erase(owner.session_, held);
   }
   releaseHeld(partition, *held);
   return true;
}

void LockManager::releaseAllSession(LockOwner& owner) {
   std::vector<LockTag> tags;
   {
      const MutexLock ownerLock(owner.mutex_);
      for (const Held* held : owner.session_)
         tags.push_back(held->lock->tag);
   }
   for (const LockTag& tag : tags)
      for (size_t mode = 1; mode < lockModes; ++mode)
         while (releaseSession(owner, tag, static_cast<LockMode>(mode))) {
         }
}

void LockManager::release(LockOwner& owner, const LockTag& tag, LockMode mode) noexcept {
   Partition& partition = partitionOf(tag);
   const MutexLock guard(partition.mutex);
   const auto found = partition.locks.find(tag);
   Held* held = found == partition.locks.end() ? nullptr : find(found->second, owner);
   if (!held || (held->modes & bitOf(mode)) == 0) return;
   {
      const MutexLock ownerLock(owner.mutex_);
      for (size_t i = owner.taken_.size(); i-- > 0;)
         if (owner.taken_[i].held == held && owner.taken_[i].mode == mode) {
            owner.taken_.erase(owner.taken_.begin() + static_cast<ptrdiff_t>(i));
            break;
         }
   }
   DCHECK(found->second.granted[static_cast<size_t>(mode)] > 0);
   held->modes = static_cast<uint16_t>(held->modes & ~bitOf(mode));
   if ((held->allModes() & bitOf(mode)) == 0) --found->second.granted[static_cast<size_t>(mode)];
   releaseHeld(partition, *held);
}

void LockManager::waitForTransaction(LockOwner& owner, uint64_t id, const LockWait& wait) {
   const LockTag tag = LockTag::transaction(id);
   acquireFor(owner, tag, LockMode::Share, wait, false);
   release(owner, tag, LockMode::Share);
}

void LockManager::wakeWaiters(uint64_t id) {
   const LockTag tag = LockTag::transaction(id);
   Partition& partition = partitionOf(tag);
   const MutexLock guard(partition.mutex);
   const auto found = partition.locks.find(tag);
   if (found == partition.locks.end()) return;
   // The waiters only try their writes again and do not need the lock itself: all get it at once and release it.
   std::vector<Waiter*> queue;
   queue.swap(found->second.queue);
   for (Waiter* waiter : queue) {
      Held* own = find(found->second, *waiter->owner);
      grant(found->second, *waiter->owner, own, waiter->mode, waiter->forSession);
      const MutexLock waiterLock(waiter->mutex);
      waiter->isGranted = true;
      waiter->changed.notify_one();
   }
}

} // namespace ouzel::engine
