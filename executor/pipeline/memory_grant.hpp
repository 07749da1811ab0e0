#pragma once
#include <atomic>
#include <cstddef>
#include <vector>

#include "common/memory/ledger.hpp"
#include "common/sync/mutex.hpp"
#include "executor/pipeline/memory_policy.hpp"

namespace ouzel::executor {

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
// A share changes while a query runs. Invariant: the floors of a query's grants that have not waived theirs add up to
// half of its budget; the other half goes to the grant that asks first. (A query's only grant has the whole budget for
// a floor.)

/// Divides the memory that queries may use among the queries that materialise rows. One per process. Thread-safe.
class MemoryShares {
public:
   /// `evictable`: bytes charged to the ledger that the cache gives up when a query needs them.
   using Evictable = size_t (*)(void* context);
   explicit MemoryShares(MemoryLedger& ledger, Evictable evictable = nullptr, void* context = nullptr)
      : ledger_(ledger), evictable_(evictable), context_(context) {}

   /// Bytes that a participating query may use now, of which it has `own`, `ownYielding` of them in grants that yield.
   size_t share(size_t own, size_t ownYielding) const;

private:
   friend class QueryBudget;
   MemoryLedger& ledger_;
   const Evictable evictable_;
   void* const context_;
   std::atomic<size_t> queries_{0};
   // Each query's part as of its last QueryBudget::bytes().
   std::atomic<size_t> queryBytes_{0};    ///< charged by these queries
   std::atomic<size_t> yieldingBytes_{0}; ///< of these, in grants that yield
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

private:
   friend class MemoryGrant;
   /// The floor of each grant that has not waived its floor; `asking` counts as one. REQUIRES: mutex_ is held.
   size_t floorOf(size_t budget, const MemoryGrant& asking) const REQUIRES(mutex_);
   /// Tells shares_ what the query has and what of it yields. Returns the query's share.
   size_t report() REQUIRES(mutex_);

   Reservation& memory_;
   const size_t limit_;
   MemoryShares* const shares_;
   const MemoryPolicy policy_;
   Mutex mutex_;
   std::vector<MemoryGrant*> grants_ GUARDED_BY(mutex_);
   bool takesPart_ GUARDED_BY(mutex_) = false;      ///< counted in shares_->queries_
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
   /// The operator has taken its input. What it holds from now on it gives back only when its rows have been read.
   /// Until claimFloor().
   void settle();

private:
   friend class QueryBudget;
   QueryBudget& budget_;
   Reservation memory_;
   // Under the budget's mutex.
   bool hasWaivedFloor_ = false, isSettled_ = false;
};

} // namespace ouzel::executor
