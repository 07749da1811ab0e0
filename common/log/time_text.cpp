#include "common/log/time_text.hpp"

#include <ctime>
#include <fmt/format.h>

namespace ouzel {

namespace {

constexpr int64_t second = 1'000'000;
constexpr int64_t epochShift = 946'684'800; // 2000-01-01 in seconds since 1970

int64_t floorSeconds(int64_t micros) {
   return micros >= 0 ? micros / second : -((-micros + second - 1) / second);
}

LogZoneOffset offsetAt(const LogZone& zone, int64_t micros) {
   return zone ? zone(micros) : LogZoneOffset();
}

std::tm localTime(int64_t micros, int32_t offset) {
   const std::time_t local = unixSeconds(micros) + offset;
   std::tm parts{};
   gmtime_r(&local, &parts);
   return parts;
}

} // namespace

int64_t unixSeconds(int64_t micros) {
   return floorSeconds(micros) + epochShift;
}

std::string timeText(const LogZone& zone, int64_t micros, bool hasMillis) {
   const LogZoneOffset offset = offsetAt(zone, micros);
   const std::tm t = localTime(micros, offset.seconds);
   std::string text = fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday,
                                  t.tm_hour, t.tm_min, t.tm_sec);
   if (hasMillis) text += fmt::format(".{:03}", (micros - floorSeconds(micros) * second) / 1000);
   return text.append(1, ' ').append(offset.abbreviation);
}

std::string timeText(const LogZone& zone, int64_t micros, const std::string& pattern) {
   const LogZoneOffset offset = offsetAt(zone, micros);
   std::tm t = localTime(micros, offset.seconds);
   const std::string abbreviation(offset.abbreviation);
   t.tm_gmtoff = offset.seconds;
   t.tm_zone = abbreviation.c_str();
   char text[1024];
   return {text, std::strftime(text, sizeof text, pattern.c_str(), &t)};
}

} // namespace ouzel
