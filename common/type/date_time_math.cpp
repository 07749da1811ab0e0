#include "common/type/date_time_math.hpp"

#include <algorithm>
#include <cmath>

#include "common/error/sql_error.hpp"

namespace ouzel {

namespace {

[[noreturn, gnu::cold]] void throwOutOfRange(const char* what) {
   throw SqlError(sqlstate::datetimeValueOutOfRange, std::string(what) + " out of range");
}
[[noreturn, gnu::cold]] void throwIntervalRange() {
   throwOutOfRange("interval");
}

int64_t checkedTimestamp(int128 v) {
   if (v < timestampMin || v >= timestampEnd) throwOutOfRange("timestamp");
   return static_cast<int64_t>(v);
}

/// The day `months` later, or the last one of its month if that is shorter.
int64_t addMonths(int64_t days, int32_t months) {
   const CivilDate d = civilFromDays(days);
   const int64_t month = static_cast<int64_t>(d.year) * 12 + (d.month - 1) + months;
   const int64_t year = floorDivide(month, 12);
   const int32_t monthOfYear = static_cast<int32_t>(month - year * 12) + 1;
   const int32_t last = daysInMonth(year, monthOfYear);
   return daysFromCivil(year, monthOfYear, d.day < last ? d.day : last);
}

/// Months and days on the local calendar.
int64_t addCalendar(int64_t local, const Interval& v) {
   const int64_t days = floorDivide(local, microsPerDay);
   const int64_t moved = (v.months != 0 ? addMonths(days, v.months) : days) + v.days;
   return checkedTimestamp(static_cast<int128>(moved) * microsPerDay + (local - days * microsPerDay));
}

Interval negated(const Interval& v) {
   if (v.months == INT32_MIN || v.days == INT32_MIN || v.micros == INT64_MIN) throwIntervalRange();
   return {-v.micros, -v.days, -v.months};
}

double roundToMicros(double v) {
   return std::rint(v * 1e6) / 1e6;
}

int32_t toInt32(double v) {
   if (!(v >= -2147483648.0 && v < 2147483648.0)) throwIntervalRange();
   return static_cast<int32_t>(v);
}

/// v * factor; fractions of months go to days and those of days to the time, in PostgreSQL's order of rounding.
template <typename Scale>
Interval scaleInterval(const Interval& v, Scale&& scale) {
   Interval result;
   const double months = scale(static_cast<double>(v.months)), days = scale(static_cast<double>(v.days));
   result.months = toInt32(months);
   result.days = toInt32(days);
   const double monthRestDays = roundToMicros((months - result.months) * 30);
   double restSeconds =
       roundToMicros((days - result.days + monthRestDays - static_cast<int32_t>(monthRestDays)) * secondsPerDay);
   int64_t extraDays = static_cast<int32_t>(monthRestDays);
   if (std::fabs(restSeconds) >= secondsPerDay) {
      const int32_t whole = static_cast<int32_t>(restSeconds / secondsPerDay);
      extraDays += whole;
      restSeconds -= static_cast<double>(whole) * secondsPerDay;
   }
   if (__builtin_add_overflow(result.days, extraDays, &result.days)) throwIntervalRange();
   const double micros = std::rint(scale(static_cast<double>(v.micros)) + restSeconds * 1e6);
   if (!(micros >= -9223372036854775808.0 && micros < 9223372036854775808.0)) throwIntervalRange();
   result.micros = static_cast<int64_t>(micros);
   return result;
}

/// Move whole units from the smaller part to the larger and make their signs agree.
template <typename Small, typename Large>
void justify(Small& small, Large& large, Small unit) {
   if (__builtin_add_overflow(large, static_cast<Large>(small / unit), &large)) throwIntervalRange();
   small %= unit;
}

/// Parts of the age, borrowed downwards.
struct Difference {
   int64_t year, month, day, hour, minute, second, micros;
   void negate() {
      year = -year;
      month = -month;
      day = -day;
      hour = -hour;
      minute = -minute;
      second = -second;
      micros = -micros;
   }
};

} // namespace

int64_t dateToTimestamp(int32_t date) {
   if (date == dateInfinity) return timestampInfinity;
   if (date == dateMinusInfinity) return timestampMinusInfinity;
   if (date >= timestampEnd / microsPerDay)
      throw SqlError(sqlstate::datetimeValueOutOfRange, "date out of range for timestamp");
   return date * microsPerDay;
}

int64_t dateToTimestampTz(int32_t date, const TimeZone* zone) {
   return localToTimestamp(zone, dateToTimestamp(date));
}

int64_t comparableTimestamp(int32_t date, const TimeZone* zone) {
   if (date == dateInfinity) return timestampInfinity;
   if (date == dateMinusInfinity) return timestampMinusInfinity;
   if (date >= timestampEnd / microsPerDay) return timestampEnd;
   const int64_t local = date * microsPerDay;
   const int64_t instant = local - static_cast<int64_t>(zoneOffsetOfLocal(zone, local)) * microsPerSecond;
   return std::clamp(instant, timestampMin - 1, timestampEnd);
}

int32_t timestampToDate(int64_t timestamp) {
   if (timestamp == timestampInfinity) return dateInfinity;
   if (timestamp == timestampMinusInfinity) return dateMinusInfinity;
   return static_cast<int32_t>(floorDivide(timestamp, microsPerDay));
}

int32_t timestampTzToDate(int64_t timestamp, const TimeZone* zone) {
   return timestampToDate(clockTimeOf(zone, timestamp));
}

int64_t timestampToTime(int64_t timestamp) {
   return timestamp - floorDivide(timestamp, microsPerDay) * microsPerDay;
}

int32_t addDays(int32_t date, int64_t days) {
   if (isInfiniteDate(date)) return date;
   const int64_t result = date + days;
   if (!isValidDate(result)) throwOutOfRange("date");
   return static_cast<int32_t>(result);
}

int32_t subtractDates(int32_t a, int32_t b) {
   if (isInfiniteDate(a) || isInfiniteDate(b))
      throw SqlError(sqlstate::datetimeValueOutOfRange, "cannot subtract infinite dates");
   return a - b;
}

int64_t addInterval(int64_t timestamp, const Interval& v) {
   if (isInfiniteTimestamp(timestamp)) return timestamp;
   const int64_t moved = (v.months | v.days) != 0 ? addCalendar(timestamp, v) : timestamp;
   return checkedTimestamp(static_cast<int128>(moved) + v.micros);
}

int64_t subtractInterval(int64_t timestamp, const Interval& v) {
   return addInterval(timestamp, negated(v));
}

int64_t addIntervalTz(int64_t timestamp, const Interval& v, const TimeZone* zone) {
   if (isInfiniteTimestamp(timestamp)) return timestamp;
   int64_t moved = timestamp;
   // As in PostgreSQL, each step converts to local time and back: a time that the months moved into a gap has left the
   // gap before the days are added.
   if (v.months != 0) moved = localToTimestamp(zone, addCalendar(clockTimeOf(zone, moved), {0, 0, v.months}));
   if (v.days != 0) moved = localToTimestamp(zone, addCalendar(clockTimeOf(zone, moved), {0, v.days, 0}));
   return checkedTimestamp(static_cast<int128>(moved) + v.micros);
}

int64_t subtractIntervalTz(int64_t timestamp, const Interval& v, const TimeZone* zone) {
   return addIntervalTz(timestamp, negated(v), zone);
}

Interval subtractTimestamps(int64_t a, int64_t b) {
   if (isInfiniteTimestamp(a) || isInfiniteTimestamp(b))
      throw SqlError(sqlstate::datetimeValueOutOfRange, "cannot subtract infinite timestamps");
   int64_t difference;
   if (__builtin_sub_overflow(a, b, &difference)) throwIntervalRange();
   return justifyHours({difference, 0, 0});
}

Interval ageOfTimestamps(int64_t a, int64_t b) {
   // PostgreSQL computes with infinity as with a date; -infinity has none.
   if (a == timestampMinusInfinity || b == timestampMinusInfinity)
      throw SqlError(sqlstate::datetimeValueOutOfRange, "timestamp out of range");
   const CivilTime x = civilFromTimestamp(a), y = civilFromTimestamp(b);
   Difference d{static_cast<int64_t>(x.date.year) - y.date.year,
                x.date.month - y.date.month,
                x.date.day - y.date.day,
                x.hour - y.hour,
                x.minute - y.minute,
                x.second - y.second,
                x.micros - y.micros};
   const bool isNegative = a < b;
   if (isNegative) d.negate();
   const auto borrow = [](int64_t& part, int64_t& higher, int64_t unit) {
      while (part < 0) {
         part += unit;
         --higher;
      }
   };
   borrow(d.micros, d.second, microsPerSecond);
   borrow(d.second, d.minute, 60);
   borrow(d.minute, d.hour, 60);
   borrow(d.hour, d.day, 24);
   // A borrowed month has as many days as the month of the earlier date.
   const CivilDate earlier = isNegative ? x.date : y.date;
   borrow(d.day, d.month, daysInMonth(earlier.year, earlier.month));
   borrow(d.month, d.year, 12);
   if (isNegative) d.negate();
   return {((d.hour * 60 + d.minute) * 60 + d.second) * microsPerSecond + d.micros, static_cast<int32_t>(d.day),
           static_cast<int32_t>(d.year * 12 + d.month)};
}

Interval ageOfTimestampsTz(int64_t a, int64_t b, const TimeZone* zone) {
   return ageOfTimestamps(clockTimeOf(zone, a), clockTimeOf(zone, b));
}

int64_t addIntervalToTime(int64_t time, const Interval& v) {
   const int64_t result = (time + v.micros % microsPerDay) % microsPerDay;
   return result < 0 ? result + microsPerDay : result;
}

Interval addIntervals(const Interval& a, const Interval& b) {
   Interval result;
   if (__builtin_add_overflow(a.months, b.months, &result.months) ||
       __builtin_add_overflow(a.days, b.days, &result.days) ||
       __builtin_add_overflow(a.micros, b.micros, &result.micros))
      throwIntervalRange();
   return result;
}

Interval subtractIntervals(const Interval& a, const Interval& b) {
   Interval result;
   if (__builtin_sub_overflow(a.months, b.months, &result.months) ||
       __builtin_sub_overflow(a.days, b.days, &result.days) ||
       __builtin_sub_overflow(a.micros, b.micros, &result.micros))
      throwIntervalRange();
   return result;
}

Interval negateInterval(const Interval& v) {
   return negated(v);
}

Interval multiplyInterval(const Interval& v, double factor) {
   return scaleInterval(v, [factor](double part) { return part * factor; });
}

Interval divideInterval(const Interval& v, double divisor) {
   if (divisor == 0) throw SqlError(sqlstate::divisionByZero, "division by zero");
   return scaleInterval(v, [divisor](double part) { return part / divisor; });
}

Interval justifyHours(const Interval& v) {
   Interval result = v;
   justify(result.micros, result.days, microsPerDay);
   if (result.days > 0 && result.micros < 0) {
      result.micros += microsPerDay;
      --result.days;
   } else if (result.days < 0 && result.micros > 0) {
      result.micros -= microsPerDay;
      ++result.days;
   }
   return result;
}

Interval justifyDays(const Interval& v) {
   Interval result = v;
   justify(result.days, result.months, 30);
   if (result.months > 0 && result.days < 0) {
      result.days += 30;
      --result.months;
   } else if (result.months < 0 && result.days > 0) {
      result.days -= 30;
      ++result.months;
   }
   return result;
}

Interval justifyInterval(const Interval& v) {
   Interval result = v;
   // Days first where both would push days beyond their range.
   if ((result.days > 0 && result.micros > 0) || (result.days < 0 && result.micros < 0))
      justify(result.days, result.months, 30);
   justify(result.micros, result.days, microsPerDay);
   justify(result.days, result.months, 30);
   if (result.months > 0 && (result.days < 0 || (result.days == 0 && result.micros < 0))) {
      result.days += 30;
      --result.months;
   } else if (result.months < 0 && (result.days > 0 || (result.days == 0 && result.micros > 0))) {
      result.days -= 30;
      ++result.months;
   }
   if (result.days > 0 && result.micros < 0) {
      result.micros += microsPerDay;
      --result.days;
   } else if (result.days < 0 && result.micros > 0) {
      result.micros -= microsPerDay;
      ++result.days;
   }
   return result;
}

int compareIntervals(const Interval& a, const Interval& b) {
   const int128 x = intervalSpan(a), y = intervalSpan(b);
   return x < y ? -1 : x > y;
}

int64_t binTimestamp(const Interval& stride, int64_t timestamp, int64_t origin) {
   if (isInfiniteTimestamp(timestamp)) return timestamp;
   if (isInfiniteTimestamp(origin)) throw SqlError(sqlstate::datetimeValueOutOfRange, "origin out of range");
   if (stride.months != 0)
      throw SqlError(sqlstate::featureNotSupported,
                     "timestamps cannot be binned into intervals containing months or years");
   int64_t width;
   if (__builtin_mul_overflow(static_cast<int64_t>(stride.days), microsPerDay, &width) ||
       __builtin_add_overflow(width, stride.micros, &width))
      throwIntervalRange();
   if (width <= 0) throw SqlError(sqlstate::datetimeValueOutOfRange, "stride must be greater than zero");
   int64_t difference;
   if (__builtin_sub_overflow(timestamp, origin, &difference)) throwIntervalRange();
   const int64_t result = origin + floorDivide(difference, width) * width;
   if (!isValidTimestamp(result)) throwOutOfRange("timestamp");
   return result;
}

} // namespace ouzel
