#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "common/env/clock.hpp"

namespace ouzel::io {

/// Simulates a slower device. due() tells when a device with the given rate would finish a request, and the caller
/// treats the request as finished only then. Requests queue up as they would on that device. Thread-safe.
class Throttle {
public:
   /// Bytes per second; 0: no throttle.
   void setRate(uint64_t rate) { rate_.store(rate, std::memory_order_relaxed); }
   uint64_t rate() const { return rate_.load(std::memory_order_relaxed); }

   /// The steadyNanos() at which a request made now is finished; 0: no throttle.
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
   std::atomic<int64_t> free_{0}; ///< steadyNanos() when the queue is empty
};

} // namespace ouzel::io
