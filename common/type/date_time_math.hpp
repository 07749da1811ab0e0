#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/calendar/calendar.hpp"
#include "common/memory/arena.hpp"
#include "common/type/time_zone.hpp"
#include "common/value/physical_type.hpp"
#include "common/value/string_view.hpp"

// Arithmetic, fields and truncation of dates, times and intervals with PostgreSQL 15's results and errors
// (22008 "timestamp out of range", 22015 "interval out of range", 0A000 and 22023 for units).

namespace ouzel {

int64_t dateToTimestamp(int32_t date);                         ///< 22008
int64_t dateToTimestampTz(int32_t date, const TimeZone* zone); ///< local midnight
/// The same (without a zone: as a timestamp) to compare with: a date that no timestamp can have gives a value beyond
/// all of them and before infinity.
int64_t comparableTimestamp(int32_t date, const TimeZone* zone);
int32_t timestampToDate(int64_t timestamp); ///< infinities stay
int32_t timestampTzToDate(int64_t timestamp, const TimeZone* zone);
int64_t timestampToTime(int64_t timestamp); ///< REQUIRES: finite

int32_t addDays(int32_t date, int64_t days);               ///< 22008 "date out of range"
int32_t subtractDates(int32_t a, int32_t b);               ///< 22008 "cannot subtract infinite dates"
int64_t addInterval(int64_t timestamp, const Interval& v); ///< months, then days, then micros
int64_t subtractInterval(int64_t timestamp, const Interval& v);
/// Months and days move the local time.
int64_t addIntervalTz(int64_t timestamp, const Interval& v, const TimeZone* zone);
int64_t subtractIntervalTz(int64_t timestamp, const Interval& v, const TimeZone* zone);
Interval subtractTimestamps(int64_t a, int64_t b); ///< in days and time
Interval ageOfTimestamps(int64_t a, int64_t b);    ///< in years, months, days and time
Interval ageOfTimestampsTz(int64_t a, int64_t b, const TimeZone* zone);
int64_t addIntervalToTime(int64_t time, const Interval& v); ///< wraps at midnight

Interval addIntervals(const Interval& a, const Interval& b);
Interval subtractIntervals(const Interval& a, const Interval& b);
Interval negateInterval(const Interval& v);
Interval multiplyInterval(const Interval& v, double factor);
Interval divideInterval(const Interval& v, double divisor); ///< 22012
Interval justifyHours(const Interval& v);
Interval justifyDays(const Interval& v);
Interval justifyInterval(const Interval& v);
int compareIntervals(const Interval& a, const Interval& b);

/// A field of a date or interval, by its name.
enum class DateUnit : int32_t {
   None,
   Microsecond,
   Millisecond,
   Second,
   Minute,
   Hour,
   Day,
   Week,
   Month,
   Quarter,
   Year,
   Decade,
   Century,
   Millennium,
   Julian,
   Time,
   DayOfWeek,
   DayOfYear,
   IsoDayOfWeek,
   IsoYear,
   Epoch,
   Zone,
   ZoneHour,
   ZoneMinute
};
struct UnitName {
   DateUnit unit = DateUnit::None; ///< None: PostgreSQL has no unit of this name
   bool isTruncatable = false;     ///< date_trunc() knows fewer: no epoch, dow, ...
   std::string text;               ///< in lower case, for errors
};
/// As extract(), date_part() and date_trunc() read it: any case, PostgreSQL's abbreviations.
UnitName parseUnit(std::string_view text);

// Fields: extract() gives numeric, date_part() double precision. nullopt means NULL (infinite arguments). A unit that
// the type does not have throws 0A000; a word that is no unit throws 22023.
std::optional<StringView> extractFromDate(const UnitName& unit, int32_t date);
StringView extractFromTime(const UnitName& unit, int64_t time);
/// `zone` is in seconds east of Greenwich. The field epoch counts from midnight in Greenwich.
StringView extractFromTimeTz(const UnitName& unit, int64_t time, int32_t zone);
double datePartFromTimeTz(const UnitName& unit, int64_t time, int32_t zone);
std::optional<StringView> extractFromTimestamp(const UnitName& unit, int64_t timestamp, Arena& arena);
std::optional<StringView> extractFromTimestampTz(const UnitName& unit, int64_t timestamp, const TimeZone* zone,
                                                 Arena& arena);
StringView extractFromInterval(const UnitName& unit, const Interval& v, Arena& arena);
double datePartFromTime(const UnitName& unit, int64_t time);
std::optional<double> datePartFromTimestamp(const UnitName& unit, int64_t timestamp);
std::optional<double> datePartFromTimestampTz(const UnitName& unit, int64_t timestamp, const TimeZone* zone);
double datePartFromInterval(const UnitName& unit, const Interval& v);

int64_t truncateTimestamp(const UnitName& unit, int64_t timestamp);
int64_t truncateTimestampTz(const UnitName& unit, int64_t timestamp, const TimeZone* zone);
Interval truncateInterval(const UnitName& unit, const Interval& v);
/// date_bin(): the start of the stride-wide bin, counted from origin, that the timestamp falls into.
int64_t binTimestamp(const Interval& stride, int64_t timestamp, int64_t origin);

int32_t makeDate(int32_t year, int32_t month, int32_t day);     ///< 22008 "date field value out of range: ..."
int64_t makeTime(int32_t hour, int32_t minute, double seconds); ///< 22008
int64_t makeTimestamp(int32_t year, int32_t month, int32_t day, int32_t hour, int32_t minute, double seconds);
Interval makeInterval(int32_t years, int32_t months, int32_t weeks, int32_t days, int32_t hours, int32_t minutes,
                      double seconds);
int64_t timestampFromUnixSeconds(double seconds); ///< to_timestamp(double precision)

/// A zone argument of AT TIME ZONE: a name, an abbreviation or an offset. Throws 22023 `time zone "x" not recognized`.
struct ZoneArgument {
   const TimeZone* zone = nullptr; ///< null: the fixed offset
   int32_t seconds = 0;            ///< east of Greenwich
};
ZoneArgument parseZoneArgument(std::string_view text);
/// The zone argument of make_timestamptz(). An offset counts east, '+2', where AT TIME ZONE takes it for a POSIX name
/// and counts west. Throws 22023.
ZoneArgument parseOffsetOrZone(std::string_view text);
ZoneArgument zoneFromInterval(const Interval& v);                   ///< 22023 if it has months or days
int64_t atZoneToLocal(const ZoneArgument& zone, int64_t timestamp); ///< timestamptz -> timestamp
int64_t atZoneToInstant(const ZoneArgument& zone, int64_t local);   ///< timestamp -> timestamptz

} // namespace ouzel
