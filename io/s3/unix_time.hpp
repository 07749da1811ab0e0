#pragma once
#include <cstdint>

#include "common/env/clock.hpp"

namespace ouzel::io {

/// Seconds since 1970.
inline int64_t unixSeconds() {
   constexpr int64_t secondsFrom1970To2000 = 946'684'800;
   return wallClockMicros() / 1'000'000 + secondsFrom1970To2000;
}

} // namespace ouzel::io
