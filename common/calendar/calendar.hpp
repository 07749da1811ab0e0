#pragma once
#include <cstdint>

#include "common/error/check.hpp"

// The proleptic Gregorian calendar and the units of dates and timestamps. No time zones, no text.

namespace ouzel {

inline constexpr int64_t microsPerSecond = 1'000'000, microsPerMinute = 60 * microsPerSecond,
                         microsPerHour = 60 * microsPerMinute, microsPerDay = 24 * microsPerHour;
inline constexpr int32_t secondsPerDay = 86'400;

inline constexpr int32_t dateInfinity = INT32_MAX, dateMinusInfinity = INT32_MIN;
inline constexpr int64_t timestampInfinity = INT64_MAX, timestampMinusInfinity = INT64_MIN;
/// Julian day numbers of 2000-01-01 and 1970-01-01.
inline constexpr int32_t julianOfPostgresEpoch = 2'451'545, julianOfUnixEpoch = 2'440'588;
inline constexpr int32_t dateMin = -julianOfPostgresEpoch;                ///< 4714-11-24 BC
inline constexpr int32_t dateEnd = 2'147'483'494 - julianOfPostgresEpoch; ///< one past 5874897-12-31
inline constexpr int64_t timestampMin = -211'813'488'000'000'000;         ///< 4714-11-24 00:00:00 BC
inline constexpr int64_t timestampEnd = 9'223'371'331'200'000'000;        ///< 294277-01-01 00:00:00

constexpr bool isInfiniteDate(int32_t v) {
   return v == dateInfinity || v == dateMinusInfinity;
}
constexpr bool isInfiniteTimestamp(int64_t v) {
   return v == timestampInfinity || v == timestampMinusInfinity;
}
constexpr bool isValidDate(int64_t days) {
   return days >= dateMin && days < dateEnd;
}
constexpr bool isValidTimestamp(int64_t micros) {
   return micros >= timestampMin && micros < timestampEnd;
}

constexpr int64_t floorDivide(int64_t a, int64_t b) {
   return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

constexpr bool isLeapYear(int64_t year) {
   return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}
constexpr int32_t daysInMonth(int64_t year, int32_t month) {
   DCHECK(month >= 1);
   DCHECK(month <= 12);
   constexpr int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
   return month == 2 && isLeapYear(year) ? 29 : days[month - 1];
}

/// A civil date; years are astronomical: 0 is 1 BC, -1 is 2 BC.
struct CivilDate {
   int32_t year;
   int32_t month; ///< 1..12
   int32_t day;   ///< 1..31
   bool operator==(const CivilDate&) const = default;
};

/// Days since 2000-01-01. The day may lie outside its month, the month may not. (Neri & Schneider style: years start in
/// March, so that leap days come last.)
constexpr int64_t daysFromCivil(int64_t year, int32_t month, int64_t day) {
   DCHECK(month >= 1);
   DCHECK(month <= 12);
   year -= month <= 2;
   const int64_t era = floorDivide(year, 400);
   const int64_t yearOfEra = year - era * 400;
   const int64_t dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
   const int64_t dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
   return era * 146'097 + dayOfEra - 730'425;
}

constexpr CivilDate civilFromDays(int64_t days) {
   days += 730'425; // since 0000-03-01
   const int64_t era = floorDivide(days, 146'097);
   const uint32_t dayOfEra = static_cast<uint32_t>(days - era * 146'097);
   const uint32_t yearOfEra = (dayOfEra - dayOfEra / 1'460 + dayOfEra / 36'524 - dayOfEra / 146'096) / 365;
   const uint32_t dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
   const uint32_t shifted = (5 * dayOfYear + 2) / 153;
   const int32_t day = static_cast<int32_t>(dayOfYear - (153 * shifted + 2) / 5 + 1);
   const int32_t month = static_cast<int32_t>(shifted < 10 ? shifted + 3 : shifted - 9);
   return {static_cast<int32_t>(static_cast<int64_t>(yearOfEra) + era * 400 + (month <= 2)), month, day};
}
static_assert(daysFromCivil(2000, 1, 1) == 0 && daysFromCivil(-4713, 11, 24) == dateMin);
static_assert(civilFromDays(-1) == CivilDate{1999, 12, 31} && civilFromDays(dateEnd - 1) == CivilDate{5874897, 12, 31});
static_assert(timestampEnd / microsPerDay == daysFromCivil(294277, 1, 1));

/// 0 Sunday .. 6 Saturday.
constexpr int32_t dayOfWeek(int64_t days) {
   return static_cast<int32_t>(((days % 7) + 13) % 7);
}
static_assert(dayOfWeek(0) == 6 && dayOfWeek(-1) == 5);
constexpr int32_t dayOfYear(int64_t year, int32_t month, int32_t day) {
   return static_cast<int32_t>(daysFromCivil(year, month, day) - daysFromCivil(year, 1, 1)) + 1;
}

struct IsoWeek {
   int32_t year;
   int32_t week; ///< 1..53
};
constexpr IsoWeek isoWeek(int64_t days) {
   // The week belongs to the year of its Thursday.
   const int64_t thursday = days - (dayOfWeek(days) + 6) % 7 + 3;
   const int32_t year = civilFromDays(thursday).year;
   return {year, static_cast<int32_t>((thursday - daysFromCivil(year, 1, 1)) / 7) + 1};
}
/// The Monday of an ISO week.
constexpr int64_t daysFromIsoWeek(int64_t year, int64_t week) {
   const int64_t fourth = daysFromCivil(year, 1, 4);
   return fourth - (dayOfWeek(fourth) + 6) % 7 + (week - 1) * 7;
}

/// A timestamp taken apart.
struct CivilTime {
   CivilDate date;
   int32_t hour, minute, second, micros;
};
constexpr CivilTime civilFromTimestamp(int64_t timestamp) {
   const int64_t days = floorDivide(timestamp, microsPerDay);
   const int64_t rest = timestamp - days * microsPerDay;
   return {civilFromDays(days), static_cast<int32_t>(rest / microsPerHour),
           static_cast<int32_t>(rest / microsPerMinute % 60), static_cast<int32_t>(rest / microsPerSecond % 60),
           static_cast<int32_t>(rest % microsPerSecond)};
}

} // namespace ouzel
