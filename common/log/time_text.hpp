#pragma once
#include <cstdint>
#include <string>

#include "common/log/settings.hpp"

// Points in time as the log shows them. All are microseconds since 2000-01-01 UTC.

namespace ouzel {

/// Seconds since 1970.
int64_t unixSeconds(int64_t micros);
/// "2026-03-01 12:34:56.789 UTC"; without the milliseconds when `hasMillis` is false.
std::string timeText(const LogZone& zone, int64_t micros, bool hasMillis);
/// strftime's conversions in the zone's local time.
std::string timeText(const LogZone& zone, int64_t micros, const std::string& pattern);

} // namespace ouzel
