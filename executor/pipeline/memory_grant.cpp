#include "executor/pipeline/memory_grant.hpp"

#include <algorithm>

#include "common/error/check.hpp"

namespace ouzel::executor {

namespace {
/// This part of the memory is not shared out. Expression states, batches between operators and staging areas use that
/// memory: they are allocated without mayGrow().
constexpr size_t slackDivisor = 16;
/// At least so much is not shared out: pages that scans have pinned cannot be evicted.
constexpr size_t slackMin = size_t{4} << 20;
constexpr size_t hostileBytes = size_t{16} << 10;
constexpr size_t shareMin = size_t{4} << 20;
} // namespace

size_t MemoryShares::share(size_t own, size_t ownYielding) const {
   const size_t limit = ledger_.limit(), used = ledger_.used();
   const size_t evictable = evictable_ ? evictable_(context_) : 0;
   const size_t ofQueries = evictable + queryBytes_.load(std::memory_order_relaxed);
   const size_t others = used > ofQueries ? used - ofQueries : 0;
   const size_t left = limit > others ? limit - others : 0;
   const size_t queries = std::max<size_t>(queries_.load(std::memory_order_relaxed), 1);
   const size_t slack = std::max(left / slackDivisor, std::min(left, slackMin));
   const size_t fair = std::max(left - slack, shareMin) / queries;
   const size_t yielding = yieldingBytes_.load(std::memory_order_relaxed);
   const size_t there =
       own + evictable + (limit > used ? limit - used : 0) + yielding - std::min(yielding, ownYielding);
   return std::clamp(there > slack ? there - slack : 0, std::min(fair, shareMin), fair);
}

QueryBudget::QueryBudget(Reservation& memory, size_t limit, MemoryShares* shares, const MemoryPolicy& policy)
   : memory_(memory), limit_(limit), shares_(shares), policy_(policy) {}

QueryBudget::~QueryBudget() {
   DCHECK(grants_.empty()); // grants refer to the budget
   if (!takesPart_) return;
   [[maybe_unused]] const size_t bytes = shares_->queryBytes_.fetch_sub(reported_, std::memory_order_relaxed);
   shares_->yieldingBytes_.fetch_sub(reportedYielding_, std::memory_order_relaxed);
   [[maybe_unused]] const size_t queries = shares_->queries_.fetch_sub(1, std::memory_order_relaxed);
   DCHECK(bytes >= reported_);
   DCHECK(queries > 0);
}

size_t QueryBudget::bytes() {
   if (!shares_) return limit_;
   const MutexLock lock(mutex_);
   if (!takesPart_) shares_->queries_.fetch_add(1, std::memory_order_relaxed);
   takesPart_ = true;
   return std::min(limit_, report());
}

size_t QueryBudget::report() {
   const size_t used = memory_.used();
   size_t yielding = 0;
   for (const MemoryGrant* grant : grants_)
      if (!grant->isSettled_) yielding += grant->memory_.used();
   // Both wrap around when the bytes have fallen.
   shares_->queryBytes_.fetch_add(used - reported_, std::memory_order_relaxed);
   shares_->yieldingBytes_.fetch_add(yielding - reportedYielding_, std::memory_order_relaxed);
   reported_ = used;
   reportedYielding_ = yielding;
   return shares_->share(used, yielding);
}

MemoryGrant::MemoryGrant(QueryBudget& budget) : budget_(budget), memory_(budget.memory_) {
   const MutexLock lock(budget_.mutex_);
   budget_.grants_.push_back(this);
}

MemoryGrant::~MemoryGrant() {
   const MutexLock lock(budget_.mutex_);
   [[maybe_unused]] const size_t erased = std::erase(budget_.grants_, this);
   DCHECK(erased == 1);
}

size_t QueryBudget::floorOf(size_t budget, const MemoryGrant& asking) const {
   const auto count = static_cast<size_t>(std::count_if(grants_.begin(), grants_.end(), [&](const MemoryGrant* grant) {
      return grant == &asking || !grant->hasWaivedFloor_;
   }));
   DCHECK(count > 0); // `asking` is in grants_
   return budget / (2 * count);
}

size_t MemoryGrant::floor() {
   const size_t bytes = budget_.bytes();
   const MutexLock lock(budget_.mutex_);
   return budget_.grants_.size() == 1 ? bytes : budget_.floorOf(bytes, *this);
}

void MemoryGrant::waiveFloor() {
   settle();
   const MutexLock lock(budget_.mutex_);
   hasWaivedFloor_ = true;
}

void MemoryGrant::settle() {
   const MutexLock lock(budget_.mutex_);
   isSettled_ = true;
   if (budget_.takesPart_) budget_.report();
}

void MemoryGrant::claimFloor() {
   const MutexLock lock(budget_.mutex_);
   hasWaivedFloor_ = isSettled_ = false;
}

bool MemoryGrant::mayGrow(size_t bytes) {
   if (budget_.policy_.spillsAlways && memory_.used() + bytes > hostileBytes) return false;
   const size_t budget = budget_.bytes();
   {
      const MutexLock lock(budget_.mutex_);
      const size_t floor = budget_.floorOf(budget, *this);
      size_t keptForOthers = 0;
      for (const MemoryGrant* other : budget_.grants_)
         if (other != this && !other->hasWaivedFloor_ && other->memory_.used() < floor)
            keptForOthers += floor - other->memory_.used();
      // The floor holds even if another operator has taken too much.
      if (budget_.memory_.used() + bytes + keptForOthers > budget && memory_.used() + bytes > floor) return false;
   }
   // The ledger decides; the cache may have to evict pages first.
   if (!memory_.tryGrow(bytes)) return false;
   memory_.shrink(bytes);
   return true;
}

} // namespace ouzel::executor
