#include "executor/pipeline/memory_grant.hpp"

#include <algorithm>

#include "common/env/clock.hpp"
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
/// This part of the limit, or slackMin, is left by operators that can spill, whatever their floors are: sessions need
/// memory to plan, and to read and send rows, while memory that others give back is on its way.
constexpr size_t reserveDivisor = 32;
/// Queries that had this part of the memory compete with the cache's pages for it.
constexpr size_t turnDivisor = 16;
/// Queries that are short ask others so often: what was asked for comes after a while.
constexpr int64_t askNanos = 20'000'000;
} // namespace

MemoryShares::Room MemoryShares::room(Eviction eviction) const {
   if (!cache_) return {0, 0};
   const EvictableMemory::Bytes bytes = cache_->bytes(eviction);
   if (bytes.kept == 0) return {bytes.evictable, bytes.evictable};
   // The cache keeps half of what others leave at most, and not what each query needs to go on.
   const size_t limit = ledger_.limit(), used = ledger_.used();
   const size_t ours = bytes.evictable + queryBytes_.load(std::memory_order_relaxed);
   const size_t left = limit - std::min(limit, used - std::min(used, ours));
   const size_t needed = std::max<size_t>(queries_.load(std::memory_order_relaxed), 1) * shareMin + slackMin;
   const size_t kept = std::min({bytes.kept, left / 2, left - std::min(left, needed)});
   return {bytes.evictable, bytes.evictable - kept};
}

size_t MemoryShares::share(size_t own, size_t ownYielding, Eviction eviction, size_t& missing) const {
   const size_t limit = ledger_.limit(), used = ledger_.used();
   const size_t evictable = room(eviction).offered;
   const size_t ofQueries = evictable + queryBytes_.load(std::memory_order_relaxed);
   const size_t others = used > ofQueries ? used - ofQueries : 0;
   const size_t left = limit > others ? limit - others : 0;
   const size_t queries = std::max<size_t>(queries_.load(std::memory_order_relaxed), 1);
   const size_t slack = std::max(left / slackDivisor, std::min(left, slackMin));
   const size_t fair = std::max(left - slack, shareMin) / queries;
   const size_t yielding = yieldingBytes_.load(std::memory_order_relaxed);
   const size_t there =
       own + evictable + (limit > used ? limit - used : 0) + yielding - std::min(yielding, ownYielding);
   const size_t most = there > slack ? there - slack : 0;
   missing = fair - std::min(fair, most);
   return std::clamp(most, std::min(fair, shareMin), fair);
}

bool MemoryShares::hasRoom(size_t bytes, Eviction eviction) const {
   const size_t limit = ledger_.limit(), used = ledger_.used();
   const size_t wanted = bytes + std::min(slackMin, limit / reserveDivisor);
   if (used + wanted > limit) {
      const Room there = room(eviction);
      if (there.offered < there.evictable && used + wanted - limit > there.offered) return false;
   }
   Reservation probe(ledger_); // the reserve is nobody's, nor part of an operator's peak
   return probe.tryGrow(wanted);
}

void MemoryShares::countEnd(size_t peak, uint32_t begun) {
   if (!cache_ || peaks_.fetch_add(peak, std::memory_order_relaxed) + peak < ledger_.limit() / turnDivisor) return;
   peaks_.store(0, std::memory_order_relaxed);
   cache_->endTurn(begun);
}

/// Asks the queries that have most, until those that give back have what is missing.
void MemoryShares::askOthers(const QueryBudget& asking, size_t missing) {
   const int64_t now = steadyNanos();
   int64_t last = askedAt_.load(std::memory_order_relaxed);
   if (now - last < askNanos || !askedAt_.compare_exchange_strong(last, now, std::memory_order_relaxed)) return;
   const MutexLock lock(mutex_);
   std::vector<std::pair<size_t, QueryBudget*>> others;
   for (QueryBudget* other : listening_)
      if (other != &asking && other->memory_.used() > shareMin) others.emplace_back(other->memory_.used(), other);
   std::sort(others.begin(), others.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
   size_t coming = 0;
   for (const auto& [bytes, other] : others) {
      if (coming >= missing) return;
      coming += other->giveBack_(missing - coming);
   }
}

QueryBudget::QueryBudget(Reservation& memory, size_t limit, MemoryShares* shares, const MemoryPolicy& policy)
   : memory_(memory), limit_(limit), shares_(shares), policy_(policy) {}

QueryBudget::~QueryBudget() {
   retire();
}

void QueryBudget::onShortage(std::function<size_t(size_t)> giveBack) {
   if (!shares_ || (!giveBack && !isListening_.load())) return;
   const MutexLock lock(shares_->mutex_);
   std::erase(shares_->listening_, this);
   giveBack_ = std::move(giveBack);
   isListening_.store(giveBack_ != nullptr);
   if (giveBack_) shares_->listening_.push_back(this);
}

void QueryBudget::pause() {
   const MutexLock lock(mutex_);
   if (reportedYielding_ == 0) return;
   shares_->yieldingBytes_.fetch_sub(reportedYielding_, std::memory_order_relaxed);
   reportedYielding_ = 0;
}

void QueryBudget::retire() {
   onShortage(nullptr);
   const MutexLock lock(mutex_);
   DCHECK(grants_.empty()); // grants refer to the budget
   if (!takesPart_) return;
   takesPart_ = false;
   shares_->countEnd(memory_.peak(), turn_);
   [[maybe_unused]] const size_t bytes = shares_->queryBytes_.fetch_sub(reported_, std::memory_order_relaxed);
   shares_->yieldingBytes_.fetch_sub(reportedYielding_, std::memory_order_relaxed);
   [[maybe_unused]] const size_t queries = shares_->queries_.fetch_sub(1, std::memory_order_relaxed);
   DCHECK(bytes >= reported_);
   DCHECK(queries > 0);
   reported_ = reportedYielding_ = 0;
}

size_t QueryBudget::bytes() {
   if (!shares_) return limit_;
   size_t missing = 0, share = 0;
   {
      const MutexLock lock(mutex_);
      if (!takesPart_) {
         shares_->queries_.fetch_add(1, std::memory_order_relaxed);
         if (shares_->cache_) turn_ = shares_->cache_->turn();
      }
      takesPart_ = true;
      share = report(missing);
   }
   if (missing > 0 && share < limit_) shares_->askOthers(*this, missing);
   return std::min(limit_, share);
}

size_t QueryBudget::report(size_t& missing) {
   const size_t used = memory_.used();
   size_t yielding = 0;
   for (const MemoryGrant* grant : grants_)
      if (!grant->isSettled_) yielding += grant->memory_.used();
   // Both wrap around when the bytes have fallen.
   shares_->queryBytes_.fetch_add(used - reported_, std::memory_order_relaxed);
   shares_->yieldingBytes_.fetch_add(yielding - reportedYielding_, std::memory_order_relaxed);
   reported_ = used;
   reportedYielding_ = yielding;
   return shares_->share(used, yielding, policy_.eviction, missing);
}

size_t QueryBudget::reclaimable() const {
   size_t bytes = 0;
   for (const MemoryGrant* grant : grants_)
      if (grant->reclaimer_) bytes += grant->reclaimer_->reclaimableBytes();
   return bytes;
}

size_t QueryBudget::wantReclaimed(size_t bytes) {
   const MutexLock lock(mutex_);
   const size_t there = reclaimable();
   if (there > 0) wanted_.store(bytes);
   return std::min(bytes, there);
}

/// The cheapest bytes first: those that will be read least often.
size_t QueryBudget::reclaim(size_t bytes) {
   const MutexLock reclaiming(reclaimMutex_); // the reclaimers stay
   std::vector<Reclaimer*> reclaimers;
   {
      const MutexLock lock(mutex_);
      for (const MemoryGrant* grant : grants_)
         if (grant->reclaimer_) reclaimers.push_back(grant->reclaimer_);
   }
   std::stable_sort(reclaimers.begin(), reclaimers.end(),
                    [](const Reclaimer* a, const Reclaimer* b) { return a->readings() < b->readings(); });
   size_t freed = 0;
   for (Reclaimer* reclaimer : reclaimers)
      if (freed < bytes) freed += reclaimer->reclaim(bytes - freed);
   return freed;
}

MemoryGrant::MemoryGrant(QueryBudget& budget) : budget_(budget), memory_(budget.memory_) {
   const MutexLock lock(budget_.mutex_);
   budget_.grants_.push_back(this);
}

MemoryGrant::~MemoryGrant() {
   const MutexLock reclaiming(budget_.reclaimMutex_);
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

void MemoryGrant::settle(Reclaimer* reclaimer) {
   const MutexLock reclaiming(budget_.reclaimMutex_);
   const MutexLock lock(budget_.mutex_);
   isSettled_ = true;
   reclaimer_ = reclaimer;
   size_t missing;
   if (budget_.takesPart_) budget_.report(missing);
}

void MemoryGrant::claimFloor() {
   const MutexLock reclaiming(budget_.reclaimMutex_);
   const MutexLock lock(budget_.mutex_);
   hasWaivedFloor_ = isSettled_ = false;
   reclaimer_ = nullptr;
}

bool MemoryGrant::mayGrow(size_t bytes) {
   if (budget_.policy_.spillsAlways && memory_.used() + bytes > hostileBytes) return false;
   size_t missing = 0;
   const bool mayGrow = fits(bytes, missing);
   if (missing == 0) return mayGrow;
   {
      // Callers also ask for more than they need, to see how much there is.
      const MutexLock lock(budget_.mutex_);
      if (missing > budget_.reclaimable()) return mayGrow;
   }
   budget_.reclaim(missing);
   return fits(bytes, missing);
}

/// `missing`: so many bytes have to be reclaimed for the budget to be kept, even if the floor allows more than that.
bool MemoryGrant::fits(size_t bytes, size_t& missing) {
   const size_t budget = budget_.bytes();
   {
      const MutexLock lock(budget_.mutex_);
      const size_t floor = budget_.floorOf(budget, *this);
      size_t keptForOthers = 0;
      for (const MemoryGrant* other : budget_.grants_)
         if (other != this && !other->hasWaivedFloor_ && other->memory_.used() < floor)
            keptForOthers += floor - other->memory_.used();
      // The floor holds even if another operator has taken too much.
      const size_t wanted = budget_.memory_.used() + bytes + keptForOthers;
      missing = wanted - std::min(wanted, budget);
      if (missing > 0 && memory_.used() + bytes > floor) return false;
   }
   // The ledger decides; the cache may have to evict pages first.
   if (!budget_.shares_) {
      if (!memory_.tryGrow(bytes)) return false;
      memory_.shrink(bytes);
      return true;
   }
   if (budget_.shares_->hasRoom(bytes, policy().eviction)) return true;
   missing = std::max(missing, bytes);
   return false;
}

} // namespace ouzel::executor
