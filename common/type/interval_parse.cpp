#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "common/error/sql_error.hpp"
#include "common/text/number_text.hpp"
#include "common/type/date_time.hpp"
#include "common/type/date_time_tokens.hpp"

// Intervals from text: PostgreSQL's verbose form, the SQL standard's and ISO 8601's.

namespace ouzel {

namespace {

using namespace date_time;

/// Adds up the parts. Every adding function says false on overflow.
struct Sum {
   int64_t micros = 0;
   int32_t days = 0, months = 0;

   bool addMicros(int64_t value, double fraction, int64_t scale) {
      int64_t scaled;
      return !__builtin_mul_overflow(value, scale, &scaled) && !__builtin_add_overflow(micros, scaled, &micros) &&
             addFractionMicros(fraction, scale);
   }
   bool addFractionMicros(double fraction, int64_t scale) {
      if (fraction == 0) return true;
      fraction *= static_cast<double>(scale);
      int64_t extra = static_cast<int64_t>(fraction);
      fraction -= static_cast<double>(extra);
      if (fraction > 0.5)
         ++extra;
      else if (fraction < -0.5)
         --extra;
      return !__builtin_add_overflow(micros, extra, &micros);
   }
   bool addDays(int64_t value, int32_t scale) {
      int32_t scaled;
      return value >= INT32_MIN && value <= INT32_MAX &&
             !__builtin_mul_overflow(static_cast<int32_t>(value), scale, &scaled) &&
             !__builtin_add_overflow(days, scaled, &days);
   }
   bool addFractionDays(double fraction, int32_t scale) {
      if (fraction == 0) return true;
      fraction *= scale;
      const int32_t extra = static_cast<int32_t>(fraction);
      if (__builtin_add_overflow(days, extra, &days)) return false;
      return addFractionMicros(fraction - extra, microsPerDay);
   }
   bool addMonths(int64_t value) {
      return value >= INT32_MIN && value <= INT32_MAX &&
             !__builtin_add_overflow(months, static_cast<int32_t>(value), &months);
   }
   bool addYears(int64_t value, double fraction, int32_t scale) {
      int64_t scaled;
      if (__builtin_mul_overflow(value, static_cast<int64_t>(scale), &scaled) || scaled > INT32_MAX ||
          scaled < INT32_MIN)
         return false;
      years += static_cast<int64_t>(scaled);
      return addMonths(static_cast<int64_t>(std::rint(fraction * scale * 12)));
   }
   int64_t years = 0; // separate from months: only their sum must fit
   bool negate() {
      if (months == INT32_MIN || days == INT32_MIN || micros == INT64_MIN) return false;
      months = -months;
      days = -days;
      micros = -micros;
      years = -years;
      return true;
   }
   bool finish(Interval& out) const {
      const int64_t total = years * 12 + months;
      if (total > INT32_MAX || total < INT32_MIN) return false;
      out = {micros, days, static_cast<int32_t>(total)};
      return true;
   }
};

constexpr int32_t yearField = 1 << 2, monthField = 1 << 1, dayField = 1 << 3, hourField = 1 << 10,
                  minuteField = 1 << 11, secondField = 1 << 12;

/// The unit of a rightmost number that has no unit, for an interval of these fields.
Unit defaultUnit(int32_t range) {
   switch (range) {
   case yearField: return Unit::Year;
   case monthField:
   case yearField | monthField: return Unit::Month;
   case dayField: return Unit::Day;
   case hourField:
   case dayField | hourField: return Unit::Hour;
   case minuteField:
   case hourField | minuteField:
   case dayField | hourField | minuteField: return Unit::Minute;
   default: return Unit::Second;
   }
}

/// Reads the fields backwards, so that units come before their values.
class FieldReader {
public:
   FieldReader(std::vector<Field>& fields, int32_t range, IntervalStyle style)
      : fields_(fields), range_(range), forceNegative_(style == IntervalStyle::SqlStandard && leadingSignIsForAll()) {}

   Failure run(Sum& sum) {
      uint32_t seen = 0;
      bool isBefore = false;
      for (size_t i = fields_.size(); i-- > 0;) {
         uint32_t mask = 0;
         const Failure failure = field(fields_[i], sum, mask, isBefore);
         if (failure != Failure::None) return failure;
         if ((mask & seen) != 0) return Failure::BadFormat;
         seen |= mask;
      }
      if (seen == 0) return Failure::BadFormat;
      return isBefore && !sum.negate() ? Failure::FieldOverflow : Failure::None;
   }

private:
   bool leadingSignIsForAll() const {
      if (fields_.empty() || fields_[0].text[0] != '-') return false;
      return std::none_of(fields_.begin() + 1, fields_.end(),
                          [](const Field& f) { return f.text[0] == '-' || f.text[0] == '+'; });
   }

   Failure field(const Field& f, Sum& sum, uint32_t& mask, bool& isBefore) {
      switch (f.kind) {
      case FieldKind::Time: return clock(f.text, false, sum, mask);
      case FieldKind::Zone:
         // A signed clock time, or else a signed number.
         if (f.text.find(':', 1) != std::string::npos &&
             clock(std::string_view(f.text).substr(1), f.text[0] == '-', sum, mask) == Failure::None)
            return Failure::None;
         return number(f.text, sum, mask);
      case FieldKind::Date:
      case FieldKind::Number: return number(f.text, sum, mask);
      case FieldKind::String:
      case FieldKind::Special: return word(f.text, isBefore);
      }
      return Failure::BadFormat;
   }

   Failure clock(std::string_view text, bool isNegative, Sum& sum, uint32_t& mask) {
      Clock c;
      const Failure failure = parseClock(text, range_ == (minuteField | secondField), c);
      if (failure != Failure::None) return failure;
      const int128 total = (static_cast<int128>(c.hour) * 3600 + c.minute * 60 + c.second) * microsPerSecond + c.micros;
      if (total > INT64_MAX) return Failure::FieldOverflow;
      const int64_t micros = static_cast<int64_t>(total);
      if (__builtin_add_overflow(sum.micros, isNegative || forceNegative_ ? -micros : micros, &sum.micros))
         return Failure::FieldOverflow;
      mask = timeMask;
      unit_ = Unit::Day;
      return Failure::None;
   }

   Failure number(std::string_view text, Sum& sum, uint32_t& mask) {
      if (unit_ == Unit::None) unit_ = defaultUnit(range_);
      std::string_view rest;
      int64_t value = 0;
      double fraction = 0;
      if (!takeInteger(text, rest, value)) return Failure::FieldOverflow;
      if (!rest.empty() && rest[0] == '-') { // years-months
         int32_t months = 0;
         if (!takeInteger(rest.substr(1), rest, months) || months < 0 || months >= 12) return Failure::FieldOverflow;
         if (!rest.empty()) return Failure::BadFormat;
         unit_ = Unit::Month;
         if (__builtin_mul_overflow(value, int64_t{12}, &value) ||
             __builtin_add_overflow(value, text[0] == '-' ? -int64_t{months} : int64_t{months}, &value))
            return Failure::FieldOverflow;
      } else if (!rest.empty() && rest[0] == '.') {
         const Failure failure = parseFraction(rest, fraction);
         if (failure != Failure::None) return failure;
         if (text[0] == '-') fraction = -fraction;
      } else if (!rest.empty()) {
         return Failure::BadFormat;
      }
      if (forceNegative_) {
         if (value > 0) value = -value;
         if (fraction > 0) fraction = -fraction;
      }
      bool fits = true;
      switch (unit_) {
      case Unit::Microsecond:
         fits = sum.addMicros(value, fraction, 1);
         mask = bit(Token::Microsecond);
         break;
      case Unit::Millisecond:
         fits = sum.addMicros(value, fraction, 1000);
         mask = bit(Token::Millisecond);
         break;
      case Unit::Second:
         fits = sum.addMicros(value, fraction, microsPerSecond);
         mask = fraction == 0 ? bit(Token::Second) : allSecondsMask;
         break;
      case Unit::Minute:
         fits = sum.addMicros(value, fraction, microsPerMinute);
         mask = bit(Token::Minute);
         break;
      case Unit::Hour:
         fits = sum.addMicros(value, fraction, microsPerHour);
         mask = bit(Token::Hour);
         unit_ = Unit::Day;
         break;
      case Unit::Day:
         fits = sum.addDays(value, 1) && sum.addFractionMicros(fraction, microsPerDay);
         mask = bit(Token::Day);
         break;
      case Unit::Week:
         fits = sum.addDays(value, 7) && sum.addFractionDays(fraction, 7);
         mask = bit(Token::Week);
         break;
      case Unit::Month:
         fits = sum.addMonths(value) && sum.addFractionDays(fraction, 30);
         mask = bit(Token::Month);
         break;
      case Unit::Year:
         fits = sum.addYears(value, fraction, 1);
         mask = bit(Token::Year);
         break;
      case Unit::Decade:
         fits = sum.addYears(value, fraction, 10);
         mask = bit(Token::Decade);
         break;
      case Unit::Century:
         fits = sum.addYears(value, fraction, 100);
         mask = bit(Token::Century);
         break;
      case Unit::Millennium:
         fits = sum.addYears(value, fraction, 1000);
         mask = bit(Token::Millennium);
         break;
      default: return Failure::BadFormat;
      }
      return fits ? Failure::None : Failure::FieldOverflow;
   }

   Failure word(std::string_view text, bool& isBefore) {
      Word w = findIntervalWord(text);
      if (w.token == Token::Unknown) w = findDateWord(text);
      switch (w.token) {
      case Token::Ignored: return Failure::None;
      case Token::Units: unit_ = static_cast<Unit>(w.value); return Failure::None;
      case Token::Ago:
         isBefore = true;
         unit_ = Unit::None;
         return Failure::None;
      default: return Failure::BadFormat;
      }
   }

   std::vector<Field>& fields_;
   int32_t range_;
   bool forceNegative_;
   Unit unit_ = Unit::None;
};

/// P1Y2M3DT4H5M6S and the alternative forms P0001-02-03T04:05:06 and P00010203T040506.
class IsoReader {
public:
   explicit IsoReader(std::string_view text) : text_(text) {}

   Failure run(Sum& sum) {
      if (text_.size() < 2 || text_[0] != 'P') return Failure::BadFormat;
      p_ = 1;
      bool isDatePart = true, hasField = false;
      while (p_ < text_.size()) {
         if (text_[p_] == 'T') {
            isDatePart = false;
            hasField = false;
            ++p_;
            continue;
         }
         const size_t start = p_;
         Number n;
         Failure failure = number(n);
         if (failure != Failure::None) return failure;
         const char unit = take();
         if (isDatePart) {
            bool isDone = false;
            failure = datePart(unit, n, start, hasField, sum, isDatePart, isDone);
            if (failure != Failure::None || isDone) return failure;
            if (!isDatePart) {
               hasField = false;
               continue;
            }
         } else {
            bool isDone = false;
            failure = timePart(unit, n, start, hasField, sum, isDone);
            if (failure != Failure::None || isDone) return failure;
         }
         hasField = true;
      }
      return Failure::None;
   }

private:
   struct Number {
      int64_t whole = 0;
      double fraction = 0;
   };
   char peek() const { return p_ < text_.size() ? text_[p_] : '\0'; }
   char take() {
      const char c = peek();
      ++p_;
      return c;
   }

   Failure number(Number& n) {
      if (!isDigit(peek()) && peek() != '-' && peek() != '.') return Failure::BadFormat;
      const std::string rest(text_.substr(p_));
      char* end = nullptr;
      const double value = std::strtod(rest.c_str(), &end);
      if (end == rest.c_str()) return Failure::BadFormat;
      if (!(value >= -1.0e15 && value <= 1.0e15)) return Failure::FieldOverflow;
      p_ += static_cast<size_t>(end - rest.c_str());
      n.whole = static_cast<int64_t>(value);
      n.fraction = value - static_cast<double>(n.whole);
      return Failure::None;
   }

   int integerWidth(size_t start) const {
      if (start < text_.size() && text_[start] == '-') ++start;
      int width = 0;
      while (start < text_.size() && isDigit(text_[start]))
         ++start, ++width;
      return width;
   }

   static Failure checked(bool fits) { return fits ? Failure::None : Failure::FieldOverflow; }

   Failure datePart(char unit, const Number& n, size_t start, bool hasField, Sum& sum, bool& isDatePart, bool& isDone) {
      switch (unit) {
      case 'Y': return checked(sum.addYears(n.whole, n.fraction, 1));
      case 'M': return checked(sum.addMonths(n.whole) && sum.addFractionDays(n.fraction, 30));
      case 'W': return checked(sum.addDays(n.whole, 7) && sum.addFractionDays(n.fraction, 7));
      case 'D': return checked(sum.addDays(n.whole, 1) && sum.addFractionMicros(n.fraction, microsPerDay));
      case 'T':
      case '\0':
         if (integerWidth(start) == 8 && !hasField) { // yyyymmdd
            const bool fits = sum.addYears(n.whole / 10000, 0, 1) && sum.addMonths(n.whole / 100 % 100) &&
                              sum.addDays(n.whole % 100, 1) && sum.addFractionMicros(n.fraction, microsPerDay);
            isDone = unit == '\0';
            isDatePart = false;
            return checked(fits);
         }
         [[fallthrough]];
      case '-': {
         if (hasField) return Failure::BadFormat;
         if (!sum.addYears(n.whole, n.fraction, 1)) return Failure::FieldOverflow;
         if (endsDate(unit, isDatePart, isDone)) return Failure::None;
         Number next;
         Failure failure = number(next);
         if (failure != Failure::None) return failure;
         if (!sum.addMonths(next.whole) || !sum.addFractionDays(next.fraction, 30)) return Failure::FieldOverflow;
         char delimiter = take();
         if (endsDate(delimiter, isDatePart, isDone)) return Failure::None;
         if (delimiter != '-') return Failure::BadFormat;
         failure = number(next);
         if (failure != Failure::None) return failure;
         if (!sum.addDays(next.whole, 1) || !sum.addFractionMicros(next.fraction, microsPerDay))
            return Failure::FieldOverflow;
         delimiter = take();
         return endsDate(delimiter, isDatePart, isDone) ? Failure::None : Failure::BadFormat;
      }
      default: return Failure::BadFormat;
      }
   }

   static bool endsDate(char c, bool& isDatePart, bool& isDone) {
      if (c != '\0' && c != 'T') return false;
      isDone = c == '\0';
      isDatePart = false;
      return true;
   }

   Failure timePart(char unit, const Number& n, size_t start, bool hasField, Sum& sum, bool& isDone) {
      switch (unit) {
      case 'H': return checked(sum.addMicros(n.whole, n.fraction, microsPerHour));
      case 'M': return checked(sum.addMicros(n.whole, n.fraction, microsPerMinute));
      case 'S': return checked(sum.addMicros(n.whole, n.fraction, microsPerSecond));
      case '\0':
         if (integerWidth(start) == 6 && !hasField) { // hhmmss
            isDone = true;
            return checked(sum.addMicros(n.whole / 10000, 0, microsPerHour) &&
                           sum.addMicros(n.whole / 100 % 100, 0, microsPerMinute) &&
                           sum.addMicros(n.whole % 100, n.fraction, microsPerSecond));
         }
         [[fallthrough]];
      case ':': {
         if (hasField) return Failure::BadFormat;
         isDone = true;
         if (!sum.addMicros(n.whole, n.fraction, microsPerHour)) return Failure::FieldOverflow;
         if (unit == '\0') return Failure::None;
         for (const int64_t scale : {microsPerMinute, microsPerSecond}) {
            Number next;
            const Failure failure = number(next);
            if (failure != Failure::None) return failure;
            if (!sum.addMicros(next.whole, next.fraction, scale)) return Failure::FieldOverflow;
            const char delimiter = take();
            if (delimiter == '\0') return Failure::None;
            if (delimiter != ':') return Failure::BadFormat;
         }
         return Failure::BadFormat;
      }
      default: return Failure::BadFormat;
      }
   }

   std::string_view text_;
   size_t p_ = 0;
};

} // namespace

Interval parseInterval(std::string_view text, const SessionFormat& format, int32_t typmod) {
   const int32_t range = typmod >= 0 ? (typmod >> 16) & intervalFullRange : intervalFullRange;
   std::vector<Field> fields;
   Sum sum;
   Failure failure = splitFields(text, fields);
   if (failure == Failure::None) failure = FieldReader(fields, range, format.intervalStyle).run(sum);
   if (failure == Failure::BadFormat) {
      sum = Sum();
      failure = IsoReader(text).run(sum);
   }
   // A field that overflows inside an interval is reported as the interval's overflow.
   if (failure == Failure::FieldOverflow) failure = Failure::IntervalOverflow;
   if (failure != Failure::None) throwFailure(failure, text, "interval");
   Interval result;
   if (!sum.finish(result)) throw SqlError(sqlstate::datetimeValueOutOfRange, "interval out of range");
   return applyIntervalTypmod(result, typmod);
}

} // namespace ouzel
