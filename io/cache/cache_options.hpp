#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

// The cache of objects on a local SSD: what is asked of it, and what it tells (ouzel_stat_cache, /metrics).

namespace ouzel {
class MemoryLedger;
}

namespace ouzel::io {

struct CacheOptions {
   /// What is less is refused: a few large regions would evict each other all the time.
   static constexpr uint64_t sizeMin = 64 << 20;

   std::string directory;          ///< made when missing; one server at a time
   uint64_t size = 0;              ///< bytes of its file at most
   MemoryLedger* memory = nullptr; ///< charged for index and queue; null: nobody is
   std::function<void(const std::string&)> warn =
       nullptr;                    ///< told once, by any thread, why the cache is off from now on
   size_t segmentSize = 16 << 20;  ///< smaller in tests
   size_t queueSizeMax = 64 << 20; ///< of what waits to be written
};

/// Counted since the start, but for the last three.
struct CacheStatistics {
   uint64_t hits = 0, hitBytes = 0;      ///< regions read, and what of them was wanted
   uint64_t misses = 0, missBytes = 0;   ///< stretches that were fetched
   uint64_t joins = 0;                   ///< stretches that another read was fetching already
   uint64_t evictions = 0;               ///< regions overwritten by newer ones
   uint64_t fills = 0, droppedFills = 0; ///< stretches taken to be written; not taken, or given up
   uint64_t corruptions = 0;             ///< regions whose checksum did not match: fetched again
   uint64_t errors = 0;                  ///< of the device; the first turns the cache off
   uint64_t regions = 0, bytesUsed = 0;
   uint64_t size = 0; ///< the limit; 0: the cache is off
};

} // namespace ouzel::io
