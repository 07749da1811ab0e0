#include "engine/core/database_metrics.hpp"

#include "common/sync/mutex.hpp"
#include "engine/core/internals.hpp"
#include "storage/buffer/frame_cache.hpp"

namespace ouzel::engine {

MemoryUse measureMemory(const Database::Internals& internals) {
   const MemoryLedger& ledger = internals.governor->ledger();
   MemoryUse use;
   use.cache = internals.governor->cachedBytes();
   use.kept = internals.governor->bytes(Eviction::Priced).kept;
   use.delta = internals.storage->deltaBytes();
   use.used = ledger.used();
   use.statements = internals.statements->memory();
   const uint64_t owned = use.cache + use.delta + use.statements;
   use.queries = use.used > owned ? use.used - owned : 0;
   use.peak = ledger.peak();
   use.withheld = ledger.withheld();
   use.limit = ledger.wholeLimit();
   return use;
}

DatabaseMetrics measure(Database& database) {
   Database::Internals& internals = database.internals();
   DatabaseMetrics metrics;
   // States without sessions are reported as 0: a series that comes and goes is hard to watch.
   for (const char* state : {"active", "idle", "idle in transaction", "idle in transaction (aborted)"})
      metrics.sessions[state] = 0;
   {
      const MutexLock lock(internals.activityMutex);
      for (const auto& [processId, session] : internals.activity)
         ++metrics.sessions[session.state];
   }
   const StatementCounters& counters = internals.counters;
   metrics.statements = counters.statements.load(std::memory_order_relaxed);
   metrics.statementNanos = counters.nanos.load(std::memory_order_relaxed);
   metrics.errors = counters.errors.load(std::memory_order_relaxed);
   metrics.memory = measureMemory(internals);
   metrics.cacheHits = internals.governor->cache().hits();
   metrics.cacheMisses = internals.governor->cache().misses();
   metrics.spillDevices = internals.spill->devices();
   metrics.logBytes = internals.storage->walPosition();
   metrics.logBytesKept = internals.storage->walBytes();
   metrics.store = internals.storage->storeStatistics();
   metrics.objectCache = internals.storage->cacheStatistics();
   return metrics;
}

} // namespace ouzel::engine
