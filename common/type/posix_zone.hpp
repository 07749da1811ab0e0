#pragma once
#include <memory>
#include <string_view>

#include "common/type/time_zone.hpp"

// Time zones that a POSIX text describes, for time_zone.cpp: NAME[+-]hh[:mm[:ss]], then optionally the name and offset
// of daylight saving time and the rules for its begin and end, "PST8PDT,M3.2.0,M11.1.0". A name with other characters
// than letters stands in <>. Offsets count west.

namespace ouzel {

/// Null: `text` describes no zone. The zone's name is `text` in capital letters.
std::unique_ptr<TimeZone> parsePosixZone(std::string_view text);

} // namespace ouzel
