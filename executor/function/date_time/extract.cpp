#include "common/type/date_time.hpp"
#include "common/type/date_time_math.hpp"
#include "executor/function/context.hpp"
#include "executor/function/date_time/session_zone.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"

// extract(), date_part(), date_trunc(). The unit is nearly always a constant, so it is parsed once per call and not per
// row.

namespace ouzel::executor {

namespace {

/// Further inputs of a field function: time zone and arena.
struct FieldEnv {
   const TimeZone* zone;
   Arena& arena;
};

/// Parses unit names; a name equal to the one before is not parsed again.
class UnitReader {
public:
   const UnitName& read(StringView text) {
      if (!isRead_ || text.view() != source_) {
         source_ = std::string(text.view());
         name_ = parseUnit(source_);
         isRead_ = true;
      }
      return name_;
   }

private:
   bool isRead_ = false;
   std::string source_;
   UnitName name_;
};

/// Makes a kernel over rows of (unit as text, value) from fn(unit, value, env).
template <typename T, auto fn>
void fieldKernel(const KernelCall& call, ResultVector& result) {
   const Vector &units = call.args[0], &values = call.args[1];
   FieldEnv env{zoneOf(call.context), result.strings()};
   using R = decltype(fn(std::declval<const UnitName&>(), std::declval<const T&>(), env));
   using Out = detail::StoredType<typename detail::Unwrap<R>::type>;
   Out* out = result.values<Out>();
   const T* data = values.values<T>();
   UnitReader reader;
   forEachRow(call.rows, [&](uint32_t row) {
      const UnitName& unit = reader.read(units.value<StringView>(row));
      detail::put<R>(result, out, row, fn(unit, data[values.positionOf(row)], env));
   });
}

using OptionalDecimal = std::optional<StringView>;

OptionalDecimal extractDate(const UnitName& unit, const int32_t& v, FieldEnv&) {
   return extractFromDate(unit, v);
}
StringView extractTime(const UnitName& unit, const int64_t& v, FieldEnv&) {
   return extractFromTime(unit, v);
}
OptionalDecimal extractTimestamp(const UnitName& unit, const int64_t& v, FieldEnv& env) {
   return extractFromTimestamp(unit, v, env.arena);
}
OptionalDecimal extractTimestampTz(const UnitName& unit, const int64_t& v, FieldEnv& env) {
   return extractFromTimestampTz(unit, v, env.zone, env.arena);
}
StringView extractInterval(const UnitName& unit, const Interval& v, FieldEnv& env) {
   return extractFromInterval(unit, v, env.arena);
}
StringView extractTimeTz(const UnitName& unit, const StringView& v, FieldEnv&) {
   const TimeTz t = readTimeTz(v.view());
   return extractFromTimeTz(unit, t.micros, -t.zone);
}
double partOfTimeTz(const UnitName& unit, const StringView& v, FieldEnv&) {
   const TimeTz t = readTimeTz(v.view());
   return datePartFromTimeTz(unit, t.micros, -t.zone);
}
std::optional<double> partOfDate(const UnitName& unit, const int32_t& v, FieldEnv&) {
   return datePartFromTimestamp(unit, dateToTimestamp(v));
}
double partOfTime(const UnitName& unit, const int64_t& v, FieldEnv&) {
   return datePartFromTime(unit, v);
}
std::optional<double> partOfTimestamp(const UnitName& unit, const int64_t& v, FieldEnv&) {
   return datePartFromTimestamp(unit, v);
}
std::optional<double> partOfTimestampTz(const UnitName& unit, const int64_t& v, FieldEnv& env) {
   return datePartFromTimestampTz(unit, v, env.zone);
}
double partOfInterval(const UnitName& unit, const Interval& v, FieldEnv&) {
   return datePartFromInterval(unit, v);
}
int64_t truncTimestamp(const UnitName& unit, const int64_t& v, FieldEnv&) {
   return truncateTimestamp(unit, v);
}
int64_t truncTimestampTz(const UnitName& unit, const int64_t& v, FieldEnv& env) {
   return truncateTimestampTz(unit, v, env.zone);
}
Interval truncInterval(const UnitName& unit, const Interval& v, FieldEnv&) {
   return truncateInterval(unit, v);
}

int64_t truncInZone(StringView unit, int64_t v, StringView zone) {
   const ZoneArgument argument = parseZoneArgument(zone.view());
   const UnitName name = parseUnit(unit.view());
   if (argument.zone) return truncateTimestampTz(name, v, argument.zone);
   return atZoneToInstant(argument, truncateTimestamp(name, atZoneToLocal(argument, v)));
}

template <typename T, auto fn>
void addField(std::string_view prosrc) {
   const char letters[] = {'s', detail::letterFor<T>(), 0};
   registerKernel(prosrc, letters, {fieldKernel<T, fn>, true, false});
}

// ---- AT TIME ZONE ----

int64_t toLocal(StringView zone, int64_t timestamp) {
   return atZoneToLocal(parseZoneArgument(zone.view()), timestamp);
}
int64_t toInstant(StringView zone, int64_t local) {
   return atZoneToInstant(parseZoneArgument(zone.view()), local);
}
int64_t toLocalByInterval(const Interval& zone, int64_t timestamp) {
   return atZoneToLocal(zoneFromInterval(zone), timestamp);
}
int64_t toInstantByInterval(const Interval& zone, int64_t local) {
   return atZoneToInstant(zoneFromInterval(zone), local);
}
StringView shiftTimeTz(StringView v, int32_t secondsEast, KernelEnv& env) {
   TimeTz t = readTimeTz(v.view());
   t.micros = addIntervalToTime(t.micros, {(t.zone + secondsEast) * microsPerSecond, 0, 0});
   t.zone = -secondsEast;
   return env.copy(timeTzBytes(t));
}
StringView timeTzInZone(StringView zone, StringView v, KernelEnv& env) {
   const ZoneArgument argument = parseZoneArgument(zone.view());
   const int32_t east =
       argument.zone ? argument.zone->offsetAt(env.context.transactionStart).seconds : argument.seconds;
   return shiftTimeTz(v, east, env);
}
StringView timeTzByInterval(const Interval& zone, StringView v, KernelEnv& env) {
   return shiftTimeTz(v, zoneFromInterval(zone).seconds, env);
}

} // namespace

void registerDateTimeFields() {
   addField<int32_t, extractDate>("extract_date");
   addField<int64_t, extractTime>("extract_time");
   addField<int64_t, extractTimestamp>("extract_timestamp");
   addField<int64_t, extractTimestampTz>("extract_timestamptz");
   addField<Interval, extractInterval>("extract_interval");
   addField<StringView, extractTimeTz>("extract_timetz");
   addField<StringView, partOfTimeTz>("timetz_part");
   addField<int32_t, partOfDate>("sql:date_part");
   addField<int64_t, partOfTime>("time_part");
   addField<int64_t, partOfTimestamp>("timestamp_part");
   addField<int64_t, partOfTimestampTz>("timestamptz_part");
   addField<Interval, partOfInterval>("interval_part");
   addField<int64_t, truncTimestamp>("timestamp_trunc");
   addField<int64_t, truncTimestampTz>("timestamptz_trunc");
   addField<Interval, truncInterval>("interval_trunc");
   addKernel<truncInZone>("timestamptz_trunc_zone");
   addKernel<toLocal>("timestamptz_zone");
   addKernel<toInstant>("timestamp_zone");
   addKernel<toLocalByInterval>("timestamptz_izone");
   addKernel<toInstantByInterval>("timestamp_izone");
   addKernel<timeTzInZone>("timetz_zone");
   addKernel<timeTzByInterval>("timetz_izone");
}

} // namespace ouzel::executor
