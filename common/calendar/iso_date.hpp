#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/calendar/calendar.hpp"

// Dates as most software writes them: 2026-11-25. Such a text means the same under every DateStyle.

namespace ouzel {

inline constexpr uint32_t isoDateSize = 10; ///< characters
inline constexpr int32_t isoDateMin = daysFromCivil(1, 1, 1), isoDateMax = daysFromCivil(9999, 12, 31);

/// Days since 2000-01-01; nothing for any other text, one with blanks or with a year of five digits, too.
std::optional<int32_t> parseIsoDate(std::string_view text);
/// Writes isoDateSize characters. REQUIRES: isoDateMin <= days <= isoDateMax.
void writeIsoDate(int32_t days, char* out);

} // namespace ouzel
