#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/database.hpp"
#include "io/object_store/store_statistics.hpp"
#include "io/spill/spill.hpp"

namespace ouzel::engine {

/// Bytes of the memory ledger. The counters are read one after the other, so that sums may be slightly off.
struct MemoryUse {
   uint64_t cache = 0, delta = 0, statements = 0; ///< charged by each owner
   uint64_t queries = 0;                          ///< charged by all others
   uint64_t kept = 0;                             ///< of `cache`, what operators that can spill do not get
   uint64_t used = 0, peak = 0, withheld = 0, limit = 0;
};

/// Gauges and counters of a database since it was opened, for GET /metrics.
struct DatabaseMetrics {
   std::map<std::string, uint64_t> sessions;    ///< by pg_stat_activity's state
   uint64_t statements = 0, statementNanos = 0; ///< statements that have ended, well or not; their run time
   uint64_t errors = 0;                         ///< sent to clients
   MemoryUse memory;
   uint64_t cacheHits = 0, cacheMisses = 0; ///< pages asked of the cache
   std::vector<io::SpillManager::Device> spillDevices;
   uint64_t logBytes = 0, logBytesKept = 0;        ///< bytes ever written to the log; bytes in its files now
   std::optional<io::RetrieverStatistics> store;   ///< empty: the database is in a directory
   std::optional<io::CacheStatistics> objectCache; ///< empty: no cache on a local disk
};

MemoryUse measureMemory(const Database::Internals& internals);
/// Any thread, while the database is open. Cheap: no table is looked at.
DatabaseMetrics measure(Database& database);

} // namespace ouzel::engine
