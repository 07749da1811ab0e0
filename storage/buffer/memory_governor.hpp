#pragma once
#include <memory>
#include <vector>

#include "common/memory/ledger.hpp"
#include "common/sync/mutex.hpp"

namespace ouzel::storage {

class FrameCache;
class ResidencyWatch;

/// The one owner of memory: the ledger everything large is charged to, and the cache of block pages that gives way when
/// others need room. Further reclaimers (operators that can spill, the delta's checkpoint) are asked after the cache.
/// One per process; outlives every database and query. Thread-safe.
class MemoryGovernor final : private MemoryReclaimer {
public:
   explicit MemoryGovernor(size_t limit);
   ~MemoryGovernor() override;

   MemoryLedger& ledger() { return ledger_; }
   FrameCache& cache() { return *cache_; }
   /// Shrinks the cache when the new limit is below what is used.
   void setLimit(size_t bytes);
   size_t cachedBytes() const;
   /// From now on the ledger gives out less when the process's resident memory exceeds limit + allowance. `purge` as
   /// for ResidencyWatch. At most once.
   void watchResidency(void (*purge)());

   /// `reclaimer` is asked, in order of registration, when the cache has nothing left to drop.
   void addReclaimer(MemoryReclaimer& reclaimer);
   void removeReclaimer(MemoryReclaimer& reclaimer);

private:
   size_t reclaim(size_t bytes) override;
   void shrink(); ///< the cache, when more is used than the limit

   MemoryLedger ledger_;
   std::unique_ptr<FrameCache> cache_;
   Mutex mutex_;
   std::vector<MemoryReclaimer*> reclaimers_ GUARDED_BY(mutex_);
   std::unique_ptr<ResidencyWatch> watch_;
};

} // namespace ouzel::storage
