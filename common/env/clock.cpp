#include "common/env/clock.hpp"

#include <atomic>
#include <chrono>
#include <ctime>

namespace ouzel {

namespace {
constexpr int64_t epochShiftSeconds = 946'684'800; // 2000-01-01 as Unix time
std::atomic<int64_t (*)()> replacement{nullptr};

int64_t nanosOf(clockid_t clock) {
   timespec now{};
   ::clock_gettime(clock, &now);
   return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}
} // namespace

int64_t wallClockMicros() {
   if (const auto clock = replacement.load(std::memory_order_relaxed)) return clock();
   const auto now = std::chrono::system_clock::now().time_since_epoch();
   return std::chrono::duration_cast<std::chrono::microseconds>(now).count() - epochShiftSeconds * 1'000'000;
}

int64_t steadyNanos() {
   return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
       .count();
}

int64_t bootNanos() {
   return nanosOf(CLOCK_BOOTTIME);
}

int64_t threadCpuNanos() {
   return nanosOf(CLOCK_THREAD_CPUTIME_ID);
}

void setWallClock(int64_t (*clock)()) {
   replacement.store(clock, std::memory_order_relaxed);
}

} // namespace ouzel
