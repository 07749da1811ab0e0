#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <vector>

#include "common/memory/eviction.hpp"
#include "common/memory/ledger.hpp"
#include "common/sync/mutex.hpp"
#include "executor/pipeline/memory_policy.hpp"
#include "executor/pipeline/reclaimer.hpp"

namespace ouzel::executor {

class QueryBudget;
class QueryContext;
class MemoryGrant;

// Three levels divide the memory limit of the process among operators:
//
//    MemoryShares   one per process   the bytes that queries may use, divided by the number of queries that
//                                     materialise rows
//    QueryBudget    one per query     the smaller of the query's share and the session's limit
//    MemoryGrant    one per operator  asks mayGrow() before each page and charges the page to its reservation
//
// A grant yields while its operator takes input: asked for the next page, the operator spills what is too much. A
// settled grant, such as that of a finished hash table, keeps its bytes until the rows have been read. So a query's
// share is at most what is there: what nobody has, and what others yield.
//
// Settled rows that need not stay in memory have a Reclaimer. They are written to disk before an operator of the same
// query spills its own input. A query that gets less than its fair part asks the others to give back: they write such
// rows, too, and queries whose clients rest run to their end (QueryBudget::onShortage(), RunningQueryState).
//
// A share changes while a query runs. Invariant: the floors of a query's grants that have not waived theirs add up to
// half of its budget; the other half goes to the grant that asks first. (A query's only grant has the whole budget for
// a floor.)

/// Divides the memory that queries may use among the queries that materialise rows. One per process. Thread-safe.
class MemoryShares {
public:
   /// `cache`: has bytes of the ledger that it gives up when a query needs them. Null: there is none.
   explicit MemoryShares(MemoryLedger& ledger, EvictableMemory* cache = nullptr) : ledger_(ledger), cache_(cache) {}

   /// Bytes that a participating query may use now, of which it has `own`, `ownYielding` of them in grants that yield.
   /// `missing`: by so much that is less than its fair part, since other queries keep what they have.
   size_t share(size_t own, size_t ownYielding, Eviction eviction, size_t& missing) const;
   /// Whether an operator that can spill may have so many bytes more: the ledger has them, with those that the cache
   /// gives up, and a reserve for sessions.
   bool hasRoom(size_t bytes, Eviction eviction) const;

private:
   friend class QueryBudget;
   struct Room {
      size_t evictable, offered; ///< bytes of the cache; of these, what operators get that can spill
   };
   Room room(Eviction eviction) const;
   /// A query has ended that had `peak` bytes and began in the turn `begun`.
   void countEnd(size_t peak, uint32_t begun);
   void askOthers(const QueryBudget& asking, size_t missing);

   MemoryLedger& ledger_;
   EvictableMemory* const cache_;
   std::atomic<size_t> queries_{0};
   std::atomic<size_t> peaks_{0}; ///< of queries that have ended in this turn of the cache
   // Each query's part as of its last QueryBudget::bytes().
   std::atomic<size_t> queryBytes_{0};    ///< charged by these queries
   std::atomic<size_t> yieldingBytes_{0}; ///< of these, in grants that yield
   std::atomic<int64_t> askedAt_{0};      ///< steadyNanos() of the last askOthers()
   Mutex mutex_;
   std::vector<QueryBudget*> listening_ GUARDED_BY(mutex_); ///< budgets with an onShortage()
};

/// How much of the limit one query may use, shared by its operators. The budget falls when other queries begin and
/// grows when other queries end; an operator sees the change when it asks for the next page. A query takes part in
/// MemoryShares from its first bytes() on. Outlives its grants. Thread-safe.
class QueryBudget {
public:
   /// `limit`: the session's. `shares` null: the query is the only one.
   QueryBudget(Reservation& memory, size_t limit, MemoryShares* shares, const MemoryPolicy& policy = {});
   ~QueryBudget();
   QueryBudget(const QueryBudget&) = delete;
   QueryBudget& operator=(const QueryBudget&) = delete;

   size_t bytes();
   /// What to do when another query is short of memory, of `missing` bytes. Returns how many bytes the query is giving
   /// back, from now on or since an earlier call. The other query's thread calls `giveBack`, perhaps with locks of its
   /// own operators held, so it must not wait. Null: nothing; no call is under way when onShortage() returns.
   void onShortage(std::function<size_t(size_t missing)> giveBack);
   /// Ask the query's workers to reclaim about `bytes` bytes of its settled rows, at their next reclaimWanted().
   /// Returns how many it can reclaim.
   size_t wantReclaimed(size_t bytes);
   /// Reclaims what another query wants. Called by the query's workers now and then.
   void reclaimWanted() {
      if (wanted_.load(std::memory_order_relaxed) > 0) reclaim(wanted_.exchange(0));
   }
   /// The query waits for its client: nothing yields until one of its operators asks again.
   void pause();
   /// The query's operators are gone: it no longer takes part in MemoryShares. REQUIRES: no grants.
   void retire();

private:
   friend class MemoryShares;
   friend class MemoryGrant;
   /// The floor of each grant that has not waived its floor; `asking` counts as one. REQUIRES: mutex_ is held.
   size_t floorOf(size_t budget, const MemoryGrant& asking) const REQUIRES(mutex_);
   size_t reclaimable() const REQUIRES(mutex_);
   /// Has Reclaimers write about `bytes` bytes. Returns the bytes they have freed.
   size_t reclaim(size_t bytes);
   /// Tells shares_ what the query has and what of it yields. Returns the query's share, and what is missing to its
   /// fair part.
   size_t report(size_t& missing) REQUIRES(mutex_);

   Reservation& memory_;
   const size_t limit_;
   MemoryShares* const shares_;
   const MemoryPolicy policy_;
   std::function<size_t(size_t)> giveBack_; ///< under the mutex of shares_
   std::atomic<bool> isListening_{false};   ///< has a giveBack_
   std::atomic<size_t> wanted_{0};          ///< bytes that another query wants reclaimed
   Mutex reclaimMutex_;                     ///< held while Reclaimers work, and by grants that end; before mutex_
   Mutex mutex_;
   std::vector<MemoryGrant*> grants_ GUARDED_BY(mutex_);
   bool takesPart_ GUARDED_BY(mutex_) = false;      ///< counted in shares_->queries_
   uint32_t turn_ GUARDED_BY(mutex_) = 0;           ///< of the cache, when it began to take part
   size_t reported_ GUARDED_BY(mutex_) = 0;         ///< the query's part of shares_->queryBytes_
   size_t reportedYielding_ GUARDED_BY(mutex_) = 0; ///< the query's part of shares_->yieldingBytes_
};

/// One operator's part of the query's budget. The operator may use all bytes that other operators leave, except for the
/// floor of each other grant. Made with its operator, before the operator's pipeline runs. The query's reservation and
/// the budget outlive the grant. Thread-safe.
class MemoryGrant {
public:
   explicit MemoryGrant(QueryBudget& budget);
   ~MemoryGrant();
   MemoryGrant(const MemoryGrant&) = delete;
   MemoryGrant& operator=(const MemoryGrant&) = delete;

   /// The reservation to which the operator charges its allocations.
   Reservation& memory() { return memory_; }
   const Reservation& memory() const { return memory_; }
   /// False: spill so many bytes first. An operator that has nothing to spill may allocate all the same; the charge
   /// throws 53200 when the ledger refuses.
   bool mayGrow(size_t bytes);
   const MemoryPolicy& policy() const { return budget_.policy_; }
   /// Bytes that the operator can count on, independent of the query's other operators.
   size_t floor();
   /// Gives up the floor until claimFloor(): the operator will hardly need more than it has. An operator that runs
   /// again calls claimFloor().
   /// A grant without a floor is settled.
   void waiveFloor();
   void claimFloor();
   /// The operator has taken its input. What it holds from now on it gives back only when its rows have been read, or
   /// through `reclaimer`. Until claimFloor().
   void settle(Reclaimer* reclaimer = nullptr);

private:
   friend class QueryBudget;
   bool fits(size_t bytes, size_t& missing);

   QueryBudget& budget_;
   Reservation memory_;
   // Under the budget's mutex.
   bool hasWaivedFloor_ = false, isSettled_ = false;
   Reclaimer* reclaimer_ = nullptr; // set and removed under reclaimMutex_, too
};

} // namespace ouzel::executor
