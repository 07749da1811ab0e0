#pragma once
#include <cstdint>

// The machine's clocks, here only, so that tests can replace them.

namespace ouzel {

/// Microseconds since 2000-01-01 00:00 UTC, as SQL timestamps count. Thread-safe.
int64_t wallClockMicros();
/// Nanoseconds of a clock that never goes back, for durations. Thread-safe.
int64_t steadyNanos();
/// Nanoseconds of a clock that never goes back and goes on while the machine sleeps. Thread-safe.
int64_t bootNanos();
/// Processor time of the calling thread.
int64_t threadCpuNanos();
/// Replace the wall clock (null: the real one again). For tests, before threads start.
void setWallClock(int64_t (*clock)());

} // namespace ouzel
