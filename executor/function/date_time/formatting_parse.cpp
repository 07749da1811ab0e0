#include <cerrno>
#include <cstdlib>
#include <string>

#include "common/calendar/calendar.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/number_text.hpp"
#include "common/type/date_time.hpp"
#include "common/type/date_time_tokens.hpp"
#include "common/type/time_zone.hpp"
#include "executor/function/date_time/format_template.hpp"
#include "executor/function/date_time/formatting.hpp"
#include "executor/function/date_time/template_reader.hpp"

// to_date(), to_timestamp() and jsonpath's datetime(): a point in time from the fields that were read.

namespace ouzel {

namespace {

using namespace formatting;

/// The point in time that the fields give.
struct Moment {
   int64_t days = 0; ///< since 2000-01-01
   int64_t time = 0;
   bool hasOffset = false;
   int32_t offset = 0;
   int32_t precision = -1;
};

class MomentBuilder {
public:
   MomentBuilder(Fields fields, std::string_view text) : f_(fields), text_(text) {}

   Moment run() {
      time();
      setYear();
      if (f_.julian != 0) setDays(static_cast<int64_t>(f_.julian) - julianOfPostgresEpoch);
      if (f_.week != 0) {
         if (f_.calendar == Keyword::Calendar::IsoWeek) {
            const int64_t monday = daysFromIsoWeek(year_, f_.week);
            setDays(f_.dayOfWeek == 0 ? monday : f_.dayOfWeek > 1 ? monday + f_.dayOfWeek - 2 : monday + 6);
         } else {
            f_.dayOfYear = (f_.week - 1) * 7 + 1;
         }
      }
      if (f_.weekOfMonth != 0) f_.day = (f_.weekOfMonth - 1) * 7 + 1;
      if (f_.day != 0) {
         day_ = f_.day;
         hasDay_ = true;
      }
      if (f_.month != 0) {
         month_ = f_.month;
         hasMonth_ = true;
      }
      if (f_.dayOfYear != 0 && (month_ <= 1 || day_ <= 1)) setFromDayOfYear();
      if ((hasMonth_ && (month_ < 1 || month_ > 12)) || (hasDay_ && (day_ < 1 || day_ > 31)) ||
          (hasYear_ && hasMonth_ && hasDay_ && day_ > daysInMonth(year_, static_cast<int32_t>(month_))))
         overflow();
      Moment moment;
      moment.days = daysFromCivil(year_, static_cast<int32_t>(month_), day_);
      moment.time = ((hour_ * 60 + minute_) * 60 + second_) * microsPerSecond + micros_;
      moment.precision = f_.fractionDigits == 0 ? -1 : f_.fractionDigits;
      if (f_.zoneSign != 0) {
         if (f_.zoneHour < 0 || f_.zoneHour > 15 || f_.zoneMinute < 0 || f_.zoneMinute >= 60)
            date_time::throwFailure(date_time::Failure::DisplacementOverflow, text_, "timestamp");
         moment.hasOffset = true;
         moment.offset = f_.zoneSign * (f_.zoneHour * 3600 + f_.zoneMinute * 60);
      }
      return moment;
   }

private:
   [[noreturn]] void overflow() const {
      date_time::throwFailure(date_time::Failure::FieldOverflow, text_, "timestamp");
   }

   void time() {
      if (f_.secondOfDay != 0) {
         hour_ = f_.secondOfDay / 3600;
         minute_ = f_.secondOfDay / 60 % 60;
         second_ = f_.secondOfDay % 60;
      }
      if (f_.second != 0) second_ = f_.second;
      if (f_.minute != 0) minute_ = f_.minute;
      if (f_.hour != 0) hour_ = f_.hour;
      if (f_.is12Hour) {
         if (hour_ < 1 || hour_ > 12)
            throw badText("hour \"" + std::to_string(hour_) + "\" is invalid for the 12-hour clock")
                .hint("Use the 24-hour clock, or give an hour between 1 and 12.");
         if (f_.pm != 0 && hour_ < 12)
            hour_ += 12;
         else if (f_.pm == 0 && hour_ == 12)
            hour_ = 0;
      }
      micros_ = static_cast<int64_t>(f_.millis) * 1000 + f_.micros;
      if (hour_ < 0 || hour_ >= 24 || minute_ < 0 || minute_ >= 60 || second_ < 0 || second_ >= 60 || micros_ < 0 ||
          micros_ >= microsPerSecond)
         overflow();
   }

   void setYear() {
      if (f_.year != 0) {
         hasYear_ = true;
         if (f_.century != 0 && f_.yearSize <= 2) {
            // The year's two digits count within the century. The 21st century begins in 2001, the 6th BC in 600 BC.
            if (f_.bc != 0) f_.century = -f_.century;
            year_ = f_.year % 100;
            if (year_ != 0)
               year_ = f_.century >= 0 ? year_ + (static_cast<int64_t>(f_.century) - 1) * 100
                                       : (static_cast<int64_t>(f_.century) + 1) * 100 - year_ + 1;
            else
               year_ = static_cast<int64_t>(f_.century) * 100 + (f_.century >= 0 ? 0 : 1);
         } else {
            year_ = f_.bc != 0 ? -static_cast<int64_t>(f_.year) : f_.year;
            if (year_ < 0) ++year_;
         }
      } else if (f_.century != 0) {
         hasYear_ = true;
         if (f_.bc != 0) f_.century = -f_.century;
         year_ = f_.century >= 0 ? (static_cast<int64_t>(f_.century) - 1) * 100 + 1
                                 : static_cast<int64_t>(f_.century) * 100 + 1;
      }
   }

   void setDays(int64_t days) {
      const CivilDate d = civilFromDays(days);
      year_ = d.year;
      month_ = d.month;
      day_ = d.day;
      hasYear_ = hasMonth_ = hasDay_ = true;
   }

   void setFromDayOfYear() {
      if (year_ == 0 && f_.bc == 0) throw badText("cannot calculate day of year without year information");
      if (f_.calendar == Keyword::Calendar::IsoWeek) return setDays(daysFromIsoWeek(year_, 1) - 1 + f_.dayOfYear);
      int32_t month = 1;
      int64_t rest = f_.dayOfYear;
      while (month <= 12 && rest > daysInMonth(year_, month)) {
         rest -= daysInMonth(year_, month);
         ++month;
      }
      if (month_ <= 1) month_ = month;
      if (day_ <= 1) day_ = rest;
      hasMonth_ = hasDay_ = true;
   }

   Fields f_;
   std::string_view text_;
   int64_t year_ = 0, month_ = 1, day_ = 1;
   bool hasYear_ = false, hasMonth_ = false, hasDay_ = false;
   int64_t hour_ = 0, minute_ = 0, second_ = 0, micros_ = 0;
};

const std::vector<Node>& nodesOf(std::string_view pattern, TemplateKind kind) {
   thread_local std::string source[2];
   thread_local std::vector<Node> nodes[2];
   const size_t i = kind == TemplateKind::StandardDate ? 1 : 0;
   if (source[i] != pattern) {
      nodes[i] = parseTemplate(pattern, kind);
      source[i] = std::string(pattern);
   }
   return nodes[i];
}

Moment readMoment(std::string_view text, std::string_view pattern) {
   const std::vector<Node>& nodes = nodesOf(pattern, TemplateKind::Date);
   return MomentBuilder(readFields(text, nodes, ReadMode::Lenient), text).run();
}

// ---- the type that a template tells ----

struct Parts {
   bool hasDate = false, hasTime = false, hasZone = false;
};

Parts partsOf(const std::vector<Node>& nodes) {
   Parts parts;
   for (const Node& node : nodes) {
      if (node.kind != NodeKind::Action) continue;
      switch (node.keyword->id) {
      case FX:
      case IW: break; // PostgreSQL forgets that a week is a date
      case A_M:
      case a_m:
      case AM:
      case am:
      case HH:
      case HH12:
      case HH24:
      case MI:
      case SS:
      case MS:
      case US:
      case FF1:
      case FF2:
      case FF3:
      case FF4:
      case FF5:
      case FF6:
      case SSSS: parts.hasTime = true; break;
      case tz:
      case TZ:
      case OF:
      case TZH:
      case TZM: parts.hasZone = true; break;
      default: parts.hasDate = true; break;
      }
   }
   return parts;
}

DateTimeValue valueOf(const Moment& moment, const Parts& parts, std::string_view text) {
   DateTimeValue result;
   result.zone = moment.hasOffset ? -moment.offset : 0;
   if (!parts.hasTime) {
      if (!parts.hasDate) throw badText("datetime format is not dated and not timed");
      if (parts.hasZone) throw badText("datetime format is zoned but not timed");
      if (!isValidDate(moment.days))
         throw SqlError(sqlstate::datetimeValueOutOfRange, "date out of range: \"" + std::string(text) + '"');
      result.type = oid::date;
      result.value = moment.days;
      return result;
   }
   if (!parts.hasDate) {
      result.type = parts.hasZone ? oid::timetz : oid::time;
      result.value = roundTime(moment.time, moment.precision);
      return result;
   }
   result.type = parts.hasZone ? oid::timestamptz : oid::timestamp;
   const int128 at = static_cast<int128>(moment.days) * microsPerDay + moment.time +
                     static_cast<int128>(result.zone) * microsPerSecond;
   if (at < timestampMin || at >= timestampEnd)
      throw SqlError(sqlstate::datetimeValueOutOfRange,
                     parts.hasZone ? "timestamptz out of range" : "timestamp out of range");
   result.value = roundTimestamp(static_cast<int64_t>(at), moment.precision);
   return result;
}

/// Reads what the templates yyyy-mm-dd, HH24:MI:SS, both with a blank or a T between them, and .US, TZH or TZH:TZM
/// behind the seconds mean: numbers with any count of digits, blanks before them and a sign.
class IsoReader {
public:
   explicit IsoReader(std::string_view text) : text_(text) {}

   bool run(Fields& fields, Parts& parts) {
      int32_t first = 0;
      if (!number(first)) return false;
      if (take('-')) {
         parts.hasDate = true;
         fields.year = first;
         if (!number(fields.month) || !take('-') || !number(fields.day)) return false;
         if (isOver()) return true;
         if (!take(' ') && !take('T')) return false;
         if (!number(first)) return false;
      }
      parts.hasTime = true;
      fields.hour = first;
      if (!take(':') || !number(fields.minute) || !take(':') || !number(fields.second)) return false;
      if (take('.') && !fraction(fields.micros)) return false;
      if (isOver()) return true;
      parts.hasZone = true;
      fields.zoneSign = take('-') ? -1 : 1;
      if (fields.zoneSign > 0 && !take('+')) take(' ');
      if (!number(fields.zoneHour)) return false;
      if (take(':') && !number(fields.zoneMinute)) return false;
      return isOver();
   }

private:
   void skipBlanks() {
      while (at_ < text_.size() && isBlank(text_[at_]))
         ++at_;
   }
   bool isOver() {
      const size_t before = at_;
      skipBlanks();
      if (at_ == text_.size()) return true;
      at_ = before;
      return false;
   }
   bool take(char c) {
      if (at_ >= text_.size() || text_[at_] != c) return false;
      ++at_;
      return true;
   }
   bool number(int32_t& out) {
      skipBlanks();
      const bool isNegative = take('-');
      if (!isNegative) take('+');
      const size_t begin = at_;
      int64_t value = 0;
      for (; at_ < text_.size() && isDigit(text_[at_]); ++at_) {
         value = value * 10 + (text_[at_] - '0');
         if (value > int64_t{INT32_MAX} + 1) return false;
      }
      if (isNegative) value = -value;
      out = static_cast<int32_t>(value);
      return at_ > begin && value <= INT32_MAX;
   }
   bool fraction(int32_t& micros) {
      const size_t begin = at_;
      if (!number(micros)) return false;
      for (size_t length = at_ - begin; length < 6; ++length) // with blanks and sign, as the template's field US
         micros *= 10;
      return true;
   }

   std::string_view text_;
   size_t at_ = 0;
};

} // namespace

int32_t toDate(std::string_view text, std::string_view pattern) {
   const Moment moment = readMoment(text, pattern);
   if (!isValidDate(moment.days))
      throw SqlError(sqlstate::datetimeValueOutOfRange, "date out of range: \"" + std::string(text) + '"');
   return static_cast<int32_t>(moment.days);
}

int64_t toTimestamp(std::string_view text, std::string_view pattern, const SessionFormat& format) {
   const Moment moment = readMoment(text, pattern);
   const int128 local = static_cast<int128>(moment.days) * microsPerDay + moment.time;
   if (local >= timestampMin && local < timestampEnd) {
      const int64_t at = static_cast<int64_t>(local);
      const int32_t offset = moment.hasOffset ? moment.offset : zoneOffsetOfLocal(format.zone, at);
      const int64_t result = at - offset * microsPerSecond;
      if (isValidTimestamp(result)) return roundTimestamp(result, moment.precision);
   }
   throw SqlError(sqlstate::datetimeValueOutOfRange, "timestamp out of range");
}

DateTimeValue parseDateTime(std::string_view text, std::string_view pattern) {
   const std::vector<Node>& nodes = nodesOf(pattern, TemplateKind::StandardDate);
   // An empty template reads nothing, and it is the lack of fields that PostgreSQL reports.
   const Fields fields = pattern.empty() ? Fields() : readFields(text, nodes, ReadMode::Standard);
   const Moment moment = MomentBuilder(fields, text).run();
   return valueOf(moment, partsOf(nodes), text);
}

void checkDateTimeTemplate(std::string_view pattern) {
   nodesOf(pattern, TemplateKind::StandardDate);
}

std::optional<DateTimeValue> parseIsoDateTime(std::string_view text) {
   Fields fields;
   Parts parts;
   if (!IsoReader(text).run(fields, parts)) return std::nullopt;
   try {
      return valueOf(MomentBuilder(fields, text).run(), parts, text);
   } catch (const SqlError&) { // no such day or time: it fits no template
      return std::nullopt;
   }
}

} // namespace ouzel
