#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

// Options of the cache that keeps pieces of remote objects on a local SSD.

namespace ouzel {
class MemoryLedger;
}

namespace ouzel::io {

struct CacheOptions {
   /// Smaller sizes are refused: a cache of few regions evicts all of them all the time.
   static constexpr uint64_t sizeMin = 64 << 20;

   std::string directory;          ///< created when missing; used by one server at a time
   uint64_t size = 0;              ///< most bytes of the cache's file
   MemoryLedger* memory = nullptr; ///< the index and the queue are charged to it; null: not charged
   std::function<void(const std::string&)> warn =
       nullptr;                    ///< called once, by any thread, with the reason when the cache turns itself off
   size_t segmentSize = 16 << 20;  ///< smaller in tests
   size_t queueSizeMax = 64 << 20; ///< bytes that wait to be written
};

} // namespace ouzel::io
