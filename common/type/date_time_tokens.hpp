#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/calendar/calendar.hpp"
#include "common/type/date_time_math.hpp"

// Parts shared by the parsers of dates and of intervals: the text cut into fields, the words PostgreSQL knows, clock
// times, offsets and errors. For date_time_parse.cpp, interval_parse.cpp and formatting only.

namespace ouzel::date_time {

enum class FieldKind : uint8_t { Number, String, Date, Time, Zone, Special };
struct Field {
   FieldKind kind;
   std::string text; ///< letters in lower case
};

enum class Failure : uint8_t {
   None,
   BadFormat,            ///< 22007
   FieldOverflow,        ///< 22008
   MonthDayOverflow,     ///< 22008 with a hint at DateStyle
   IntervalOverflow,     ///< 22015
   DisplacementOverflow, ///< 22009
};
[[noreturn]] void throwFailure(Failure failure, std::string_view text, const char* typeName);

/// Cut the text into fields. Punctuation without a meaning of its own separates fields.
Failure splitFields(std::string_view text, std::vector<Field>& fields);

/// The meaning of a word or field. bit() of it is used in masks of the meanings that a text has had so far.
enum class Token : uint8_t {
   Reserved, ///< now, infinity, epoch: value is a Reserved
   Month,
   Year,
   Day,
   Hour,
   Minute,
   Second,
   Millisecond,
   Microsecond,
   DayOfYear,
   Zone,
   DstZone, ///< an abbreviation that says daylight saving
   DynamicZone,
   DstMarker, ///< "dst" behind an abbreviation
   AmPm,
   AdBc,
   DayOfWeek,
   Units,   ///< a label of the next (date) or previous (interval) number: value is a Unit
   IsoTime, ///< "t"
   Ignored,
   Ago,
   Week,
   Decade,
   Century,
   Millennium,
   Unknown,
};
enum class Reserved : int32_t { Now, Today, Tomorrow, Yesterday, Zulu, Epoch, Infinity, MinusInfinity };
using Unit = DateUnit;
struct Word {
   Token token = Token::Unknown;
   int32_t value = 0;
};
Word findDateWord(std::string_view lower);
Word findIntervalWord(std::string_view lower);

constexpr uint32_t bit(Token t) {
   return uint32_t{1} << static_cast<uint32_t>(t);
}
constexpr uint32_t dateMask = bit(Token::Year) | bit(Token::Month) | bit(Token::Day);
constexpr uint32_t allSecondsMask = bit(Token::Second) | bit(Token::Millisecond) | bit(Token::Microsecond);
constexpr uint32_t timeMask = bit(Token::Hour) | bit(Token::Minute) | allSecondsMask;

/// Read an integer with a sign at the start of the text; the text behind it goes to `rest`. False: overflow of `out`.
bool takeInteger(std::string_view text, std::string_view& rest, int32_t& out);
bool takeInteger(std::string_view text, std::string_view& rest, int64_t& out);
/// ".ddd" up to its end as a fraction; a lone point is zero.
Failure parseFraction(std::string_view text, double& out);
Failure parseFractionMicros(std::string_view text, int64_t& micros);

struct Clock {
   int64_t hour = 0;
   int32_t minute = 0, second = 0;
   int64_t micros = 0;
   int64_t total() const { return ((hour * 60 + minute) * 60 + second) * microsPerSecond + micros; }
   bool overflowsDay() const;
};
/// hh:mm[:ss[.ffffff]]; mm:ss when `isMinuteToSecond` or with a fraction behind two parts.
Failure parseClock(std::string_view text, bool isMinuteToSecond, Clock& out);

/// [+-]hh[:mm[:ss]] or [+-]hhmm as seconds east.
Failure parseOffset(std::string_view text, int32_t& secondsEast);

} // namespace ouzel::date_time
