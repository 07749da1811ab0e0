#include "common/type/zone_history.hpp"

#include <absl/time/civil_time.h>
#include <absl/time/time.h>

#include "common/calendar/calendar.hpp"
#include "common/text/ascii.hpp"

namespace ouzel {

std::optional<int32_t> offsetOfAbbreviation(const TimeZone& zone, std::string_view abbreviation, int64_t timestamp) {
   absl::TimeZone history;
   if (!absl::LoadTimeZone(zone.name(), &history)) return std::nullopt;
   constexpr int64_t microsToUnixEpoch = static_cast<int64_t>(julianOfPostgresEpoch - julianOfUnixEpoch) * microsPerDay;
   const absl::Time instant = absl::UnixEpoch() + absl::Microseconds(timestamp) + absl::Microseconds(microsToUnixEpoch);
   const std::string wanted = lowerCase(abbreviation);
   const auto meaningAt = [&](absl::Time at) -> std::optional<int32_t> {
      const absl::TimeZone::CivilInfo info = history.At(at);
      if (lowerCase(info.zone_abbr) != wanted) return std::nullopt;
      return info.offset;
   };
   if (const auto now = meaningAt(instant)) return now;
   absl::TimeZone::CivilTransition change;
   for (absl::Time at = instant; history.PrevTransition(at, &change);) {
      at = history.At(change.to).trans;
      if (const auto before = meaningAt(at - absl::Seconds(1))) return before;
   }
   const absl::Time end = absl::FromCivil(absl::CivilSecond(2038, 1, 1), history); // later years repeat
   for (absl::Time at = instant; at < end && history.NextTransition(at, &change);) {
      at = history.At(change.to).trans;
      if (const auto after = meaningAt(at)) return after;
   }
   return std::nullopt;
}

} // namespace ouzel
