#include "common/type/date_time.hpp"

// Precisions of times and fields of intervals.

namespace ouzel {

namespace {

constexpr int64_t powers[] = {1'000'000, 100'000, 10'000, 1'000, 100, 10, 1};

/// Half away from zero.
int64_t roundMicros(int64_t micros, int32_t precision) {
   if (precision < 0 || precision >= 6) return micros;
   const int64_t unit = powers[precision], half = unit / 2;
   return micros >= 0 ? (micros + half) / unit * unit : -((half - micros) / unit * unit);
}

} // namespace

int64_t roundTime(int64_t micros, int32_t typmod) {
   return roundMicros(micros, typmod);
}

int64_t roundTimestamp(int64_t micros, int32_t typmod) {
   return isInfiniteTimestamp(micros) ? micros : roundMicros(micros, typmod);
}

std::string roundTimeTz(std::string_view bytes, int32_t typmod) {
   TimeTz time = readTimeTz(bytes);
   time.micros = roundTime(time.micros, typmod);
   return timeTzBytes(time);
}

Interval applyIntervalTypmod(const Interval& v, int32_t typmod) {
   if (typmod < 0) return v;
   constexpr int32_t month = 1 << 1, year = 1 << 2, day = 1 << 3, hour = 1 << 10, minute = 1 << 11, second = 1 << 12;
   Interval result = v;
   switch ((typmod >> 16) & intervalFullRange) {
   case year:
      result.months = result.months / 12 * 12;
      result.days = 0;
      result.micros = 0;
      break;
   case month:
   case year | month:
      result.days = 0;
      result.micros = 0;
      break;
   case day: result.micros = 0; break;
   case hour:
   case day | hour: result.micros = result.micros / microsPerHour * microsPerHour; break;
   case minute:
   case hour | minute:
   case day | hour | minute: result.micros = result.micros / microsPerMinute * microsPerMinute; break;
   case second:
   default: break; // down to seconds
   }
   const int32_t precision = typmod & intervalFullPrecision;
   if (precision != intervalFullPrecision) result.micros = roundMicros(result.micros, precision);
   return result;
}

} // namespace ouzel
