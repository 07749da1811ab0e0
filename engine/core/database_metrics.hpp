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

/// Bytes of the memory ledger. They are read one after the other, so that sums may be off by what happens meanwhile.
struct MemoryUse {
   uint64_t cache = 0, delta = 0, queries = 0; ///< who has how much
   uint64_t used = 0, peak = 0, withheld = 0, limit = 0;
};

/// What a database is doing and has done since it was opened, for whoever watches the process.
struct DatabaseMetrics {
   std::map<std::string, uint64_t> sessions; ///< by pg_stat_activity's state
   MemoryUse memory;
   uint64_t cacheHits = 0, cacheMisses = 0; ///< pages asked of the cache
   std::vector<io::SpillManager::Device> spillDevices;
   uint64_t logBytes = 0, logBytesKept = 0;        ///< written over the log's whole life; in files now
   std::optional<io::RetrieverStatistics> store;   ///< empty: the database is in a directory
   std::optional<io::CacheStatistics> objectCache; ///< empty: there is none on a local disk
};

MemoryUse measureMemory(const Database::Internals& internals);
/// Any thread, while the database is open. Cheap: no table is looked at.
DatabaseMetrics measure(Database& database);

} // namespace ouzel::engine
