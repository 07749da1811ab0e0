#include "common/type/date_time_tokens.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "common/error/sql_error.hpp"
#include "common/text/ascii.hpp"
#include "common/text/number_text.hpp"

namespace ouzel::date_time {

namespace {

constexpr bool isAlpha(char c) {
   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool isPunctuation(char c) {
   return c > ' ' && c < 127 && !isAlpha(c) && !isDigit(c);
}
constexpr size_t fieldsMax = 25;

struct WordEntry {
   std::string_view name;
   Token token;
   int32_t value;
};

#define RESERVED(name, what)                                                                                           \
   { name, Token::Reserved, static_cast<int32_t>(Reserved::what) }
#define UNITS(name, what)                                                                                              \
   { name, Token::Units, static_cast<int32_t>(Unit::what) }

// Sorted by name.
constexpr WordEntry dateWords[] = {
    RESERVED("+infinity", Infinity),
    RESERVED("-infinity", MinusInfinity),
    {"ad", Token::AdBc, 0},
    RESERVED("allballs", Zulu),
    {"am", Token::AmPm, 0},
    {"apr", Token::Month, 4},
    {"april", Token::Month, 4},
    {"at", Token::Ignored, 0},
    {"aug", Token::Month, 8},
    {"august", Token::Month, 8},
    {"bc", Token::AdBc, 1},
    UNITS("d", Day),
    {"dec", Token::Month, 12},
    {"december", Token::Month, 12},
    UNITS("dow", DayOfWeek),
    UNITS("doy", DayOfYear),
    {"dst", Token::DstMarker, 3600},
    RESERVED("epoch", Epoch),
    {"feb", Token::Month, 2},
    {"february", Token::Month, 2},
    {"fri", Token::DayOfWeek, 5},
    {"friday", Token::DayOfWeek, 5},
    UNITS("h", Hour),
    RESERVED("infinity", Infinity),
    UNITS("isodow", IsoDayOfWeek),
    UNITS("isoyear", IsoYear),
    UNITS("j", Julian),
    {"jan", Token::Month, 1},
    {"january", Token::Month, 1},
    UNITS("jd", Julian),
    {"jul", Token::Month, 7},
    UNITS("julian", Julian),
    {"july", Token::Month, 7},
    {"jun", Token::Month, 6},
    {"june", Token::Month, 6},
    UNITS("m", Month),
    {"mar", Token::Month, 3},
    {"march", Token::Month, 3},
    {"may", Token::Month, 5},
    UNITS("mm", Minute),
    {"mon", Token::DayOfWeek, 1},
    {"monday", Token::DayOfWeek, 1},
    {"nov", Token::Month, 11},
    {"november", Token::Month, 11},
    RESERVED("now", Now),
    {"oct", Token::Month, 10},
    {"october", Token::Month, 10},
    {"on", Token::Ignored, 0},
    {"pm", Token::AmPm, 1},
    UNITS("s", Second),
    {"sat", Token::DayOfWeek, 6},
    {"saturday", Token::DayOfWeek, 6},
    {"sep", Token::Month, 9},
    {"sept", Token::Month, 9},
    {"september", Token::Month, 9},
    {"sun", Token::DayOfWeek, 0},
    {"sunday", Token::DayOfWeek, 0},
    {"t", Token::IsoTime, static_cast<int32_t>(Unit::Time)},
    {"thu", Token::DayOfWeek, 4},
    {"thur", Token::DayOfWeek, 4},
    {"thurs", Token::DayOfWeek, 4},
    {"thursday", Token::DayOfWeek, 4},
    RESERVED("today", Today),
    RESERVED("tomorrow", Tomorrow),
    {"tue", Token::DayOfWeek, 2},
    {"tues", Token::DayOfWeek, 2},
    {"tuesday", Token::DayOfWeek, 2},
    {"wed", Token::DayOfWeek, 3},
    {"wednesday", Token::DayOfWeek, 3},
    {"weds", Token::DayOfWeek, 3},
    UNITS("y", Year),
    RESERVED("yesterday", Yesterday),
};

constexpr WordEntry intervalWords[] = {
    {"@", Token::Ignored, 0},
    {"ago", Token::Ago, 0},
    UNITS("c", Century),
    UNITS("cent", Century),
    UNITS("centuries", Century),
    UNITS("century", Century),
    UNITS("d", Day),
    UNITS("day", Day),
    UNITS("days", Day),
    UNITS("dec", Decade),
    UNITS("decade", Decade),
    UNITS("decades", Decade),
    UNITS("decs", Decade),
    UNITS("h", Hour),
    UNITS("hour", Hour),
    UNITS("hours", Hour),
    UNITS("hr", Hour),
    UNITS("hrs", Hour),
    UNITS("m", Minute),
    UNITS("microsecon", Microsecond),
    UNITS("mil", Millennium),
    UNITS("millennia", Millennium),
    UNITS("millennium", Millennium),
    UNITS("millisecon", Millisecond),
    UNITS("mils", Millennium),
    UNITS("min", Minute),
    UNITS("mins", Minute),
    UNITS("minute", Minute),
    UNITS("minutes", Minute),
    UNITS("mon", Month),
    UNITS("mons", Month),
    UNITS("month", Month),
    UNITS("months", Month),
    UNITS("ms", Millisecond),
    UNITS("msec", Millisecond),
    UNITS("msecond", Millisecond),
    UNITS("mseconds", Millisecond),
    UNITS("msecs", Millisecond),
    UNITS("qtr", Quarter),
    UNITS("quarter", Quarter),
    UNITS("s", Second),
    UNITS("sec", Second),
    UNITS("second", Second),
    UNITS("seconds", Second),
    UNITS("secs", Second),
    UNITS("timezone", Zone),
    UNITS("timezone_h", ZoneHour),
    UNITS("timezone_m", ZoneMinute),
    UNITS("us", Microsecond),
    UNITS("usec", Microsecond),
    UNITS("usecond", Microsecond),
    UNITS("useconds", Microsecond),
    UNITS("usecs", Microsecond),
    UNITS("w", Week),
    UNITS("week", Week),
    UNITS("weeks", Week),
    UNITS("y", Year),
    UNITS("year", Year),
    UNITS("years", Year),
    UNITS("yr", Year),
    UNITS("yrs", Year),
};
#undef RESERVED
#undef UNITS

template <size_t count>
Word findWord(const WordEntry (&table)[count], std::string_view name) {
   constexpr size_t significant = 10; // as PostgreSQL compares them
   name = name.substr(0, significant);
   const auto* found = std::lower_bound(std::begin(table), std::end(table), name,
                                        [](const WordEntry& e, std::string_view n) { return e.name < n; });
   if (found == std::end(table) || found->name != name) return {};
   return {found->token, found->value};
}

/// Cuts one text into fields.
class Splitter {
public:
   Splitter(std::string_view text, std::vector<Field>& fields) : text_(text), fields_(fields) {}

   Failure run() {
      while (!atEnd()) {
         if (isBlank(peek())) {
            ++p_;
            continue;
         }
         start_ = p_;
         FieldKind kind;
         if (isDigit(peek())) {
            kind = takeNumeric();
         } else if (peek() == '.') {
            ++p_;
            skipDigits();
            kind = FieldKind::Number;
         } else if (isAlpha(peek())) {
            kind = takeWord();
         } else if (peek() == '+' || peek() == '-') {
            if (!takeSigned()) return Failure::BadFormat;
            continue;
         } else if (isPunctuation(peek())) {
            ++p_;
            continue;
         } else {
            return Failure::BadFormat;
         }
         if (!push(kind, std::string(text_.substr(start_, p_ - start_)))) return Failure::BadFormat;
      }
      return Failure::None;
   }

private:
   bool atEnd() const { return p_ >= text_.size(); }
   char peek() const { return p_ < text_.size() ? text_[p_] : '\0'; }
   void skipDigits() {
      while (isDigit(peek()))
         ++p_;
   }
   template <typename Predicate>
   void skipWhile(Predicate&& predicate) {
      while (!atEnd() && predicate(peek()))
         ++p_;
   }
   bool push(FieldKind kind, std::string text) {
      if (fields_.size() >= fieldsMax) return false;
      std::transform(text.begin(), text.end(), text.begin(), asciiLower);
      fields_.push_back({kind, std::move(text)});
      return true;
   }

   FieldKind takeNumeric() {
      skipDigits();
      if (peek() == ':') {
         skipWhile([](char c) { return isDigit(c) || c == ':' || c == '.'; });
         return FieldKind::Time;
      }
      if (peek() != '-' && peek() != '/' && peek() != '.') return FieldKind::Number;
      const char delimiter = peek();
      ++p_;
      if (!isDigit(peek())) {
         skipWhile([delimiter](char c) { return isDigit(c) || isAlpha(c) || c == delimiter; });
         return FieldKind::Date;
      }
      skipDigits();
      if (peek() == delimiter) {
         skipWhile([delimiter](char c) { return isDigit(c) || c == delimiter; });
         return FieldKind::Date;
      }
      return delimiter == '.' ? FieldKind::Number : FieldKind::Date;
   }

   FieldKind takeWord() {
      skipWhile(isAlpha);
      // A date with a month's name, or a zone's name with punctuation in it.
      bool isDate = peek() == '-' || peek() == '/' || peek() == '.';
      if (!isDate && (peek() == '+' || isDigit(peek()))) {
         std::string word(text_.substr(start_, p_ - start_));
         std::transform(word.begin(), word.end(), word.begin(), asciiLower);
         isDate = findDateWord(word).token == Token::Unknown;
      }
      if (!isDate) return FieldKind::String;
      skipWhile([](char c) {
         return isDigit(c) || isAlpha(c) || c == '+' || c == '-' || c == '/' || c == '_' || c == '.' || c == ':';
      });
      return FieldKind::Date;
   }

   bool takeSigned() {
      std::string text(1, peek());
      ++p_;
      skipWhile(isBlank);
      const size_t rest = p_;
      FieldKind kind;
      if (isDigit(peek())) {
         skipWhile([](char c) { return isDigit(c) || c == ':' || c == '.' || c == '-'; });
         kind = FieldKind::Zone;
      } else if (isAlpha(peek())) {
         skipWhile(isAlpha);
         kind = FieldKind::Special;
      } else {
         return false;
      }
      return push(kind, text.append(text_.substr(rest, p_ - rest)));
   }

   std::string_view text_;
   std::vector<Field>& fields_;
   size_t p_ = 0, start_ = 0;
};

template <typename Int>
bool takeDigits(std::string_view text, std::string_view& rest, Int& out) {
   size_t p = 0;
   bool negative = false;
   if (p < text.size() && (text[p] == '+' || text[p] == '-')) negative = text[p++] == '-';
   Int value = 0;
   bool fits = true;
   for (; p < text.size() && isDigit(text[p]); ++p)
      fits &= !__builtin_mul_overflow(value, static_cast<Int>(10), &value) &&
              !__builtin_sub_overflow(value, static_cast<Int>(text[p] - '0'), &value);
   if (!negative) fits &= !__builtin_sub_overflow(static_cast<Int>(0), value, &value);
   rest = text.substr(p);
   out = value;
   return fits;
}

} // namespace

void throwFailure(Failure failure, std::string_view text, const char* typeName) {
   const std::string quoted = ": \"" + std::string(text) + '"';
   switch (failure) {
   case Failure::FieldOverflow:
      throw SqlError(sqlstate::datetimeFieldOverflow, "date/time field value out of range" + quoted);
   case Failure::MonthDayOverflow:
      throw SqlError(sqlstate::datetimeFieldOverflow, "date/time field value out of range" + quoted)
          .hint("Perhaps you need a different \"datestyle\" setting.");
   case Failure::IntervalOverflow:
      throw SqlError(sqlstate::intervalFieldOverflow, "interval field value out of range" + quoted);
   case Failure::DisplacementOverflow:
      throw SqlError(sqlstate::invalidTimeZoneDisplacementValue, "time zone displacement out of range" + quoted);
   case Failure::None:
   case Failure::BadFormat: break;
   }
   throw SqlError(sqlstate::invalidDatetimeFormat, "invalid input syntax for type " + std::string(typeName) + quoted);
}

Failure splitFields(std::string_view text, std::vector<Field>& fields) {
   return Splitter(text, fields).run();
}

Word findDateWord(std::string_view name) {
   return findWord(dateWords, name);
}
Word findIntervalWord(std::string_view name) {
   return findWord(intervalWords, name);
}

bool takeInteger(std::string_view text, std::string_view& rest, int32_t& out) {
   return takeDigits(text, rest, out);
}
bool takeInteger(std::string_view text, std::string_view& rest, int64_t& out) {
   return takeDigits(text, rest, out);
}

Failure parseFraction(std::string_view text, double& out) {
   out = 0;
   if (text.size() <= 1) return Failure::None;
   for (const char c : text.substr(1))
      if (!isDigit(c)) return Failure::BadFormat;
   out = std::strtod(std::string(text).c_str(), nullptr);
   return Failure::None;
}

Failure parseFractionMicros(std::string_view text, int64_t& micros) {
   double fraction = 0;
   const Failure failure = parseFraction(text, fraction);
   if (failure == Failure::None) micros = static_cast<int64_t>(std::rint(fraction * 1'000'000));
   return failure;
}

bool Clock::overflowsDay() const {
   return hour < 0 || hour > 24 || minute < 0 || minute > 59 || second < 0 || second > 60 || micros < 0 ||
          micros > microsPerSecond || total() > microsPerDay;
}

Failure parseClock(std::string_view text, bool isMinuteToSecond, Clock& out) {
   std::string_view rest;
   if (!takeInteger(text, rest, out.hour)) return Failure::FieldOverflow;
   if (rest.empty() || rest[0] != ':') return Failure::BadFormat;
   if (!takeInteger(rest.substr(1), rest, out.minute)) return Failure::FieldOverflow;
   const auto shiftToMinutes = [&out] {
      if (out.hour > INT32_MAX || out.hour < INT32_MIN) return false;
      out.second = out.minute;
      out.minute = static_cast<int32_t>(out.hour);
      out.hour = 0;
      return true;
   };
   if (rest.empty()) {
      if (isMinuteToSecond && !shiftToMinutes()) return Failure::FieldOverflow;
   } else if (rest[0] == '.') {
      const Failure failure = parseFractionMicros(rest, out.micros);
      if (failure != Failure::None) return failure;
      if (!shiftToMinutes()) return Failure::FieldOverflow;
   } else if (rest[0] == ':') {
      if (!takeInteger(rest.substr(1), rest, out.second)) return Failure::FieldOverflow;
      if (!rest.empty()) {
         if (rest[0] != '.') return Failure::BadFormat;
         const Failure failure = parseFractionMicros(rest, out.micros);
         if (failure != Failure::None) return failure;
      }
   } else {
      return Failure::BadFormat;
   }
   if (out.hour < 0 || out.minute < 0 || out.minute > 59 || out.second < 0 || out.second > 60 || out.micros < 0 ||
       out.micros > microsPerSecond)
      return Failure::FieldOverflow;
   return Failure::None;
}

Failure parseOffset(std::string_view text, int32_t& secondsEast) {
   if (text.empty() || (text[0] != '+' && text[0] != '-')) return Failure::BadFormat;
   std::string_view rest;
   int32_t hour = 0, minute = 0, second = 0;
   if (!takeInteger(text.substr(1), rest, hour)) return Failure::DisplacementOverflow;
   if (!rest.empty() && rest[0] == ':') {
      if (!takeInteger(rest.substr(1), rest, minute)) return Failure::DisplacementOverflow;
      if (!rest.empty() && rest[0] == ':' && !takeInteger(rest.substr(1), rest, second))
         return Failure::DisplacementOverflow;
   } else if (rest.empty() && text.size() > 3) {
      minute = hour % 100;
      hour /= 100;
   }
   if (hour < 0 || hour > 15 || minute < 0 || minute > 59 || second < 0 || second > 59)
      return Failure::DisplacementOverflow;
   if (!rest.empty()) return Failure::BadFormat;
   secondsEast = (hour * 60 + minute) * 60 + second;
   if (text[0] == '-') secondsEast = -secondsEast;
   return Failure::None;
}

} // namespace ouzel::date_time
