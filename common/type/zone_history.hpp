#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/type/time_zone.hpp"

namespace ouzel {

/// The offset, in seconds east, that an abbreviation in any case means in a zone at an instant: its latest meaning at
/// or before the instant, else its first one after. "MSK" was three hours, four from 2011 to 2014, and three again.
/// None if the zone never uses the abbreviation.
std::optional<int32_t> offsetOfAbbreviation(const TimeZone& zone, std::string_view abbreviation, int64_t timestamp);

} // namespace ouzel
