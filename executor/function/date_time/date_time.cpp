#include "common/type/date_time.hpp"

#include <algorithm>

#include "common/type/date_time_math.hpp"
#include "executor/function/context.hpp"
#include "executor/function/date_time/session_zone.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"

// Arithmetic of dates, times, timestamps and intervals, and comparisons between a date and a timestamp.

namespace ouzel::executor {

namespace {

// ---- dates ----

int32_t datePlus(int32_t date, int32_t days) {
   return addDays(date, days);
}
int32_t dateMinusDays(int32_t date, int32_t days) {
   return addDays(date, -static_cast<int64_t>(days));
}
int32_t dateMinus(int32_t a, int32_t b) {
   return subtractDates(a, b);
}
int32_t daysPlusDate(int32_t days, int32_t date) {
   return addDays(date, days);
}
int64_t datePlusInterval(int32_t date, const Interval& v) {
   return addInterval(dateToTimestamp(date), v);
}
int64_t dateMinusInterval(int32_t date, const Interval& v) {
   return subtractInterval(dateToTimestamp(date), v);
}
bool isFiniteDate(int32_t date) {
   return !isInfiniteDate(date);
}
int64_t dateAndTime(int32_t date, int64_t time) {
   const int64_t midnight = dateToTimestamp(date);
   if (isInfiniteTimestamp(midnight)) return midnight;
   const int64_t result = midnight + time;
   if (!isValidTimestamp(result)) throw SqlError(sqlstate::datetimeValueOutOfRange, "date out of range for timestamp");
   return result;
}
int64_t timeAndDate(int64_t time, int32_t date) {
   return dateAndTime(date, time);
}
/// timestamptz(date, time)
int64_t dateAndTimeTz(int32_t date, int64_t time, KernelEnv& env) {
   return localToTimestamp(zoneOf(env.context), dateAndTime(date, time));
}

// ---- clocks ----

int64_t transactionTime(KernelEnv& env) {
   return env.context.transactionStart;
}
int64_t statementTime(KernelEnv& env) {
   return env.context.statementStart;
}
int64_t clockTime(KernelEnv& env) {
   return env.context.requireSession("clock_timestamp").clock();
}
int64_t serverStart(KernelEnv& env) {
   return env.context.requireSession("pg_postmaster_start_time").serverStart();
}
int64_t configurationLoad(KernelEnv& env) {
   return env.context.requireSession("pg_conf_load_time").configurationLoad();
}

// ---- timestamps ----

int64_t timestampPlus(int64_t timestamp, const Interval& v) {
   return addInterval(timestamp, v);
}
int64_t timestampMinus(int64_t timestamp, const Interval& v) {
   return subtractInterval(timestamp, v);
}
int64_t timestampTzPlus(int64_t timestamp, const Interval& v, KernelEnv& env) {
   return addIntervalTz(timestamp, v, zoneOf(env.context));
}
int64_t timestampTzMinus(int64_t timestamp, const Interval& v, KernelEnv& env) {
   return subtractIntervalTz(timestamp, v, zoneOf(env.context));
}
int64_t intervalPlusDate(const Interval& v, int32_t date) {
   return datePlusInterval(date, v);
}
int64_t intervalPlusTimestamp(const Interval& v, int64_t timestamp) {
   return addInterval(timestamp, v);
}
int64_t intervalPlusTimestampTz(const Interval& v, int64_t timestamp, KernelEnv& env) {
   return addIntervalTz(timestamp, v, zoneOf(env.context));
}
Interval difference(int64_t a, int64_t b) {
   return subtractTimestamps(a, b);
}
Interval age(int64_t a, int64_t b) {
   return ageOfTimestamps(a, b);
}
Interval ageTz(int64_t a, int64_t b, KernelEnv& env) {
   return ageOfTimestampsTz(a, b, zoneOf(env.context));
}
/// age(x) counts from midnight at the beginning of today.
Interval ageToday(int64_t timestamp, KernelEnv& env) {
   const TimeZone* zone = zoneOf(env.context);
   const int64_t local = timestampToLocal(zone, env.context.transactionStart);
   const int64_t today = floorDivide(local, microsPerDay) * microsPerDay;
   if (env.call.argTypes[0].oid == oid::timestamptz)
      return ageOfTimestampsTz(localToTimestamp(zone, today), timestamp, zone);
   return ageOfTimestamps(today, timestamp);
}
bool isFiniteTimestamp(int64_t timestamp) {
   return !isInfiniteTimestamp(timestamp);
}
int64_t bin(const Interval& stride, int64_t timestamp, int64_t origin) {
   return binTimestamp(stride, timestamp, origin);
}

// ---- times ----

int64_t timePlus(int64_t time, const Interval& v) {
   return addIntervalToTime(time, v);
}
int64_t timeMinus(int64_t time, const Interval& v) {
   return addIntervalToTime(time, {-(v.micros % microsPerDay), 0, 0});
}
int64_t intervalPlusTime(const Interval& v, int64_t time) {
   return addIntervalToTime(time, v);
}
Interval timeDifference(int64_t a, int64_t b) {
   return {a - b, 0, 0};
}

// ---- intervals ----

Interval intervalPlus(const Interval& a, const Interval& b) {
   return addIntervals(a, b);
}
Interval intervalMinus(const Interval& a, const Interval& b) {
   return subtractIntervals(a, b);
}
Interval intervalNegate(const Interval& v) {
   return negateInterval(v);
}
Interval intervalTimes(const Interval& v, double factor) {
   return multiplyInterval(v, factor);
}
Interval timesInterval(double factor, const Interval& v) {
   return multiplyInterval(v, factor);
}
Interval intervalDivided(const Interval& v, double divisor) {
   return divideInterval(v, divisor);
}
Interval hoursJustified(const Interval& v) {
   return justifyHours(v);
}
Interval daysJustified(const Interval& v) {
   return justifyDays(v);
}
Interval allJustified(const Interval& v) {
   return justifyInterval(v);
}
bool isFiniteInterval(const Interval&) {
   return true;
}

// ---- making ----

int32_t dateOf(int32_t year, int32_t month, int32_t day) {
   return makeDate(year, month, day);
}
int64_t timeOf(int32_t hour, int32_t minute, double seconds) {
   return makeTime(hour, minute, seconds);
}
int64_t timestampOf(int32_t year, int32_t month, int32_t day, int32_t hour, int32_t minute, double seconds) {
   return makeTimestamp(year, month, day, hour, minute, seconds);
}
int64_t timestampTzOf(int32_t year, int32_t month, int32_t day, int32_t hour, int32_t minute, double seconds,
                      KernelEnv& env) {
   return localToTimestamp(zoneOf(env.context), makeTimestamp(year, month, day, hour, minute, seconds));
}
int64_t timestampTzInZone(int32_t year, int32_t month, int32_t day, int32_t hour, int32_t minute, double seconds,
                          StringView zone) {
   return atZoneToInstant(parseOffsetOrZone(zone.view()), makeTimestamp(year, month, day, hour, minute, seconds));
}
Interval intervalOf(int32_t years, int32_t months, int32_t weeks, int32_t days, int32_t hours, int32_t minutes,
                    double seconds) {
   return makeInterval(years, months, weeks, days, hours, minutes, seconds);
}
int64_t fromUnixSeconds(double seconds) {
   return timestampFromUnixSeconds(seconds);
}

// ---- overlaps: period (a, b) with (c, d); a NULL end means that the end is unknown ----

template <typename T>
std::optional<bool> overlap(std::optional<T> a, std::optional<T> b, std::optional<T> c, std::optional<T> d) {
   // A period begins at its smaller end. If one end is NULL, the period begins at the other end.
   const auto order = [](std::optional<T>& from, std::optional<T>& to) {
      if (!from) std::swap(from, to);
      return from.has_value();
   };
   if (!order(a, b) || !order(c, d)) return std::nullopt;
   if (b && *b < *a) std::swap(a, b);
   if (d && *d < *c) std::swap(c, d);
   if (*a == *c) return b && d ? std::optional<bool>(true) : std::nullopt;
   const std::optional<T>&endOfEarlier = *a > *c ? d : b, &endOfLater = *a > *c ? b : d;
   if (!endOfEarlier) return std::nullopt;
   if (std::max(*a, *c) < *endOfEarlier) return true;
   return endOfLater ? std::optional<bool>(false) : std::nullopt;
}
using OptionalTime = std::optional<int64_t>;
using OptionalInterval = std::optional<Interval>;
std::optional<bool> overlapTimes(OptionalTime a, OptionalTime b, OptionalTime c, OptionalTime d) {
   return overlap<int64_t>(a, b, c, d);
}
using OptionalTimeTz = std::optional<StringView>;
std::optional<bool> overlapTimeTz(const OptionalTimeTz& a, const OptionalTimeTz& b, const OptionalTimeTz& c,
                                  const OptionalTimeTz& d) {
   const auto bytes = [](const OptionalTimeTz& v) { // have the order of the values
      return v ? std::optional(v->view()) : std::nullopt;
   };
   return overlap<std::string_view>(bytes(a), bytes(b), bytes(c), bytes(d));
}
OptionalTime periodEnd(OptionalTime start, OptionalInterval length, const KernelEnv& env, size_t argument) {
   if (!start || !length) return std::nullopt;
   switch (env.call.argTypes[argument].oid) {
   case oid::time: return addIntervalToTime(*start, *length);
   case oid::timestamptz: return addIntervalTz(*start, *length, zoneOf(env.context));
   default: return addInterval(*start, *length);
   }
}
std::optional<bool> overlapBothLengths(OptionalTime a, OptionalInterval b, OptionalTime c, OptionalInterval d,
                                       KernelEnv& env) {
   return overlap<int64_t>(a, periodEnd(a, b, env, 0), c, periodEnd(c, d, env, 2));
}
std::optional<bool> overlapFirstLength(OptionalTime a, OptionalInterval b, OptionalTime c, OptionalTime d,
                                       KernelEnv& env) {
   return overlap<int64_t>(a, periodEnd(a, b, env, 0), c, d);
}
std::optional<bool> overlapSecondLength(OptionalTime a, OptionalTime b, OptionalTime c, OptionalInterval d,
                                        KernelEnv& env) {
   return overlap<int64_t>(a, b, c, periodEnd(c, d, env, 2));
}

// ---- comparisons of a date with a timestamp, and of timestamp with timestamptz ----

/// A date after the range of timestamps compares greater than the last timestamp and less than infinity.
int compareDate(int32_t date, int64_t timestamp, const TimeZone* zone) {
   constexpr int32_t lastDay = static_cast<int32_t>(timestampEnd / microsPerDay);
   if (date < lastDay && date != dateMinusInfinity) [[likely]] {
      const int64_t midnight = zone ? localToTimestamp(zone, date * microsPerDay) : date * microsPerDay;
      return midnight < timestamp ? -1 : midnight > timestamp;
   }
   if (date == dateMinusInfinity) return timestamp == timestampMinusInfinity ? 0 : -1;
   if (timestamp == timestampInfinity) return date == dateInfinity ? 0 : -1;
   return 1;
}
int compareLocal(int64_t local, int64_t instant, const TimeZone* zone) {
   const int64_t converted = localToTimestamp(zone, local);
   return converted < instant ? -1 : converted > instant;
}

template <typename Test>
struct MixedComparison {
   using Result = decltype(Test::of(0));
   static Result dateTimestamp(int32_t a, int64_t b) { return Test::of(compareDate(a, b, nullptr)); }
   static Result timestampDate(int64_t a, int32_t b) { return Test::of(-compareDate(b, a, nullptr)); }
   static Result dateTimestampTz(int32_t a, int64_t b, KernelEnv& env) {
      return Test::of(compareDate(a, b, zoneOf(env.context)));
   }
   static Result timestampTzDate(int64_t a, int32_t b, KernelEnv& env) {
      return Test::of(-compareDate(b, a, zoneOf(env.context)));
   }
   static Result timestampTimestampTz(int64_t a, int64_t b, KernelEnv& env) {
      return Test::of(compareLocal(a, b, zoneOf(env.context)));
   }
   static Result timestampTzTimestamp(int64_t a, int64_t b, KernelEnv& env) {
      return Test::of(-compareLocal(b, a, zoneOf(env.context)));
   }
   static void add(const std::string& name) {
      addKernel<dateTimestamp>("date_" + name + "_timestamp", totalKernel);
      addKernel<timestampDate>("timestamp_" + name + "_date", totalKernel);
      addKernel<dateTimestampTz>("date_" + name + "_timestamptz");
      addKernel<timestampTzDate>("timestamptz_" + name + "_date");
      addKernel<timestampTimestampTz>("timestamp_" + name + "_timestamptz");
      addKernel<timestampTzTimestamp>("timestamptz_" + name + "_timestamp");
   }
};
/// The result of three-way comparison functions.
struct Order {
   static int32_t of(int order) { return order; }
};
struct Equal {
   static bool of(int order) { return order == 0; }
};
struct NotEqual {
   static bool of(int order) { return order != 0; }
};
struct Less {
   static bool of(int order) { return order < 0; }
};
struct LessEqual {
   static bool of(int order) { return order <= 0; }
};
struct Greater {
   static bool of(int order) { return order > 0; }
};
struct GreaterEqual {
   static bool of(int order) { return order >= 0; }
};

// ---- time with time zone: ordered by the instant, then by the zone ----

int compareTimeTz(StringView a, StringView b) {
   const TimeTz x = readTimeTz(a.view()), y = readTimeTz(b.view());
   const int64_t p = x.micros + x.zone * microsPerSecond, q = y.micros + y.zone * microsPerSecond;
   if (p != q) return p < q ? -1 : 1;
   return x.zone < y.zone ? -1 : x.zone > y.zone;
}
template <typename Test>
bool timeTzTest(StringView a, StringView b) {
   return Test::of(compareTimeTz(a, b));
}
StringView timeTzLarger(StringView a, StringView b, KernelEnv& env) {
   return env.copy((compareTimeTz(a, b) > 0 ? a : b).view());
}
StringView timeTzSmaller(StringView a, StringView b, KernelEnv& env) {
   return env.copy((compareTimeTz(a, b) < 0 ? a : b).view());
}
int32_t timeTzOrder(StringView a, StringView b) {
   return compareTimeTz(a, b);
}
StringView shiftTimeTz(StringView v, int64_t micros, KernelEnv& env) {
   TimeTz t = readTimeTz(v.view());
   t.micros = addIntervalToTime(t.micros, {micros, 0, 0});
   return env.copy(timeTzBytes(t));
}
StringView timeTzPlus(StringView v, const Interval& i, KernelEnv& env) {
   return shiftTimeTz(v, i.micros % microsPerDay, env);
}
StringView timeTzMinus(StringView v, const Interval& i, KernelEnv& env) {
   return shiftTimeTz(v, -(i.micros % microsPerDay), env);
}
StringView intervalPlusTimeTz(const Interval& i, StringView v, KernelEnv& env) {
   return timeTzPlus(v, i, env);
}

void addTimeTz() {
   addKernel<timeTzTest<Equal>>("timetz_eq", totalKernel);
   addKernel<timeTzTest<NotEqual>>("timetz_ne", totalKernel);
   addKernel<timeTzTest<Less>>("timetz_lt", totalKernel);
   addKernel<timeTzTest<LessEqual>>("timetz_le", totalKernel);
   addKernel<timeTzTest<Greater>>("timetz_gt", totalKernel);
   addKernel<timeTzTest<GreaterEqual>>("timetz_ge", totalKernel);
   addKernel<timeTzOrder>("timetz_cmp", totalKernel);
   addKernel<timeTzLarger>("timetz_larger", totalKernel);
   addKernel<timeTzSmaller>("timetz_smaller", totalKernel);
   addKernel<timeTzPlus>("timetz_pl_interval");
   addKernel<timeTzMinus>("timetz_mi_interval");
   addKernel<intervalPlusTimeTz>("sql:interval_pl_timetz");
}

} // namespace

void registerDateTime() {
   addKernels<transactionTime>({"now", "transaction_timestamp"});
   addKernel<statementTime>("statement_timestamp");
   addKernel<clockTime>("clock_timestamp");
   addKernel<serverStart>("pg_postmaster_start_time");
   addKernel<configurationLoad>("pg_conf_load_time");
   addKernel<datePlus>("date_pli");
   addKernel<dateMinusDays>("date_mii");
   addKernel<dateMinus>("date_mi");
   addKernel<daysPlusDate>("sql:integer_pl_date");
   addKernel<datePlusInterval>("date_pl_interval");
   addKernel<dateMinusInterval>("date_mi_interval");
   addKernel<isFiniteDate>("date_finite", totalKernel);
   addKernel<dateAndTime>("datetime_timestamp");
   addKernel<timeAndDate>("sql:timedate_pl");
   addKernel<dateAndTimeTz>("sql:timestamptz");
   addKernel<timestampPlus>("timestamp_pl_interval");
   addKernel<timestampMinus>("timestamp_mi_interval");
   addKernel<timestampTzPlus>("timestamptz_pl_interval");
   addKernel<timestampTzMinus>("timestamptz_mi_interval");
   addKernel<intervalPlusDate>("sql:interval_pl_date");
   addKernel<intervalPlusTimestamp>("sql:interval_pl_timestamp");
   addKernel<intervalPlusTimestampTz>("sql:interval_pl_timestamptz");
   addKernel<difference>("timestamp_mi");
   addKernel<age>("timestamp_age");
   addKernel<ageTz>("timestamptz_age");
   addKernel<ageToday>("sql:age");
   addKernel<isFiniteTimestamp>("timestamp_finite", totalKernel);
   addKernels<bin>({"timestamp_bin", "timestamptz_bin"});
   addKernel<timePlus>("time_pl_interval", totalKernel);
   addKernel<timeMinus>("time_mi_interval", totalKernel);
   addKernel<intervalPlusTime>("sql:interval_pl_time", totalKernel);
   addKernel<timeDifference>("time_mi_time", totalKernel);
   addKernel<intervalPlus>("interval_pl");
   addKernel<intervalMinus>("interval_mi");
   addKernel<intervalNegate>("interval_um");
   addKernel<intervalTimes>("interval_mul");
   addKernel<timesInterval>("mul_d_interval");
   addKernel<intervalDivided>("interval_div");
   addKernel<hoursJustified>("interval_justify_hours");
   addKernel<daysJustified>("interval_justify_days");
   addKernel<allJustified>("interval_justify_interval");
   addKernel<isFiniteInterval>("interval_finite", totalKernel);
   addKernel<dateOf>("make_date");
   addKernel<timeOf>("make_time");
   addKernel<timestampOf>("make_timestamp");
   addKernel<timestampTzOf>("make_timestamptz");
   addKernel<timestampTzInZone>("make_timestamptz_at_timezone");
   addKernel<intervalOf>("make_interval");
   addKernel<fromUnixSeconds>("float8_timestamptz");
   addKernels<overlapTimes>({"overlaps_time", "overlaps_timestamp"});
   addKernel<overlapTimeTz>("overlaps_timetz");
   addKernel<overlapBothLengths>("sql:overlaps");
   addKernel<overlapFirstLength>("sql:overlaps");
   addKernel<overlapSecondLength>("sql:overlaps");
   MixedComparison<Order>::add("cmp");
   MixedComparison<Equal>::add("eq");
   MixedComparison<NotEqual>::add("ne");
   MixedComparison<Less>::add("lt");
   MixedComparison<LessEqual>::add("le");
   MixedComparison<Greater>::add("gt");
   MixedComparison<GreaterEqual>::add("ge");
   addTimeTz();
}

} // namespace ouzel::executor
