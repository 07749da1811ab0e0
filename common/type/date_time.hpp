#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "common/calendar/calendar.hpp"
#include "common/type/session_format.hpp"
#include "common/value/physical_type.hpp"

// Dates, times and intervals as text. The parsers take everything PostgreSQL 15 takes and throw 22007, 22008, 22009
// and 22023 with its words; the printers follow the session's styles. Arithmetic is in date_time_math.hpp.

namespace ouzel {

/// A time with its offset. Lies in a String vector as 12 bytes: micros, then zone.
struct TimeTz {
   int64_t micros; ///< local, since midnight
   int32_t zone;   ///< seconds WEST of Greenwich, as PostgreSQL stores and sends it
};
std::string timeTzBytes(const TimeTz& v);
TimeTz readTimeTz(std::string_view bytes);

int32_t parseDate(std::string_view text, const SessionFormat& format);
int64_t parseTime(std::string_view text, const SessionFormat& format, int32_t typmod = -1);
TimeTz parseTimeTz(std::string_view text, const SessionFormat& format, int32_t typmod = -1);
int64_t parseTimestamp(std::string_view text, const SessionFormat& format, int32_t typmod = -1);
int64_t parseTimestampTz(std::string_view text, const SessionFormat& format, int32_t typmod = -1);
Interval parseInterval(std::string_view text, const SessionFormat& format, int32_t typmod = -1);

/// YYYY-MM-DD and nothing else, as COPY meets it; false leaves it to parseDate.
inline bool parseIsoDate(std::string_view text, int32_t& out) {
   if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
   const auto digit = [&text](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])) - '0'; };
   const uint32_t y0 = digit(0), y1 = digit(1), y2 = digit(2), y3 = digit(3), m0 = digit(5), m1 = digit(6),
                  d0 = digit(8), d1 = digit(9);
   if (((y0 > 9) | (y1 > 9) | (y2 > 9) | (y3 > 9) | (m0 > 9) | (m1 > 9) | (d0 > 9) | (d1 > 9)) != 0) return false;
   const int32_t year = static_cast<int32_t>(y0 * 1000 + y1 * 100 + y2 * 10 + y3);
   const int32_t month = static_cast<int32_t>(m0 * 10 + m1), day = static_cast<int32_t>(d0 * 10 + d1);
   if (year == 0 || month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return false;
   out = static_cast<int32_t>(daysFromCivil(year, month, day));
   return true;
}
/// YYYY-MM-DD HH:MM:SS[.ffffff] and nothing else.
bool parseIsoTimestamp(std::string_view text, int64_t& out);

void appendDate(std::string& out, int32_t v, const SessionFormat& format);
void appendTime(std::string& out, int64_t v);
void appendTimeTz(std::string& out, const TimeTz& v);
void appendTimestamp(std::string& out, int64_t v, const SessionFormat& format);
void appendTimestampTz(std::string& out, int64_t v, const SessionFormat& format);
void appendInterval(std::string& out, const Interval& v, const SessionFormat& format);

/// Round to a precision of 0..6 fractional digits, as time(p), timestamp(p) do; typmod -1: unchanged.
int64_t roundTime(int64_t micros, int32_t typmod);
std::string roundTimeTz(std::string_view bytes, int32_t typmod); ///< of and to timeTzBytes()
int64_t roundTimestamp(int64_t micros, int32_t typmod);
/// interval fields and interval(p): cuts what lies below the last field, rounds seconds.
Interval applyIntervalTypmod(const Interval& v, int32_t typmod);

// Interval typmods are (fields << 16) | precision; a field's bit is its PostgreSQL number.
inline constexpr int32_t intervalFullRange = 0x7fff, intervalFullPrecision = 0xffff;

} // namespace ouzel
