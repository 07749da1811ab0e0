#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

// What is asked of the cache of objects on a local SSD.

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

} // namespace ouzel::io
