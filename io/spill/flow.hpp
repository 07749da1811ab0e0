#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "io/spill/throttle.hpp"

namespace ouzel::io {

/// Reading from or writing to one device: a throttle, and the measured bandwidth. Exists for a device, and for the
/// share of one query with rates of its own. Thread-safe.
class Flow {
public:
   Throttle throttle;

   /// Bytes transferred when a request begins; for finish().
   uint64_t begin() const { return bytes_.load(std::memory_order_relaxed); }
   /// Reports the end of a request that did not fail. `isExact`: the time of the end is known exactly, else it was not
   /// later. The device was never idle during the request, so the bytes of all requests in this time are a sample of
   /// its bandwidth. Samples from before a pause count less: a device that was slow then has few requests now.
   void finish(uint64_t atBegin, int64_t begun, int64_t ended, uint64_t bytes, bool isExact) {
      const uint64_t now = bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
      const int64_t nanos = ended - begun;
      if (nanos <= 0) return;
      const double sample = static_cast<double>(now - atBegin) * 1e9 / static_cast<double>(nanos);
      const double before = bandwidth_.load(std::memory_order_relaxed);
      const bool isStale = ended - lastSample_.load(std::memory_order_relaxed) > staleNanos;
      // An end that was seen late still tells that the device is faster than it was before the pause.
      if (!isExact && (!isStale || 1e9 / sample >= nanosPerByte())) return;
      // Concurrent updates may lose a sample.
      if (isStale)
         samples_.store(std::min(samples_.load(std::memory_order_relaxed), samplesAfterPause),
                        std::memory_order_relaxed);
      if (isExact) lastSample_.store(ended, std::memory_order_relaxed);
      const double seen = before == 0 ? sample : before + (sample - before) / 8;
      bandwidth_.store(seen, std::memory_order_relaxed);
      seen_.store(seen, std::memory_order_relaxed);
      average(1e9 / sample);
   }
   /// Bytes per second; 0: not known, because no request had to wait yet.
   double bandwidth() const { return bandwidth_.load(std::memory_order_relaxed); }
   /// Nanoseconds per byte, on average over a longer time than bandwidth(); 0: not known.
   double nanosPerByte() const { return average_.load(std::memory_order_relaxed); }
   /// Reports a run without waits: the device may be faster than measured. Raises the estimate a little, at most to
   /// twice the measurement.
   void doubt() {
      const double seen = seen_.load(std::memory_order_relaxed);
      bandwidth_.store(std::min(bandwidth() * 1.01, 2 * seen), std::memory_order_relaxed);
   }

private:
   static constexpr int64_t staleNanos = 2'000'000'000;
   /// Weight of the average, in samples, after a pause.
   static constexpr uint32_t samplesAfterPause = 4;
   static constexpr uint32_t samplesMin = 16, samplesMax = 128;

   void average(double sample) {
      const uint32_t count = std::min(samples_.load(std::memory_order_relaxed) + 1, samplesMax);
      samples_.store(count, std::memory_order_relaxed);
      const double sum = sum_.load(std::memory_order_relaxed);
      sum_.store(sum + (sample - sum) / count, std::memory_order_relaxed);
      if (count >= samplesMin || nanosPerByte() > 0)
         average_.store(sum_.load(std::memory_order_relaxed), std::memory_order_relaxed);
   }

   std::atomic<int64_t> lastSample_{0}; ///< steadyNanos() of the last exact end
   std::atomic<uint32_t> samples_{0};
   std::atomic<double> sum_{0}, average_{0}; ///< mean of the samples, at first of few; once there are enough of them
   std::atomic<uint64_t> bytes_{0};
   std::atomic<double> bandwidth_{0}, seen_{0}; ///< raised by doubt(); as last measured
};

} // namespace ouzel::io
