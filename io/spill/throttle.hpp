#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "common/env/clock.hpp"

namespace ouzel::io {

/// Makes a device look slower than it is: says of each request when such a device would have finished it; the request
/// counts as finished only then. So the ones behind it queue up as they would there. Thread-safe.
class Throttle {
public:
   /// Bytes per second; 0: none.
   void setRate(uint64_t rate) { rate_.store(rate, std::memory_order_relaxed); }
   uint64_t rate() const { return rate_.load(std::memory_order_relaxed); }

   /// The steadyNanos() at which a request that is made now would be finished; 0: whenever it is.
   int64_t due(uint64_t bytes) {
      const uint64_t rate = this->rate();
      if (rate == 0) return 0;
      const int64_t now = steadyNanos();
      const auto duration = static_cast<int64_t>(static_cast<double>(bytes) * 1e9 / static_cast<double>(rate));
      int64_t free = free_.load(std::memory_order_relaxed), due = 0;
      do {
         due = std::max(free, now) + duration;
      } while (!free_.compare_exchange_weak(free, due, std::memory_order_relaxed));
      return due;
   }

private:
   std::atomic<uint64_t> rate_{0};
   std::atomic<int64_t> free_{0}; ///< when it has nothing to do any more
};

} // namespace ouzel::io
