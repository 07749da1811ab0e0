#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "common/memory/eviction.hpp"
#include "common/memory/ledger.hpp"
#include "common/sync/mutex.hpp"

namespace ouzel::storage {

class FrameCache;
class ResidencyWatch;

/// Owns the process's memory: the ledger that all large allocations are charged to, and the cache of block pages, which
/// shrinks when other owners need room. Further reclaimers (pools of key indexes) are asked after the cache. One per
/// process; outlives every database and query. Thread-safe.
class MemoryGovernor final : public EvictableMemory, private MemoryReclaimer {
public:
   explicit MemoryGovernor(size_t limit);
   ~MemoryGovernor() override;

   MemoryLedger& ledger() { return ledger_; }
   FrameCache& cache() { return *cache_; }
   /// Shrinks the cache when more bytes are charged than the new limit.
   void setLimit(size_t bytes);
   size_t cachedBytes() const;
   /// Of the cached bytes, those that nobody uses now.
   size_t evictableBytes() const;
   Bytes bytes(Eviction eviction) const override;
   uint32_t turn() const override;
   void endTurn(uint32_t begun) override;
   /// `nanosPerByte`: what it costs now to write an operator's bytes and to read them back. Called once, before queries
   /// run; until then pages of tables are cheaper.
   void setSpillCost(std::function<double()> nanosPerByte) { spillCost_ = std::move(nanosPerByte); }
   /// Start to measure the process's resident memory. When it exceeds limit + allowance, the ledger gives out less.
   /// `purge` as for ResidencyWatch. Called at most once.
   void watchResidency(void (*purge)());

   /// `reclaimer` is asked, in order of registration, when the cache has nothing left to drop.
   void addReclaimer(MemoryReclaimer& reclaimer);
   void removeReclaimer(MemoryReclaimer& reclaimer);

private:
   size_t reclaim(size_t bytes) override;
   size_t worthBytes(size_t most) const;
   void shrink(); ///< the cache, when more bytes are charged than the limit

   MemoryLedger ledger_;
   std::unique_ptr<FrameCache> cache_;
   std::function<double()> spillCost_;
   Mutex mutex_;
   std::vector<MemoryReclaimer*> reclaimers_ GUARDED_BY(mutex_);
   std::unique_ptr<ResidencyWatch> watch_;
};

} // namespace ouzel::storage
