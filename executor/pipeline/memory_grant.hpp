#pragma once
#include <atomic>
#include <cstddef>
#include <vector>

#include "common/memory/ledger.hpp"
#include "common/sync/mutex.hpp"
#include "executor/pipeline/memory_policy.hpp"

namespace ouzel::executor {

struct QueryContext;
class MemoryGrant;

/// Divides what the limit leaves for queries among those that materialise something. One per process. Thread-safe.
class MemoryShares {
public:
   /// `evictable`: bytes charged to the ledger that go when somebody needs them.
   using Evictable = size_t (*)(void* context);
   explicit MemoryShares(MemoryLedger& ledger, Evictable evictable = nullptr, void* context = nullptr)
      : ledger_(ledger), evictable_(evictable), context_(context) {}

   /// What each of the queries that take part may use now.
   size_t share() const;

private:
   friend class QueryBudget;
   MemoryLedger& ledger_;
   const Evictable evictable_;
   void* const context_;
   std::atomic<size_t> queries_{0};
   std::atomic<size_t> queryBytes_{0}; ///< charged by all of them together, as of when they last asked
};

/// How much of the limit one query may use, shared by its operators. It falls when other queries come and grows when
/// they go; operators see that when they ask for the next page. Thread-safe.
class QueryBudget {
public:
   /// `limit`: the session's own. `shares` null: nobody else is there.
   QueryBudget(Reservation& memory, size_t limit, MemoryShares* shares, const MemoryPolicy& policy = {});
   ~QueryBudget();
   QueryBudget(const QueryBudget&) = delete;
   QueryBudget& operator=(const QueryBudget&) = delete;

   size_t bytes();

private:
   friend class MemoryGrant;
   /// Of grants that are not settled, `asking` counted as one of them. REQUIRES: mutex_ is held.
   size_t floorOf(size_t budget, const MemoryGrant& asking) const REQUIRES(mutex_);

   Reservation& memory_;
   const size_t limit_;
   MemoryShares* const shares_;
   const MemoryPolicy policy_;
   Mutex mutex_; // guards what follows
   std::vector<MemoryGrant*> grants_ GUARDED_BY(mutex_);
   bool takesPart_ GUARDED_BY(mutex_) = false;
   size_t reported_ GUARDED_BY(mutex_) = 0;
};

/// One operator's part of the query's budget: it may use all that others leave, but for a floor that each of them can
/// count on. Made with the plan, before anything runs; outlived by the query's reservation. Thread-safe.
class MemoryGrant {
public:
   explicit MemoryGrant(QueryBudget& budget);
   ~MemoryGrant();
   MemoryGrant(const MemoryGrant&) = delete;
   MemoryGrant& operator=(const MemoryGrant&) = delete;

   /// What the operator allocates is charged here.
   Reservation& memory() { return memory_; }
   const Reservation& memory() const { return memory_; }
   /// False: spill so much first. Who has nothing to spill may go on; charging throws 53200 when the ledger refuses.
   bool mayGrow(size_t bytes);
   const MemoryPolicy& policy() const { return budget_.policy_; }
   /// What it can count on whatever the query's other operators do.
   size_t floor();
   /// It will hardly want more than it has: nothing is kept for it until resume(), which whoever is to run again calls.
   void settle();
   void resume();

private:
   friend class QueryBudget;
   QueryBudget& budget_;
   Reservation memory_;
   bool isSettled_ = false; ///< under the budget's mutex
};

} // namespace ouzel::executor
