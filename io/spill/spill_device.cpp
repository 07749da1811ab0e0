#include "io/spill/spill_device.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/log/log.hpp"

namespace ouzel::io {

namespace {
constexpr int64_t second = 1'000'000'000;
constexpr int64_t fullPause = second / 10;
constexpr uint32_t pauseDoublings = 6; ///< of the first pause of one second
} // namespace

void SpillDevice::failed(int error, std::string_view reason) {
   const int64_t now = steadyNanos();
   if (error == ENOSPC || error == EDQUOT) {
      avoidedUntil_.store(std::max(avoidedUntil_.load(std::memory_order_relaxed), now + fullPause),
                          std::memory_order_relaxed);
      return;
   }
   failures.fetch_add(1, std::memory_order_relaxed);
   // Requests that were in flight together fail together, which counts once.
   if (isAvoided()) return;
   const uint32_t before = std::min(failuresInRow_.fetch_add(1, std::memory_order_relaxed), pauseDoublings);
   avoidedUntil_.store(now + (second << before), std::memory_order_relaxed);
   logLine(LogLevel::Warning, "spilling to \"" + name +
                                  "\" failed: " + std::string(reason.empty() ? std::strerror(error) : reason) +
                                  "; it is avoided for " + std::to_string(1U << before) + " s");
}

} // namespace ouzel::io
