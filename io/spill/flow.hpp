#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "io/spill/throttle.hpp"

namespace ouzel::io {

/// One direction of a device, or what one query may have of it: how fast it goes. Thread-safe.
class Flow {
public:
   Throttle throttle;

   /// What had been transferred when a request began; for finish().
   uint64_t begin() const { return bytes_.load(std::memory_order_relaxed); }
   /// A request has ended. `isExact`: it is known when. While it was there, the device was never idle, so that what it
   /// did for all of us in this time is its bandwidth.
   void finish(uint64_t atBegin, int64_t begun, int64_t ended, uint64_t bytes, bool isExact) {
      const uint64_t now = bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
      const int64_t nanos = ended - begun;
      if (!isExact || nanos <= 0) return;
      const double sample = static_cast<double>(now - atBegin) * 1e9 / static_cast<double>(nanos);
      const double before = bandwidth_.load(std::memory_order_relaxed);
      // A race loses a sample.
      const double seen = before == 0 ? sample : before + (sample - before) / 8;
      bandwidth_.store(seen, std::memory_order_relaxed);
      seen_.store(seen, std::memory_order_relaxed);
   }
   /// Bytes per second; 0: not known, nobody ever had to wait.
   double bandwidth() const { return bandwidth_.load(std::memory_order_relaxed); }
   /// Nobody had to wait for a while: it may have become faster than was seen, though not without limit.
   void doubt() {
      const double seen = seen_.load(std::memory_order_relaxed);
      bandwidth_.store(std::min(bandwidth() * 1.01, 2 * seen), std::memory_order_relaxed);
   }

private:
   std::atomic<uint64_t> bytes_{0};
   std::atomic<double> bandwidth_{0}, seen_{0}; ///< with doubts, and as it was last measured
};

} // namespace ouzel::io
