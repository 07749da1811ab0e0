#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "io/spill/throttle.hpp"

namespace ouzel::io {

/// Reading from or writing to one device: a throttle, the measured bandwidth and the measured time of a round. Exists
/// for a device, and for the share of one query with rates of its own. Thread-safe.
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
      average(1e9 / sample);
   }
   /// Bytes per second; 0: not known, because no request had to wait yet.
   double bandwidth() const { return bandwidth_.load(std::memory_order_relaxed); }
   /// Nanoseconds per byte, on average over a longer time than bandwidth(); 0: not known.
   double nanosPerByte() const { return average_.load(std::memory_order_relaxed); }
   /// Reports how long a request with few bytes took, while no other was in flight.
   void noteRound(int64_t nanos) {
      const double before = round_.load(std::memory_order_relaxed), sample = static_cast<double>(nanos);
      round_.store(before == 0 || sample < before ? sample : before + (sample - before) / 8, std::memory_order_relaxed);
   }
   /// Nanoseconds of a request besides the transfer of its bytes; 0: not known.
   double roundNanos() const { return round_.load(std::memory_order_relaxed); }
   /// Reports a run without waits: the device may be faster than measured. Raises the estimate a little, at most to
   /// twice the measurement.
   void doubt() {
      const double seen = seen_.load(std::memory_order_relaxed);
      bandwidth_.store(std::min(bandwidth() * 1.01, 2 * seen), std::memory_order_relaxed);
   }

private:
   void average(double sample) {
      constexpr uint32_t samplesMin = 16, samplesMax = 128;
      const uint32_t count = std::min(samples_.load(std::memory_order_relaxed) + 1, samplesMax);
      samples_.store(count, std::memory_order_relaxed);
      const double sum = sum_.load(std::memory_order_relaxed);
      sum_.store(sum + (sample - sum) / count, std::memory_order_relaxed);
      if (count >= samplesMin) average_.store(sum_.load(std::memory_order_relaxed), std::memory_order_relaxed);
   }

   std::atomic<double> round_{0};
   std::atomic<uint32_t> samples_{0};
   std::atomic<double> sum_{0}, average_{0}; ///< mean of the samples, at first of few; once there are enough of them
   std::atomic<uint64_t> bytes_{0};
   std::atomic<double> bandwidth_{0}, seen_{0}; ///< raised by doubt(); as last measured
};

} // namespace ouzel::io
