#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "io/spill/throttle.hpp"

namespace ouzel::io {

/// Reading from or writing to one device: a throttle and the measured bandwidth. Exists for a device, and for the share
/// of one query with rates of its own. Thread-safe.
class Flow {
public:
   Throttle throttle;

   /// Bytes transferred when a request begins; for finish().
   uint64_t begin() const { return bytes_.load(std::memory_order_relaxed); }
   /// Reports the end of a request. `isExact`: the time of the end is known exactly. The device was never idle during
   /// the request, so the bytes of all requests in this time are a sample of its bandwidth.
   void finish(uint64_t atBegin, int64_t begun, int64_t ended, uint64_t bytes, bool isExact) {
      const uint64_t now = bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
      const int64_t nanos = ended - begun;
      if (!isExact || nanos <= 0) return;
      const double sample = static_cast<double>(now - atBegin) * 1e9 / static_cast<double>(nanos);
      const double before = bandwidth_.load(std::memory_order_relaxed);
      // Concurrent updates may lose a sample.
      const double seen = before == 0 ? sample : before + (sample - before) / 8;
      bandwidth_.store(seen, std::memory_order_relaxed);
      seen_.store(seen, std::memory_order_relaxed);
   }
   /// Bytes per second; 0: not known, because no request had to wait yet.
   double bandwidth() const { return bandwidth_.load(std::memory_order_relaxed); }
   /// Reports a run without waits: the device may be faster than measured. Raises the estimate a little, at most to
   /// twice the measurement.
   void doubt() {
      const double seen = seen_.load(std::memory_order_relaxed);
      bandwidth_.store(std::min(bandwidth() * 1.01, 2 * seen), std::memory_order_relaxed);
   }

private:
   std::atomic<uint64_t> bytes_{0};
   std::atomic<double> bandwidth_{0}, seen_{0}; ///< raised by doubt(); as last measured
};

} // namespace ouzel::io
