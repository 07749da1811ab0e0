#include "common/type/date_time.hpp"
#include "common/type/date_time_math.hpp"
#include "executor/function/context.hpp"
#include "executor/function/date_time/session_zone.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"

// Casts among dates, times, timestamps and intervals, and to their precisions.

namespace ouzel::executor {

namespace {

int64_t dateAsTimestamp(int32_t date) {
   return dateToTimestamp(date);
}
int64_t dateAsTimestampTz(int32_t date, KernelEnv& env) {
   return dateToTimestampTz(date, zoneOf(env.context));
}
int32_t timestampAsDate(int64_t timestamp) {
   return timestampToDate(timestamp);
}
int32_t timestampTzAsDate(int64_t timestamp, KernelEnv& env) {
   return timestampTzToDate(timestamp, zoneOf(env.context));
}
std::optional<int64_t> timestampAsTime(int64_t timestamp) {
   if (isInfiniteTimestamp(timestamp)) return std::nullopt;
   return timestampToTime(timestamp);
}
std::optional<int64_t> timestampTzAsTime(int64_t timestamp, KernelEnv& env) {
   return timestampAsTime(clockTimeOf(zoneOf(env.context), timestamp));
}
int64_t timestampAsTimestampTz(int64_t local, KernelEnv& env) {
   return localToTimestamp(zoneOf(env.context), local);
}
int64_t timestampTzAsTimestamp(int64_t timestamp, KernelEnv& env) {
   return timestampToLocal(zoneOf(env.context), timestamp);
}
int64_t intervalAsTime(const Interval& v) {
   return timestampToTime(v.micros);
}
Interval timeAsInterval(int64_t time) {
   return {time, 0, 0};
}

std::optional<StringView> timestampTzAsTimeTz(int64_t timestamp, KernelEnv& env) {
   if (isInfiniteTimestamp(timestamp)) return std::nullopt;
   const TimeZone* zone = zoneOf(env.context);
   return env.copy(timeTzBytes({timestampToTime(clockTimeOf(zone, timestamp)), -zoneOffsetAt(zone, timestamp)}));
}
StringView timeAsTimeTz(int64_t time, KernelEnv& env) {
   const TimeZone* zone = zoneOf(env.context);
   return env.copy(timeTzBytes({time, -zoneOffsetAt(zone, env.context.transactionStart)}));
}
int64_t timeTzAsTime(StringView v) {
   return readTimeTz(v.view()).micros;
}
/// The instant of a date and a time with offset.
int64_t dateAndTimeTz(int32_t date, StringView v) {
   const int64_t midnight = dateToTimestamp(date);
   if (isInfiniteTimestamp(midnight)) return midnight;
   const TimeTz t = readTimeTz(v.view());
   const int64_t result = midnight + t.micros + t.zone * microsPerSecond;
   if (!isValidTimestamp(result)) throw SqlError(sqlstate::datetimeValueOutOfRange, "date out of range for timestamp");
   return result;
}
int64_t dateToCompare(int32_t date) {
   return comparableTimestamp(date, nullptr);
}
int64_t dateToCompareTz(int32_t date, KernelEnv& env) {
   return comparableTimestamp(date, zoneOf(env.context));
}
int64_t timeTzAndDate(StringView v, int32_t date) {
   return dateAndTimeTz(date, v);
}

int64_t scaleTimestamp(int64_t timestamp, int32_t typmod) {
   return roundTimestamp(timestamp, typmod);
}
int64_t scaleTime(int64_t time, int32_t typmod) {
   return roundTime(time, typmod);
}
Interval scaleInterval(const Interval& v, int32_t typmod) {
   return applyIntervalTypmod(v, typmod);
}
StringView scaleTimeTz(StringView v, int32_t typmod, KernelEnv& env) {
   return env.copy(roundTimeTz(v.view(), typmod));
}

} // namespace

void registerDateTimeCasts() {
   addKernel<dateAsTimestamp>("date_timestamp");
   addKernel<dateToCompare>("ouzel_date_timestamp", totalKernel);
   addKernel<dateToCompareTz>("ouzel_date_timestamptz", totalKernel);
   addKernel<dateAsTimestampTz>("date_timestamptz");
   addKernel<timestampAsDate>("timestamp_date", totalKernel);
   addKernel<timestampTzAsDate>("timestamptz_date");
   addKernel<timestampAsTime>("timestamp_time", totalKernel);
   addKernel<timestampTzAsTime>("timestamptz_time");
   addKernel<timestampAsTimestampTz>("timestamp_timestamptz");
   addKernel<timestampTzAsTimestamp>("timestamptz_timestamp");
   addKernel<intervalAsTime>("interval_time", totalKernel);
   addKernel<timeAsInterval>("time_interval", totalKernel);
   addKernel<timestampTzAsTimeTz>("timestamptz_timetz");
   addKernel<timeAsTimeTz>("time_timetz");
   addKernel<timeTzAsTime>("timetz_time", totalKernel);
   addKernel<dateAndTimeTz>("datetimetz_timestamptz");
   addKernel<timeTzAndDate>("sql:timetzdate_pl");
   addKernels<scaleTimestamp>({"timestamp_scale", "timestamptz_scale"});
   addKernel<scaleTime>("time_scale", totalKernel);
   addKernel<scaleInterval>("interval_scale", totalKernel);
   addKernel<scaleTimeTz>("timetz_scale", totalKernel);
}

} // namespace ouzel::executor
