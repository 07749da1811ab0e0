#include "storage/buffer/memory_governor.hpp"

#include <algorithm>

#include "storage/buffer/frame_cache.hpp"
#include "storage/buffer/residency_watch.hpp"

namespace ouzel::storage {

MemoryGovernor::MemoryGovernor(size_t limit) : ledger_(limit), cache_(std::make_unique<FrameCache>(ledger_)) {
   ledger_.setReclaimer(this);
}

MemoryGovernor::~MemoryGovernor() {
   watch_.reset();
   ledger_.setReclaimer(nullptr);
}

void MemoryGovernor::setLimit(size_t bytes) {
   ledger_.setLimit(bytes);
   shrink();
}

void MemoryGovernor::shrink() {
   const size_t used = ledger_.used(), limit = ledger_.limit();
   if (used > limit) reclaim(used - limit);
}

void MemoryGovernor::watchResidency(void (*purge)()) {
   watch_ = std::make_unique<ResidencyWatch>(ledger_, purge, [this] { shrink(); });
}

size_t MemoryGovernor::cachedBytes() const {
   return cache_->cachedBytes();
}

size_t MemoryGovernor::evictableBytes() const {
   const size_t cached = cache_->cachedBytes(), pinned = cache_->pinnedBytes();
   return cached > pinned ? cached - pinned : 0; // both change meanwhile
}

MemoryGovernor::Bytes MemoryGovernor::bytes(Eviction eviction) const {
   const size_t most = ledger_.limit() / 2;
   Bytes out{evictableBytes(), 0};
   switch (eviction) {
   case Eviction::TableFirst: break;
   case Eviction::TemporaryFirst: out.kept = most; break;
   case Eviction::Mixed: out.kept = most / 2; break;
   case Eviction::Priced: out.kept = worthBytes(most); break;
   }
   out.kept = std::min(out.kept, out.evictable);
   return out;
}

/// The working set without what is pinned, if it is worth more than what operators would have to spill instead. One
/// that is larger than the cache may keep is worth nothing: when a scan comes to its pages again, other pages of the
/// scan have evicted them. One that is not in the cache yet may come.
size_t MemoryGovernor::worthBytes(size_t most) const {
   const size_t worth = cache_->workingSet().bytes();
   if (worth == 0 || worth > most || !spillCost_) return 0;
   const double cost = cache_->fetchCost().nanosPerByte();
   return cost > 0 && cost > spillCost_() ? worth - std::min(worth, cache_->pinnedBytes()) : 0;
}

uint32_t MemoryGovernor::turn() const {
   return cache_->workingSet().turn();
}

void MemoryGovernor::endTurn(uint32_t begun) {
   cache_->workingSet().endTurn(begun);
}

void MemoryGovernor::addReclaimer(MemoryReclaimer& reclaimer) {
   const MutexLock lock(mutex_);
   reclaimers_.push_back(&reclaimer);
}

void MemoryGovernor::removeReclaimer(MemoryReclaimer& reclaimer) {
   const MutexLock lock(mutex_);
   std::erase(reclaimers_, &reclaimer);
}

size_t MemoryGovernor::reclaim(size_t bytes) {
   // Evict somewhat more than was asked, so that not every allocation that follows has to reclaim.
   size_t freed = cache_->evict(std::max(bytes, std::min(ledger_.limit() / 64, size_t{8} << 20)));
   if (freed >= bytes) return freed;
   std::vector<MemoryReclaimer*> reclaimers;
   {
      const MutexLock lock(mutex_);
      reclaimers = reclaimers_;
   }
   for (MemoryReclaimer* reclaimer : reclaimers) {
      if (freed >= bytes) break;
      freed += reclaimer->reclaim(bytes - freed);
   }
   return freed;
}

} // namespace ouzel::storage
