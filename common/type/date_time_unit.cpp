#include <cmath>
#include <cstdio>
#include <limits>

#include "common/error/sql_error.hpp"
#include "common/number/decimal.hpp"
#include "common/type/date_time.hpp"
#include "common/type/date_time_math.hpp"
#include "common/type/date_time_tokens.hpp"

// extract(), date_part(), date_trunc() and the make_*() functions.

namespace ouzel {

namespace {

constexpr const char *dateType = "date", *timeType = "time without time zone",
                     *timestampType = "timestamp without time zone", *timestampTzType = "timestamp with time zone",
                     *intervalType = "interval";

[[noreturn, gnu::cold]] void throwUnit(const UnitName& unit, const char* type) {
   const bool isKnown = unit.unit != DateUnit::None;
   throw SqlError(isKnown ? sqlstate::featureNotSupported : sqlstate::invalidParameterValue,
                  "unit \"" + unit.text + (isKnown ? "\" not supported" : "\" not recognized") + " for type " + type);
}

[[noreturn, gnu::cold]] void throwTruncation(const UnitName& unit, const char* type) {
   throwUnit({unit.isTruncatable ? unit.unit : DateUnit::None, unit.isTruncatable, unit.text}, type);
}

/// Years as people count them: 1 BC is -1.
int64_t countedYear(int64_t year) {
   return year > 0 ? year : year - 1;
}

int64_t decadeOf(int64_t year) {
   return year >= 0 ? year / 10 : -((8 - (year - 1)) / 10);
}
int64_t centuryOf(int64_t year) {
   return year > 0 ? (year + 99) / 100 : -((99 - (year - 1)) / 100);
}
int64_t millenniumOf(int64_t year) {
   return year > 0 ? (year + 999) / 1000 : -((999 - (year - 1)) / 1000);
}

/// A field: a whole number, or one in thousandths or millionths.
struct FieldValue {
   int64_t value = 0;
   int32_t scale = 0;
   StringView decimal() const { return decimal::fromInt64(value, scale); }
   double real() const {
      return scale == 0   ? static_cast<double>(value)
             : scale == 3 ? static_cast<double>(value) / 1000.0
                          : static_cast<double>(value) / 1'000'000.0;
   }
};

/// The fields that date and timestamps share.
bool calendarField(DateUnit unit, int64_t days, FieldValue& out) {
   const CivilDate d = civilFromDays(days);
   switch (unit) {
   case DateUnit::Day: out.value = d.day; return true;
   case DateUnit::Month: out.value = d.month; return true;
   case DateUnit::Quarter: out.value = (d.month - 1) / 3 + 1; return true;
   case DateUnit::Week: out.value = isoWeek(days).week; return true;
   case DateUnit::Year: out.value = countedYear(d.year); return true;
   case DateUnit::Decade: out.value = decadeOf(d.year); return true;
   case DateUnit::Century: out.value = centuryOf(d.year); return true;
   case DateUnit::Millennium: out.value = millenniumOf(d.year); return true;
   case DateUnit::IsoYear: out.value = countedYear(isoWeek(days).year); return true;
   case DateUnit::DayOfWeek: out.value = dayOfWeek(days); return true;
   case DateUnit::IsoDayOfWeek: out.value = dayOfWeek(days) == 0 ? 7 : dayOfWeek(days); return true;
   case DateUnit::DayOfYear: out.value = dayOfYear(d.year, d.month, d.day); return true;
   default: return false;
   }
}

/// The fields of a time of day.
bool clockField(DateUnit unit, int64_t time, FieldValue& out) {
   switch (unit) {
   case DateUnit::Microsecond: out.value = time % microsPerMinute; return true;
   case DateUnit::Millisecond: out = {time % microsPerMinute, 3}; return true;
   case DateUnit::Second: out = {time % microsPerMinute, 6}; return true;
   case DateUnit::Minute: out.value = time / microsPerMinute % 60; return true;
   case DateUnit::Hour: out.value = time / microsPerHour; return true;
   default: return false;
   }
}

constexpr int64_t unixEpoch = static_cast<int64_t>(julianOfUnixEpoch - julianOfPostgresEpoch) * microsPerDay;

bool growsForever(DateUnit unit) {
   switch (unit) {
   case DateUnit::Year:
   case DateUnit::Decade:
   case DateUnit::Century:
   case DateUnit::Millennium:
   case DateUnit::Julian:
   case DateUnit::IsoYear:
   case DateUnit::Epoch: return true;
   default: return false;
   }
}

/// True: the field of an infinite date is infinite, since it grows forever. False: the field is NULL. Throws for a unit
/// that the type does not have.
bool infiniteField(const UnitName& unit, bool hasClock, bool hasZone, const char* type) {
   if (growsForever(unit.unit)) return true;
   FieldValue ignored;
   if (calendarField(unit.unit, 0, ignored) || (hasClock && clockField(unit.unit, 0, ignored))) return false;
   if (hasZone && (unit.unit == DateUnit::Zone || unit.unit == DateUnit::ZoneHour || unit.unit == DateUnit::ZoneMinute))
      return false;
   throwUnit(unit, type);
}

/// A field of a local timestamp other than julian and epoch.
FieldValue timestampField(const UnitName& unit, int64_t local, const char* type) {
   FieldValue field;
   const int64_t days = floorDivide(local, microsPerDay);
   if (!calendarField(unit.unit, days, field) && !clockField(unit.unit, local - days * microsPerDay, field))
      throwUnit(unit, type);
   return field;
}

bool zoneField(DateUnit unit, int32_t offset, FieldValue& out) {
   switch (unit) {
   case DateUnit::Zone: out.value = offset; return true;
   case DateUnit::ZoneMinute: out.value = offset / 60 % 60; return true;
   case DateUnit::ZoneHour: out.value = offset / 3600; return true;
   default: return false;
   }
}

StringView epochOf(int64_t timestamp, Arena& arena) {
   return decimal::fromInt128(static_cast<int128>(timestamp) - unixEpoch, 6, arena);
}

double epochAsDouble(int64_t timestamp) {
   return timestamp < INT64_MAX + unixEpoch
              ? static_cast<double>(timestamp - unixEpoch) / 1'000'000.0
              : (static_cast<double>(timestamp) - static_cast<double>(unixEpoch)) / 1'000'000.0;
}

/// Julian day with its fraction.
StringView julianOf(int64_t local, Arena& arena) {
   const int64_t days = floorDivide(local, microsPerDay);
   const StringView fraction =
       decimal::divide(decimal::fromInt64(local - days * microsPerDay), decimal::fromInt64(microsPerDay), arena);
   return decimal::add(decimal::fromInt64(days + julianOfPostgresEpoch), fraction, arena);
}

double julianAsDouble(int64_t local) {
   const int64_t days = floorDivide(local, microsPerDay), rest = local - days * microsPerDay;
   return static_cast<double>(days + julianOfPostgresEpoch) +
          (static_cast<double>(rest / microsPerSecond) + static_cast<double>(rest % microsPerSecond) / 1'000'000.0) /
              static_cast<double>(secondsPerDay);
}

FieldValue intervalField(const UnitName& unit, const Interval& v) {
   const int64_t year = v.months / 12, month = v.months % 12;
   switch (unit.unit) {
   case DateUnit::Microsecond: return {v.micros % microsPerMinute, 0};
   case DateUnit::Millisecond: return {v.micros % microsPerMinute, 3};
   case DateUnit::Second: return {v.micros % microsPerMinute, 6};
   case DateUnit::Minute: return {v.micros / microsPerMinute % 60, 0};
   case DateUnit::Hour: return {v.micros / microsPerHour, 0};
   case DateUnit::Day: return {v.days, 0};
   case DateUnit::Month: return {month, 0};
   case DateUnit::Quarter: return {month / 3 + 1, 0};
   case DateUnit::Year: return {year, 0};
   case DateUnit::Decade: return {year / 10, 0};
   case DateUnit::Century: return {year / 100, 0};
   case DateUnit::Millennium: return {year / 1000, 0};
   default: throwUnit(unit, intervalType);
   }
}

/// The first day of the unit that contains `days`; unchanged for units below the day.
bool truncateDays(DateUnit unit, int64_t& days) {
   const CivilDate d = civilFromDays(days);
   const int64_t year = d.year;
   switch (unit) {
   case DateUnit::Week: days -= (dayOfWeek(days) + 6) % 7; return true;
   case DateUnit::Millennium:
      days = daysFromCivil(year > 0 ? (year + 999) / 1000 * 1000 - 999 : -((999 - (year - 1)) / 1000) * 1000 + 1, 1, 1);
      return true;
   case DateUnit::Century:
      days = daysFromCivil(year > 0 ? (year + 99) / 100 * 100 - 99 : -((99 - (year - 1)) / 100) * 100 + 1, 1, 1);
      return true;
   case DateUnit::Decade:
      days = daysFromCivil(year > 0 ? year / 10 * 10 : -((8 - (year - 1)) / 10) * 10, 1, 1);
      return true;
   case DateUnit::Year: days = daysFromCivil(year, 1, 1); return true;
   case DateUnit::Quarter: days = daysFromCivil(year, (d.month - 1) / 3 * 3 + 1, 1); return true;
   case DateUnit::Month: days = daysFromCivil(year, d.month, 1); return true;
   case DateUnit::Day: return true;
   default: return false;
   }
}

int64_t clockUnit(DateUnit unit) {
   switch (unit) {
   case DateUnit::Hour: return microsPerHour;
   case DateUnit::Minute: return microsPerMinute;
   case DateUnit::Second: return microsPerSecond;
   case DateUnit::Millisecond: return 1000;
   case DateUnit::Microsecond: return 1;
   default: return 0;
   }
}

/// As printf's %02d.
std::string twoDigits(int32_t v) {
   std::string text = std::to_string(v);
   return text.size() < 2 ? "0" + text : text;
}

std::string secondsText(double seconds) {
   if (std::isnan(seconds)) return "NaN";
   char buffer[64];
   const int length = std::snprintf(buffer, sizeof buffer, "%02g", seconds);
   return std::string(buffer, static_cast<size_t>(length));
}

/// The days of a date whose parts were given as numbers; a negative year is BC.
int64_t checkedDays(int32_t year, int32_t month, int32_t day) {
   int64_t civilYear = year;
   if (year < 0) civilYear = static_cast<int64_t>(year) + 1;
   if (year == 0 || month < 1 || month > 12 || day < 1 || day > daysInMonth(civilYear, month))
      throw SqlError(sqlstate::datetimeFieldOverflow, "date field value out of range: " + std::to_string(year) + '-' +
                                                          twoDigits(month) + '-' + twoDigits(day));
   return daysFromCivil(civilYear, month, day);
}

} // namespace

UnitName parseUnit(std::string_view text) {
   UnitName name;
   for (const char c : text)
      name.text.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
   using namespace date_time;
   Word w = findIntervalWord(name.text);
   name.isTruncatable = w.token == Token::Units;
   if (w.token == Token::Unknown) w = findDateWord(name.text);
   if (w.token == Token::Units) name.unit = static_cast<DateUnit>(w.value);
   if (w.token == Token::Reserved && w.value == static_cast<int32_t>(Reserved::Epoch)) name.unit = DateUnit::Epoch;
   return name;
}

std::optional<StringView> extractFromDate(const UnitName& unit, int32_t date) {
   if (isInfiniteDate(date)) {
      if (!infiniteField(unit, false, false, dateType)) return std::nullopt;
      return decimal::infinity(date == dateMinusInfinity);
   }
   if (unit.unit == DateUnit::Julian) return decimal::fromInt64(static_cast<int64_t>(date) + julianOfPostgresEpoch);
   if (unit.unit == DateUnit::Epoch)
      return decimal::fromInt64((static_cast<int64_t>(date) - (julianOfUnixEpoch - julianOfPostgresEpoch)) *
                                secondsPerDay);
   FieldValue field;
   if (!calendarField(unit.unit, date, field)) throwUnit(unit, dateType);
   return field.decimal();
}

namespace {

FieldValue timeField(const UnitName& unit, int64_t time, const char* type = timeType) {
   FieldValue field;
   if (unit.unit == DateUnit::Epoch)
      field = {time, 6};
   else if (!clockField(unit.unit, time, field))
      throwUnit(unit, type);
   return field;
}

FieldValue timeTzField(const UnitName& unit, int64_t time, int32_t zone) {
   FieldValue field;
   if (zoneField(unit.unit, zone, field)) return field;
   const int64_t shift = unit.unit == DateUnit::Epoch ? zone * microsPerSecond : 0;
   return timeField(unit, time - shift, "time with time zone");
}

} // namespace

StringView extractFromTimeTz(const UnitName& unit, int64_t time, int32_t zone) {
   return timeTzField(unit, time, zone).decimal();
}
double datePartFromTimeTz(const UnitName& unit, int64_t time, int32_t zone) {
   return timeTzField(unit, time, zone).real();
}
StringView extractFromTime(const UnitName& unit, int64_t time) {
   return timeField(unit, time).decimal();
}
double datePartFromTime(const UnitName& unit, int64_t time) {
   return timeField(unit, time).real();
}

std::optional<StringView> extractFromTimestamp(const UnitName& unit, int64_t timestamp, Arena& arena) {
   if (isInfiniteTimestamp(timestamp)) {
      if (!infiniteField(unit, true, true, timestampType)) return std::nullopt;
      return decimal::infinity(timestamp < 0);
   }
   if (unit.unit == DateUnit::Epoch) return epochOf(timestamp, arena);
   if (unit.unit == DateUnit::Julian) return julianOf(timestamp, arena);
   return timestampField(unit, timestamp, timestampType).decimal();
}

std::optional<double> datePartFromTimestamp(const UnitName& unit, int64_t timestamp) {
   if (isInfiniteTimestamp(timestamp)) {
      if (!infiniteField(unit, true, true, timestampType)) return std::nullopt;
      const double infinity = std::numeric_limits<double>::infinity();
      return timestamp < 0 ? -infinity : infinity;
   }
   if (unit.unit == DateUnit::Epoch) return epochAsDouble(timestamp);
   if (unit.unit == DateUnit::Julian) return julianAsDouble(timestamp);
   return timestampField(unit, timestamp, timestampType).real();
}

std::optional<StringView> extractFromTimestampTz(const UnitName& unit, int64_t timestamp, const TimeZone* zone,
                                                 Arena& arena) {
   if (isInfiniteTimestamp(timestamp)) {
      if (!infiniteField(unit, true, true, timestampTzType)) return std::nullopt;
      return decimal::infinity(timestamp < 0);
   }
   if (unit.unit == DateUnit::Epoch) return epochOf(timestamp, arena);
   FieldValue field;
   if (zoneField(unit.unit, zoneOffsetAt(zone, timestamp), field)) return field.decimal();
   const int64_t local = clockTimeOf(zone, timestamp);
   if (unit.unit == DateUnit::Julian) return julianOf(local, arena);
   return timestampField(unit, local, timestampTzType).decimal();
}

std::optional<double> datePartFromTimestampTz(const UnitName& unit, int64_t timestamp, const TimeZone* zone) {
   if (isInfiniteTimestamp(timestamp)) {
      if (!infiniteField(unit, true, true, timestampTzType)) return std::nullopt;
      const double infinity = std::numeric_limits<double>::infinity();
      return timestamp < 0 ? -infinity : infinity;
   }
   if (unit.unit == DateUnit::Epoch) return epochAsDouble(timestamp);
   FieldValue field;
   if (zoneField(unit.unit, zoneOffsetAt(zone, timestamp), field)) return field.real();
   const int64_t local = clockTimeOf(zone, timestamp);
   if (unit.unit == DateUnit::Julian) return julianAsDouble(local);
   return timestampField(unit, local, timestampTzType).real();
}

StringView extractFromInterval(const UnitName& unit, const Interval& v, Arena& arena) {
   if (unit.unit != DateUnit::Epoch) return intervalField(unit, v).decimal();
   // Years of 365.25 days, months of 30.
   const int128 quarterDays = static_cast<int128>(1461) * (v.months / 12) + 120 * static_cast<int64_t>(v.months % 12) +
                              4 * static_cast<int64_t>(v.days);
   return decimal::fromInt128(quarterDays * (microsPerDay / 4) + v.micros, 6, arena);
}

double datePartFromInterval(const UnitName& unit, const Interval& v) {
   if (unit.unit != DateUnit::Epoch) return intervalField(unit, v).real();
   double result = static_cast<double>(v.micros) / 1'000'000.0;
   result += 365.25 * secondsPerDay * (v.months / 12);
   result += 30.0 * secondsPerDay * (v.months % 12);
   return result + static_cast<double>(secondsPerDay) * v.days;
}

int64_t truncateTimestamp(const UnitName& unit, int64_t timestamp) {
   if (isInfiniteTimestamp(timestamp)) return timestamp;
   if (const int64_t width = clockUnit(unit.unit)) return floorDivide(timestamp, width) * width;
   int64_t days = floorDivide(timestamp, microsPerDay);
   if (!truncateDays(unit.unit, days)) throwTruncation(unit, timestampType);
   if (!isValidDate(days) || !isValidTimestamp(days * microsPerDay))
      throw SqlError(sqlstate::datetimeValueOutOfRange, "timestamp out of range");
   return days * microsPerDay;
}

int64_t truncateTimestampTz(const UnitName& unit, int64_t timestamp, const TimeZone* zone) {
   if (isInfiniteTimestamp(timestamp)) return timestamp;
   const int64_t offset = static_cast<int64_t>(zoneOffsetAt(zone, timestamp)) * microsPerSecond;
   const int64_t local = clockTimeOf(zone, timestamp);
   // Units below the day keep the offset.
   int64_t days = floorDivide(local, microsPerDay), instant = timestampInfinity;
   if (const int64_t width = clockUnit(unit.unit))
      instant = floorDivide(local, width) * width - offset;
   else if (!truncateDays(unit.unit, days))
      throwTruncation(unit, timestampTzType);
   else if (isValidDate(days))
      instant = localToTimestamp(zone, days * microsPerDay);
   if (!isValidTimestamp(instant)) throw SqlError(sqlstate::datetimeValueOutOfRange, "timestamp out of range");
   return instant;
}

Interval truncateInterval(const UnitName& unit, const Interval& v) {
   const auto months = [&](int32_t width) { return Interval{0, 0, v.months / width * width}; };
   switch (unit.unit) {
   case DateUnit::Millennium: return months(12'000);
   case DateUnit::Century: return months(1'200);
   case DateUnit::Decade: return months(120);
   case DateUnit::Year: return months(12);
   case DateUnit::Quarter: return months(3);
   case DateUnit::Month: return months(1);
   case DateUnit::Day: return {0, v.days, v.months};
   case DateUnit::Week:
      throw SqlError(sqlstate::featureNotSupported, "unit \"week\" not supported for type interval")
          .detail("Months usually have fractional weeks.");
   default: break;
   }
   const int64_t width = clockUnit(unit.unit);
   if (width == 0) throwTruncation(unit, intervalType);
   return {v.micros / width * width, v.days, v.months};
}

int32_t makeDate(int32_t year, int32_t month, int32_t day) {
   const int64_t days = checkedDays(year, month, day);
   if (!isValidDate(days))
      throw SqlError(sqlstate::datetimeValueOutOfRange,
                     "date out of range: " + std::to_string(civilFromDays(days).year) + '-' + twoDigits(month) + '-' +
                         twoDigits(day));
   return static_cast<int32_t>(days);
}

int64_t makeTime(int32_t hour, int32_t minute, double seconds) {
   const double total = std::rint(seconds * 1'000'000.0);
   const bool fits = hour >= 0 && hour <= 24 && minute >= 0 && minute <= 59 && seconds >= 0 &&
                     total <= 60.0 * 1'000'000.0 &&
                     (hour * 60 + minute) * microsPerMinute + static_cast<int64_t>(total) <= microsPerDay;
   if (!fits)
      throw SqlError(sqlstate::datetimeFieldOverflow, "time field value out of range: " + std::to_string(hour) + ':' +
                                                          twoDigits(minute) + ':' + secondsText(seconds));
   return (hour * 60 + minute) * microsPerMinute + static_cast<int64_t>(total);
}

int64_t makeTimestamp(int32_t year, int32_t month, int32_t day, int32_t hour, int32_t minute, double seconds) {
   const int64_t days = checkedDays(year, month, day);
   const int64_t time = makeTime(hour, minute, seconds);
   const int128 result = static_cast<int128>(days) * microsPerDay + time;
   if (result < timestampMin || result >= timestampEnd)
      throw SqlError(sqlstate::datetimeValueOutOfRange,
                     "timestamp out of range: " + std::to_string(year) + '-' + twoDigits(month) + '-' + twoDigits(day) +
                         ' ' + std::to_string(hour) + ':' + twoDigits(minute) + ':' + secondsText(seconds));
   return static_cast<int64_t>(result);
}

Interval makeInterval(int32_t years, int32_t months, int32_t weeks, int32_t days, int32_t hours, int32_t minutes,
                      double seconds) {
   const int64_t allMonths = static_cast<int64_t>(years) * 12 + months,
                 allDays = static_cast<int64_t>(weeks) * 7 + days;
   const double micros = std::rint(seconds * 1'000'000.0);
   const int128 time = std::fabs(micros) < 9.2e18 ? (static_cast<int128>(hours) * 60 + minutes) * microsPerMinute +
                                                        static_cast<int64_t>(micros)
                                                  : static_cast<int128>(INT64_MAX) + 1;
   if (allMonths != static_cast<int32_t>(allMonths) || allDays != static_cast<int32_t>(allDays) || time > INT64_MAX ||
       time < INT64_MIN)
      throw SqlError(sqlstate::datetimeValueOutOfRange, "interval out of range");
   return {static_cast<int64_t>(time), static_cast<int32_t>(allDays), static_cast<int32_t>(allMonths)};
}

int64_t timestampFromUnixSeconds(double seconds) {
   if (std::isnan(seconds)) throw SqlError(sqlstate::datetimeValueOutOfRange, "timestamp cannot be NaN");
   if (std::isinf(seconds)) return seconds < 0 ? timestampMinusInfinity : timestampInfinity;
   const double micros = std::rint((seconds + static_cast<double>(unixEpoch / microsPerSecond)) * 1'000'000.0);
   if (micros < static_cast<double>(timestampMin) || micros >= static_cast<double>(timestampEnd)) {
      char buffer[64];
      const int length = std::snprintf(buffer, sizeof buffer, "timestamp out of range: \"%g\"", seconds);
      throw SqlError(sqlstate::datetimeValueOutOfRange, std::string(buffer, static_cast<size_t>(length)));
   }
   return static_cast<int64_t>(micros);
}

ZoneArgument parseZoneArgument(std::string_view text) {
   if (const std::optional<ZoneAbbreviation> abbreviation = findZoneAbbreviation(text))
      return {abbreviation->zone, abbreviation->seconds};
   const TimeZone* zone = findTimeZone(text);
   if (!zone) throw SqlError(sqlstate::invalidParameterValue, "time zone \"" + std::string(text) + "\" not recognized");
   return {zone, 0};
}

ZoneArgument parseOffsetOrZone(std::string_view text) {
   if (!text.empty() && text[0] >= '0' && text[0] <= '9')
      throw SqlError(sqlstate::invalidParameterValue,
                     "invalid input syntax for type numeric time zone: \"" + std::string(text) + "\"")
          .hint("Numeric time zones must have \"-\" or \"+\" as first character.");
   ZoneArgument argument;
   switch (date_time::parseOffset(text, argument.seconds)) {
   case date_time::Failure::None: return argument;
   case date_time::Failure::DisplacementOverflow:
      throw SqlError(sqlstate::invalidParameterValue, "numeric time zone \"" + std::string(text) + "\" out of range");
   default: return parseZoneArgument(text);
   }
}

ZoneArgument zoneFromInterval(const Interval& v) {
   if (v.months != 0 || v.days != 0) {
      std::string text;
      appendInterval(text, v, SessionFormat());
      throw SqlError(sqlstate::invalidParameterValue,
                     "interval time zone \"" + text + "\" must not include months or days");
   }
   return {nullptr, static_cast<int32_t>(v.micros / microsPerSecond)};
}

int64_t atZoneToLocal(const ZoneArgument& zone, int64_t timestamp) {
   if (zone.zone) return timestampToLocal(zone.zone, timestamp);
   if (isInfiniteTimestamp(timestamp)) return timestamp;
   const int64_t local = timestamp + zone.seconds * microsPerSecond;
   if (!isValidTimestamp(local)) throw SqlError(sqlstate::datetimeValueOutOfRange, "timestamp out of range");
   return local;
}

int64_t atZoneToInstant(const ZoneArgument& zone, int64_t local) {
   if (zone.zone) return localToTimestamp(zone.zone, local);
   if (isInfiniteTimestamp(local)) return local;
   const int64_t timestamp = local - zone.seconds * microsPerSecond;
   if (!isValidTimestamp(timestamp)) throw SqlError(sqlstate::datetimeValueOutOfRange, "timestamp out of range");
   return timestamp;
}

} // namespace ouzel
