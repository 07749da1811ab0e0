#include "io/spill/spill_device.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/log/log.hpp"
#include "io/spill/spill_tally.hpp"

namespace ouzel::io {

namespace {
constexpr int64_t second = 1'000'000'000;
constexpr int64_t refusalPause = second / 10;
std::atomic<uint64_t> filesMade{0};
constexpr uint32_t pauseDoublings = 6; ///< of the first pause of one second

void add(std::atomic<uint64_t>& ofDevice, std::atomic<uint64_t> SpillTally::*ofTally, uint64_t count) {
   ofDevice.fetch_add(count, std::memory_order_relaxed);
   if (SpillTally* const tally = SpillTallyScope::current())
      (tally->*ofTally).fetch_add(count, std::memory_order_relaxed);
}
} // namespace

SpillFile::SpillFile(SpillDevice& device)
   : device_(device), number_(filesMade.fetch_add(1, std::memory_order_relaxed)) {}

void SpillDevice::countWrites(uint64_t requests) {
   add(writeRequests, &SpillTally::writeRequests, requests);
}

void SpillDevice::countReads(uint64_t requests) {
   add(readRequests, &SpillTally::readRequests, requests);
}

void SpillDevice::countReadRound() {
   add(readRounds, &SpillTally::readRounds, 1);
}

void SpillDevice::countReadBytes(uint64_t bytes) {
   add(bytesRead, &SpillTally::readBytes, bytes);
}

void SpillDevice::countWriteWait(uint64_t nanos) {
   add(writeWaitNanos, &SpillTally::writeWaitNanos, nanos);
}

void SpillDevice::countReadWait(uint64_t nanos) {
   add(readWaitNanos, &SpillTally::readWaitNanos, nanos);
}

void SpillDevice::avoid(int64_t nanos) {
   avoidedUntil_.store(std::max(avoidedUntil_.load(std::memory_order_relaxed), steadyNanos() + nanos),
                       std::memory_order_relaxed);
}

void SpillDevice::refused() {
   avoid(refusalPause);
}

void SpillDevice::forgive() {
   const uint32_t row = failuresInRow_.load(std::memory_order_relaxed);
   const int64_t pause = second << std::min(row - std::min(row, 1U), pauseDoublings);
   if (steadyNanos() > avoidedUntil_.load(std::memory_order_relaxed) + pause)
      failuresInRow_.store(0, std::memory_order_relaxed);
}

void SpillDevice::failed(int error, std::string_view reason) {
   isDoubtful_.store(true, std::memory_order_relaxed);
   if (error != ENOSPC && error != EDQUOT) failures.fetch_add(1, std::memory_order_relaxed);
   // Requests that were in flight together fail together, which counts once.
   if (isAvoided()) return;
   const uint32_t before = std::min(failuresInRow_.fetch_add(1, std::memory_order_relaxed), pauseDoublings);
   avoid(second << before);
   logLine(LogLevel::Warning, "spilling to \"" + name +
                                  "\" failed: " + std::string(reason.empty() ? std::strerror(error) : reason) +
                                  "; it is avoided for " + std::to_string(1U << before) + " s");
}

} // namespace ouzel::io
