#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "catalog/object/snapshot.hpp"
#include "common/env/clock.hpp"
#include "common/log/log.hpp"
#include "common/sync/mutex.hpp"
#include "engine/lock/lock_state.hpp"

// The waits-for graph: the search for deadlocks, pg_locks and pg_blocking_pids. Each reads the whole lock table with
// every partition locked; that happens a few times a second at most.

namespace ouzel::engine {

/// Holds every partition's mutex as long as it lives. Clang's thread safety analysis does not follow locks that are
/// taken in loops.
class LockManager::AllPartitions {
public:
   explicit AllPartitions(const LockManager& manager) NO_THREAD_SAFETY_ANALYSIS
      : partitions_(manager.partitions_.get()) {
      for (size_t i = 0; i < partitionCount; ++i)
         partitions_[i].mutex.lock();
   }
   ~AllPartitions() NO_THREAD_SAFETY_ANALYSIS {
      for (size_t i = 0; i < partitionCount; ++i)
         partitions_[i].mutex.unlock();
   }
   AllPartitions(const AllPartitions&) = delete;
   AllPartitions& operator=(const AllPartitions&) = delete;

private:
   Partition* const partitions_;
};

/// The waits-for graph. REQUIRES: all partitions are locked.
class LockGraph {
public:
   using Waiter = LockManager::Waiter;

   /// A waiter and one owner that it waits for.
   struct Edge {
      Waiter* waiter;
      const LockOwner* blocker;
      bool isHard; ///< the blocker holds the lock; else it is only earlier in the queue
   };

   static std::vector<Edge> edgesOf(const LockOwner& owner) {
      const MutexLock guard(owner.mutex_);
      std::vector<Edge> edges;
      for (Waiter* waiter : owner.waiters_) {
         if (waiter->hasGivenUp) continue;
         const LockManager::Lock& lock = *waiter->lock;
         const auto place = std::find(lock.queue.begin(), lock.queue.end(), waiter);
         if (place == lock.queue.end()) continue; // granted, and its thread has not run yet
         for (const LockManager::Held* held = lock.holders; held; held = held->next)
            if (held->owner != &owner && (held->allModes() & conflictsOf(waiter->mode)))
               edges.push_back({waiter, held->owner, true});
         for (auto it = lock.queue.begin(); it != place; ++it)
            if ((*it)->owner != &owner && !(*it)->hasGivenUp && conflicts((*it)->mode, waiter->mode))
               edges.push_back({waiter, (*it)->owner, false});
      }
      return edges;
   }

   /// A cycle through `owner`, as edges in order; empty: there is none.
   static std::vector<Edge> cycleThrough(const LockOwner& owner) {
      std::vector<Edge> path;
      std::set<const LockOwner*> seen;
      return search(owner, owner, seen, path) ? path : std::vector<Edge>();
   }

private:
   static bool search(const LockOwner& from, const LockOwner& target, std::set<const LockOwner*>& seen,
                      std::vector<Edge>& path) {
      for (const Edge& edge : edgesOf(from)) {
         path.push_back(edge);
         if (edge.blocker == &target) return true;
         if (seen.insert(edge.blocker).second && search(*edge.blocker, target, seen, path)) return true;
         path.pop_back();
      }
      return false;
   }
};

namespace {

/// `owner`: who waits for the lock; its database is that of what it locks.
std::string describe(const LockTag& tag, const LockOwner& owner) {
   const std::string object = std::to_string(tag.object), detail = std::to_string(tag.detail);
   const std::string database = std::to_string(owner.database());
   switch (tag.kind) {
   case LockKind::Relation: return "relation " + object + " of database " + database;
   case LockKind::Transaction: return "transaction " + object;
   case LockKind::Row: return "row " + detail + " of table storage " + object;
   case LockKind::Key: return "key " + detail + " of index " + object + " of database " + database;
   case LockKind::Advisory:
      return "advisory lock [" + database + "," + std::to_string(tag.detail >> 32) + "," +
             std::to_string(tag.detail & 0xffffffff) + "," + std::to_string(tag.object & 3) + "]";
   case LockKind::Database:
      return fmt::format("object {} of class {} of database 0", object, Oid{catalog::class_oid::pgDatabase});
   case LockKind::LargeObject:
      return fmt::format("object {} of class {} of database {}", detail, Oid{catalog::class_oid::pgLargeObject},
                         object);
   }
   return {};
}

} // namespace

/// False: the waiter is part of a cycle that only ends when it gives up; `deadlock` lists the cycle's edges.
bool LockManager::resolveDeadlock(Waiter& waiter, Deadlock& deadlock) {
   const AllPartitions guards(*this);
   while (true) {
      const auto cycle = LockGraph::cycleThrough(*waiter.owner);
      if (cycle.empty()) return true;
      // A waiter that is blocked only by earlier waiters may overtake them; that costs fairness, not correctness.
      const auto soft = std::find_if(cycle.begin(), cycle.end(), [](const LockGraph::Edge& edge) {
         Lock& lock = *edge.waiter->lock;
         return !edge.isHard && !isBlocked(lock, find(lock, *edge.waiter->owner), edge.waiter->mode);
      });
      if (soft == cycle.end()) {
         for (const auto& edge : cycle) {
            const int32_t processId = edge.waiter->owner->processId();
            deadlock.report +=
                fmt::format("{}Process {} waits for {} on {}; blocked by process {}.",
                            deadlock.report.empty() ? "" : "\n", processId, lockModeName(edge.waiter->mode),
                            describe(edge.waiter->lock->tag, *edge.waiter->owner), edge.blocker->processId());
            deadlock.processes.push_back(processId);
         }
         waiter.hasGivenUp = true; // another waiter of the cycle that searches now finds none
         return false;
      }
      Waiter& first = *soft->waiter;
      [[maybe_unused]] const size_t erased = std::erase(first.lock->queue, &first);
      DCHECK(erased == 1);
      grant(*first.lock, *first.owner, find(*first.lock, *first.owner), first.mode, first.forSession);
      const MutexLock waiterLock(first.mutex);
      DCHECK(!first.isGranted);
      first.isGranted = true;
      first.changed.notify_one();
   }
}

/// 40P01. Only the log has the statements: a client may not be allowed to see those of others. REQUIRES: no partition
/// is locked, since statementOf_ may take mutexes of its own.
SqlError LockManager::deadlockError(Deadlock deadlock) const {
   std::string forLog = deadlock.report;
   if (statementOf_)
      for (const int32_t processId : deadlock.processes)
         forLog += fmt::format("\nProcess {}: {}", processId, statementOf_(processId));
   return SqlError(sqlstate::tRDeadlockDetected, "deadlock detected")
       .detail(std::move(deadlock.report))
       .detailForLog(std::move(forLog))
       .hint("See server log for query details.");
}

namespace {

std::string millisSince(int64_t startNanos) {
   const int64_t micros = (steadyNanos() - startNanos) / 1000;
   return fmt::format("{}.{:03} ms", micros / 1000, micros % 1000);
}

} // namespace

void LockManager::logWait(const Waiter& waiter, int64_t startNanos) const {
   std::string holders, queue;
   size_t holderCount = 0;
   {
      Partition& partition = partitionOf(waiter.lock->tag);
      const MutexLock guard(partition.mutex);
      const auto add = [](std::string& list, int32_t pid) { list += (list.empty() ? "" : ", ") + std::to_string(pid); };
      for (const Held* held = waiter.lock->holders; held; held = held->next)
         if (held->owner != waiter.owner) {
            add(holders, held->owner->processId());
            ++holderCount;
         }
      for (const Waiter* waiting : waiter.lock->queue)
         add(queue, waiting->owner->processId());
   }
   const std::string message =
       fmt::format("process {} still waiting for {} on {} after {}", waiter.owner->processId(),
                   lockModeName(waiter.mode), describe(waiter.lock->tag, *waiter.owner), millisSince(startNanos));
   const std::string detail = fmt::format("{} holding the lock: {}. Wait queue: {}.",
                                          holderCount == 1 ? "Process" : "Processes", holders, queue);
   logRecord({.level = LogLevel::Log, .message = message, .detail = detail});
}

void LockManager::logAcquired(const Waiter& waiter, int64_t startNanos) {
   logLine(LogLevel::Log,
           fmt::format("process {} acquired {} on {} after {}", waiter.owner->processId(), lockModeName(waiter.mode),
                       describe(waiter.lock->tag, *waiter.owner), millisSince(startNanos)));
}

std::vector<LockManager::View> LockManager::list() const {
   const AllPartitions guards(*this);
   std::vector<View> out;
   for (size_t i = 0; i < partitionCount; ++i) {
      partitions_[i].mutex.assertHeld(); // by guards
      for (const auto& [tag, lock] : partitions_[i].locks) {
         for (const Held* held = lock.holders; held; held = held->next)
            for (size_t mode = 1; mode < lockModes; ++mode)
               if (held->allModes() >> mode & 1)
                  out.push_back({tag, held->owner->processId(), held->owner->database(),
                                 held->owner->transaction.load(), static_cast<LockMode>(mode), true});
         for (const Waiter* waiter : lock.queue)
            out.push_back({tag, waiter->owner->processId(), waiter->owner->database(),
                           waiter->owner->transaction.load(), waiter->mode, false});
      }
   }
   return out;
}

std::vector<int32_t> LockManager::blockersOf(int32_t processId) const {
   const AllPartitions guards(*this);
   std::vector<int32_t> out;
   for (size_t i = 0; i < partitionCount; ++i) {
      partitions_[i].mutex.assertHeld(); // by guards
      for (const auto& [tag, lock] : partitions_[i].locks)
         for (const Waiter* waiter : lock.queue) {
            if (waiter->owner->processId() != processId) continue;
            for (const auto& edge : LockGraph::edgesOf(*waiter->owner))
               if (std::find(out.begin(), out.end(), edge.blocker->processId()) == out.end())
                  out.push_back(edge.blocker->processId());
         }
   }
   return out;
}

} // namespace ouzel::engine
