#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "common/error/sql_error.hpp"
#include "common/text/number_text.hpp"
#include "common/type/date_time.hpp"
#include "common/type/date_time_tokens.hpp"
#include "common/type/time_zone.hpp"
#include "common/type/zone_history.hpp"

// Dates and times from text, by PostgreSQL's rules: fields are read from left to right, and the meaning of a field
// depends on the parts of the date that the fields before it gave.

namespace ouzel {

namespace {

using namespace date_time;

/// Reads the fields of one date, time or timestamp.
class FieldReader {
public:
   enum class Goal : uint8_t { DateTime, TimeOnly };
   FieldReader(std::vector<Field>& fields, const SessionFormat& format, Goal goal)
      : fields_(fields), format_(format), goal_(goal) {}

   // The result; valid after run() has returned None.
   bool isReserved = false;
   Reserved reserved = Reserved::Epoch; ///< Epoch, Infinity or MinusInfinity
   int64_t year = 0;
   int32_t month = 0, day = 0;
   Clock clock;
   bool hasZone = false;
   const TimeZone* zone = nullptr; ///< a named zone, else the offset
   std::string_view abbreviation;  ///< by which the zone was named, if it was one
   int32_t offset = 0;             ///< seconds east

   bool hasDate() const { return (seen_ & dateMask) == dateMask; }
   int64_t days() const { return daysFromCivil(year, month, day); }

   Failure run() {
      for (size_t i = 0; i < fields_.size(); ++i) {
         uint32_t mask = 0;
         isIgnored_ = false;
         const Failure failure = field(i, mask);
         if (failure != Failure::None) return failure;
         if (isIgnored_) continue;
         if ((mask & seen_) != 0) return Failure::BadFormat;
         seen_ |= mask;
      }
      if (prefix_ != Unit::None) return Failure::BadFormat;
      if (isReserved) return Failure::None;
      return finish();
   }

private:
   // When only a time is wanted, numbers are read as if the date were complete.
   uint32_t seenForNumbers() const { return goal_ == Goal::TimeOnly ? seen_ | dateMask : seen_; }

   Failure field(size_t i, uint32_t& mask) {
      const Field& f = fields_[i];
      switch (f.kind) {
      case FieldKind::Date: return dateField(i, mask);
      case FieldKind::Time: {
         if (prefix_ != Unit::None) {
            if (prefix_ != Unit::Time) return Failure::BadFormat;
            prefix_ = Unit::None;
         }
         const Failure failure = parseClock(f.text, false, clock);
         if (failure != Failure::None) return failure;
         mask = timeMask;
         return goal_ == Goal::DateTime && clock.overflowsDay() ? Failure::FieldOverflow : Failure::None;
      }
      case FieldKind::Zone: {
         const Failure failure = parseOffset(f.text, offset);
         hasZone = true;
         zone = nullptr;
         mask = bit(Token::Zone);
         return failure;
      }
      case FieldKind::Number: return prefix_ != Unit::None ? labelledNumber(f.text, mask) : plainNumber(i, mask);
      case FieldKind::String:
      case FieldKind::Special: return word(f.text, mask);
      }
      return Failure::BadFormat;
   }

   Failure namedZone(std::string_view name, uint32_t& mask) {
      zone = findTimeZone(name);
      if (!zone)
         throw SqlError(sqlstate::invalidParameterValue, "time zone \"" + std::string(name) + "\" not recognized");
      hasZone = true;
      mask = bit(Token::Zone);
      return Failure::None;
   }

   /// A time without colons and its zone in one field: hhmmss-zz.
   Failure concatenatedTimeWithZone(const std::string& text, uint32_t& mask) {
      if ((seen_ & timeMask) == timeMask) return Failure::BadFormat;
      const size_t dash = text.find('-');
      if (dash == std::string::npos) return Failure::BadFormat;
      Failure failure = parseOffset(std::string_view(text).substr(dash), offset);
      if (failure != Failure::None) return failure;
      hasZone = true;
      failure = concatenated(std::string_view(text).substr(0, dash), seenForNumbers(), mask);
      mask |= bit(Token::Zone);
      return failure;
   }

   Failure dateField(size_t i, uint32_t& mask) {
      const std::string& text = fields_[i].text;
      if (goal_ == Goal::TimeOnly) {
         // A date may stand in front if a time follows.
         const bool dateIsAllowed = i == 0 && fields_.size() >= 2 &&
                                    (fields_.back().kind == FieldKind::Date || fields_[1].kind == FieldKind::Time);
         if (dateIsAllowed) return date(text, mask);
         return isDigit(text[0]) ? concatenatedTimeWithZone(text, mask) : namedZone(text, mask);
      }
      if (prefix_ == Unit::Julian) { // a Julian day with a zone behind
         std::string_view rest;
         int32_t julian = 0;
         if (!takeInteger(text, rest, julian) || julian < 0) return Failure::FieldOverflow;
         setJulian(julian);
         const Failure failure = parseOffset(rest, offset);
         hasZone = true;
         mask = dateMask | timeMask | bit(Token::Zone);
         prefix_ = Unit::None;
         return failure;
      }
      constexpr uint32_t monthAndDay = bit(Token::Month) | bit(Token::Day);
      if (prefix_ == Unit::None && (seen_ & monthAndDay) != monthAndDay) return date(text, mask);
      if (!isDigit(text[0]) && prefix_ == Unit::None) return namedZone(text, mask);
      if (prefix_ != Unit::None) {
         if (prefix_ != Unit::Time) return Failure::BadFormat;
         prefix_ = Unit::None;
      }
      return concatenatedTimeWithZone(text, mask);
   }

   void setJulian(int64_t julian) {
      const CivilDate d = civilFromDays(julian - julianOfPostgresEpoch);
      year = d.year;
      month = d.month;
      day = d.day;
      isJulian_ = true;
   }

   /// A number whose meaning the word before it gave: y2001m02d04.
   Failure labelledNumber(const std::string& text, uint32_t& mask) {
      std::string_view rest;
      int32_t value = 0;
      if (!takeInteger(text, rest, value)) return Failure::FieldOverflow;
      if (!rest.empty() &&
          (rest[0] != '.' || (prefix_ != Unit::Julian && prefix_ != Unit::Time && prefix_ != Unit::Second)))
         return Failure::BadFormat;
      Failure failure = Failure::None;
      switch (prefix_) {
      case Unit::Year:
         year = value;
         mask = bit(Token::Year);
         break;
      case Unit::Month:
         if ((seen_ & bit(Token::Month)) != 0 && (seen_ & bit(Token::Hour)) != 0) {
            clock.minute = value;
            mask = bit(Token::Minute);
         } else {
            month = value;
            mask = bit(Token::Month);
         }
         break;
      case Unit::Day:
         day = value;
         mask = bit(Token::Day);
         break;
      case Unit::Hour:
         clock.hour = value;
         mask = bit(Token::Hour);
         break;
      case Unit::Minute:
         clock.minute = value;
         mask = bit(Token::Minute);
         break;
      case Unit::Second:
         clock.second = value;
         mask = bit(Token::Second);
         if (!rest.empty()) {
            failure = parseFractionMicros(rest, clock.micros);
            mask = allSecondsMask;
         }
         break;
      case Unit::Julian: {
         if (value < 0) return Failure::FieldOverflow;
         setJulian(value);
         mask = dateMask;
         if (rest.empty()) break;
         double fraction = 0;
         failure = parseFraction(rest, fraction);
         const int64_t micros = static_cast<int64_t>(fraction * static_cast<double>(microsPerDay));
         const CivilTime t = civilFromTimestamp(micros);
         clock = {t.hour, t.minute, t.second, t.micros};
         mask |= timeMask;
         break;
      }
      case Unit::Time:
         failure = concatenated(text, seen_ | dateMask, mask);
         if (failure == Failure::None && mask != timeMask) return Failure::BadFormat;
         break;
      default: return Failure::BadFormat;
      }
      prefix_ = Unit::None;
      return failure;
   }

   Failure plainNumber(size_t i, uint32_t& mask) {
      const std::string& text = fields_[i].text;
      const size_t point = text.find('.');
      if (goal_ == Goal::TimeOnly) {
         if (point != std::string::npos) {
            if (i == 0 && fields_.size() >= 2 && fields_.back().kind == FieldKind::Date) return date(text, mask);
            return point > 2 ? concatenated(text, seenForNumbers(), mask) : Failure::BadFormat;
         }
         return text.size() > 4 ? concatenated(text, seenForNumbers(), mask)
                                : number(text, false, seenForNumbers(), mask);
      }
      if (point != std::string::npos && (seen_ & dateMask) == 0) return date(text, mask);
      if (point != std::string::npos && point > 2) return concatenated(text, seen_, mask);
      // Six digits and more are YMD or HMS as long as one of them is missing; otherwise a year.
      if (text.size() >= 6 && ((seen_ & dateMask) == 0 || (seen_ & timeMask) == 0))
         return concatenated(text, seen_, mask);
      return number(text, hasTextMonth_, seen_, mask);
   }

   /// A date in one field: parts between punctuation, perhaps with a month's name.
   Failure date(std::string_view text, uint32_t& mask) {
      std::vector<std::string_view> parts;
      for (size_t p = 0; p < text.size() && parts.size() < 25;) {
         while (p < text.size() && !isAlphanumeric(text[p]))
            ++p;
         if (p == text.size()) return Failure::BadFormat;
         const size_t start = p;
         if (isDigit(text[p])) {
            while (p < text.size() && isDigit(text[p]))
               ++p;
         } else {
            while (p < text.size() && isAlphanumeric(text[p]) && !isDigit(text[p]))
               ++p;
         }
         parts.push_back(text.substr(start, p - start));
         if (p < text.size()) ++p;
      }
      uint32_t seen = seen_;
      bool hasTextMonth = false;
      mask = 0;
      for (std::string_view& part : parts) {
         if (isDigit(part[0])) continue;
         const Word w = findDateWord(part);
         if (w.token == Token::Ignored) continue;
         if (w.token != Token::Month) return Failure::BadFormat;
         month = w.value;
         hasTextMonth = true;
         if ((seen & bit(Token::Month)) != 0) return Failure::BadFormat;
         seen |= bit(Token::Month);
         mask |= bit(Token::Month);
         part = {};
      }
      for (const std::string_view part : parts) {
         if (part.empty()) continue;
         uint32_t partMask = 0;
         const Failure failure = number(part, hasTextMonth, seen, partMask);
         if (failure != Failure::None) return failure;
         if ((seen & partMask) != 0) return Failure::BadFormat;
         seen |= partMask;
         mask |= partMask;
      }
      return (seen & ~(bit(Token::DayOfYear) | bit(Token::Zone))) == dateMask ? Failure::None : Failure::BadFormat;
   }

   static bool isAlphanumeric(char c) {
      return isDigit(c) || (c >= 'a' && c <= 'z') || static_cast<signed char>(c) < 0;
   }

   /// One number, whose meaning follows from `seen`, the parts that were read before it.
   Failure number(std::string_view text, bool hasTextMonth, uint32_t seen, uint32_t& mask) {
      std::string_view rest;
      int32_t value = 0;
      if (!takeInteger(text, rest, value)) return Failure::FieldOverflow;
      if (rest.size() == text.size()) return Failure::BadFormat;
      if (!rest.empty()) {
         if (rest[0] != '.') return Failure::BadFormat;
         if (text.size() - rest.size() > 2) return concatenated(text, seen | dateMask, mask);
         const Failure failure = parseFractionMicros(rest, clock.micros);
         if (failure != Failure::None) return failure;
      }
      const size_t length = text.size();
      if (length == 3 && (seen & dateMask) == bit(Token::Year) && value >= 1 && value <= 366) {
         mask = bit(Token::DayOfYear) | bit(Token::Month) | bit(Token::Day);
         dayOfYear_ = value;
         return Failure::None;
      }
      constexpr uint32_t y = bit(Token::Year), m = bit(Token::Month), d = bit(Token::Day);
      const bool isYear = length >= 3 || format_.dateOrder == DateOrder::Ymd;
      switch (seen & dateMask) {
      case 0: mask = isYear ? y : format_.dateOrder == DateOrder::Dmy ? d : m; break;
      case y: mask = m; break;
      case m: mask = hasTextMonth && isYear ? y : d; break;
      case y | m:
         if (hasTextMonth && length >= 3 && isTwoDigits_) {
            // The number that was taken for the year was the day.
            day = static_cast<int32_t>(year);
            year = value;
            isTwoDigits_ = false;
            mask = d;
            return Failure::None;
         }
         mask = d;
         break;
      case d: mask = m; break;
      case m | d: mask = y; break;
      case y | m | d: return concatenated(text, seen, mask);
      default: return Failure::BadFormat;
      }
      if (mask == y) {
         year = value;
         isTwoDigits_ = length <= 2;
      } else if (mask == m) {
         month = value;
      } else {
         day = value;
      }
      return Failure::None;
   }

   /// yyyymmdd, yymmdd, hhmmss, hhmm, with a fraction only as a time.
   Failure concatenated(std::string_view text, uint32_t seen, uint32_t& mask) {
      const size_t point = text.find('.');
      const auto two = [&text](size_t at) { return (text[at] - '0') * 10 + (text[at + 1] - '0'); };
      if (point != std::string_view::npos) {
         const Failure failure = parseFractionMicros(text.substr(point), clock.micros);
         if (failure != Failure::None) return failure;
         text = text.substr(0, point);
      } else if ((seen & dateMask) != dateMask && text.size() >= 6) {
         std::string_view rest;
         int32_t wide = 0;
         if (!takeInteger(text.substr(0, text.size() - 4), rest, wide)) return Failure::FieldOverflow;
         year = wide;
         month = two(text.size() - 4);
         day = two(text.size() - 2);
         if (text.size() == 6) isTwoDigits_ = true;
         mask = dateMask;
         return Failure::None;
      }
      if (!std::all_of(text.begin(), text.end(), [](char c) { return isDigit(c); })) return Failure::BadFormat;
      if ((seen & timeMask) != timeMask && (text.size() == 6 || text.size() == 4)) {
         clock.hour = two(0);
         clock.minute = two(2);
         clock.second = text.size() == 6 ? two(4) : 0;
         mask = timeMask;
         return Failure::None;
      }
      return Failure::BadFormat;
   }

   Failure word(std::string_view text, uint32_t& mask) {
      if (const std::optional<ZoneAbbreviation> known = findZoneAbbreviation(text)) {
         mask = bit(Token::Zone);
         hasZone = true;
         zone = known->zone;
         zoneIsAbbreviated_ = true;
         abbreviation = text;
         offset = known->seconds;
         return Failure::None;
      }
      const Word w = findDateWord(text);
      mask = bit(w.token);
      switch (w.token) {
      case Token::Ignored: isIgnored_ = true; return Failure::None;
      case Token::Reserved: return reservedWord(static_cast<Reserved>(w.value), mask);
      case Token::Month:
         if (goal_ == Goal::TimeOnly) return Failure::BadFormat;
         // A numeric month seen before was the day.
         if ((seen_ & bit(Token::Month)) != 0 && !hasTextMonth_ && (seen_ & bit(Token::Day)) == 0 && month >= 1 &&
             month <= 31) {
            day = month;
            mask = bit(Token::Day);
         }
         hasTextMonth_ = true;
         month = w.value;
         return Failure::None;
      case Token::DstMarker:
         mask |= bit(Token::DstZone);
         offset += w.value;
         return Failure::None;
      case Token::AmPm: meridian_ = w.value == 0 ? Meridian::Am : Meridian::Pm; return Failure::None;
      case Token::AdBc: isBc_ = w.value == 1; return Failure::None;
      case Token::DayOfWeek: return goal_ == Goal::TimeOnly ? Failure::BadFormat : Failure::None;
      case Token::Units:
         mask = 0;
         if (prefix_ != Unit::None) return Failure::BadFormat;
         prefix_ = static_cast<Unit>(w.value);
         return Failure::None;
      case Token::IsoTime:
         mask = 0;
         if (goal_ == Goal::DateTime && (seen_ & dateMask) != dateMask) return Failure::BadFormat;
         if (prefix_ != Unit::None) return Failure::BadFormat;
         prefix_ = Unit::Time;
         return Failure::None;
      case Token::Unknown: {
         zone = findTimeZone(text);
         if (!zone) return Failure::BadFormat;
         hasZone = true;
         mask = bit(Token::Zone);
         return Failure::None;
      }
      default: return Failure::BadFormat;
      }
   }

   Failure reservedWord(Reserved what, uint32_t& mask) {
      const int64_t local = timestampToLocal(format_.zone, format_.now);
      const auto setDate = [this](int64_t days) {
         const CivilDate d = civilFromDays(days);
         year = d.year;
         month = d.month;
         day = d.day;
         isJulian_ = true; // no correction for BC or two digits
      };
      const int64_t today = floorDivide(local, microsPerDay);
      const bool timeOnly = goal_ == Goal::TimeOnly;
      switch (what) {
      case Reserved::Now: {
         const CivilTime t = civilFromTimestamp(local);
         clock = {t.hour, t.minute, t.second, t.micros};
         hasZone = true;
         zone = nullptr;
         offset = zoneOffsetAt(format_.zone, format_.now);
         mask = timeMask | bit(Token::Zone);
         if (timeOnly) {
            mask = timeMask;
         } else {
            setDate(today);
            mask |= dateMask;
         }
         return Failure::None;
      }
      case Reserved::Zulu:
         clock = Clock();
         hasZone = true;
         zone = nullptr;
         offset = 0;
         mask = timeMask | bit(Token::Zone);
         return Failure::None;
      case Reserved::Yesterday:
      case Reserved::Today:
      case Reserved::Tomorrow:
         if (timeOnly) return Failure::BadFormat;
         setDate(today + (what == Reserved::Yesterday ? -1 : what == Reserved::Tomorrow ? 1 : 0));
         mask = dateMask;
         return Failure::None;
      case Reserved::Epoch:
      case Reserved::Infinity:
      case Reserved::MinusInfinity:
         if (timeOnly) return Failure::BadFormat;
         isReserved = true;
         reserved = what;
         return Failure::None;
      }
      return Failure::BadFormat;
   }

   Failure finish() {
      const Failure failure = validateDate();
      if (failure != Failure::None) return failure;
      if (meridian_ != Meridian::None && clock.hour > 12) return Failure::FieldOverflow;
      if (meridian_ == Meridian::Am && clock.hour == 12) clock.hour = 0;
      if (meridian_ == Meridian::Pm && clock.hour != 12) clock.hour += 12;
      const bool hasDstMarker = (seen_ & bit(Token::DstMarker)) != 0;
      if (hasDstMarker && (zone || !hasZone)) return Failure::BadFormat;
      if (goal_ == Goal::TimeOnly) {
         if (clock.overflowsDay()) return Failure::FieldOverflow;
         // Which offset a zone has depends on the day.
         if (zone && !zoneIsAbbreviated_ && !hasDate() && !zone->isFixed()) return Failure::BadFormat;
         return (seen_ & timeMask) == timeMask ? Failure::None : Failure::BadFormat;
      }
      return hasDate() ? Failure::None : Failure::BadFormat;
   }

   Failure validateDate() {
      if ((seen_ & bit(Token::Year)) != 0 && !isJulian_) {
         if (isBc_) {
            if (year <= 0) return Failure::FieldOverflow;
            year = -(year - 1);
         } else if (isTwoDigits_) {
            if (year < 0) return Failure::FieldOverflow;
            year += year < 70 ? 2000 : year < 100 ? 1900 : 0;
         } else if (year <= 0) {
            return Failure::FieldOverflow;
         }
      }
      if ((seen_ & bit(Token::DayOfYear)) != 0) {
         const CivilDate d = civilFromDays(daysFromCivil(year, 1, 1) + dayOfYear_ - 1);
         year = d.year;
         month = d.month;
         day = d.day;
      }
      if ((seen_ & bit(Token::Month)) != 0 && (month < 1 || month > 12)) return Failure::MonthDayOverflow;
      if ((seen_ & bit(Token::Day)) != 0 && (day < 1 || day > 31)) return Failure::MonthDayOverflow;
      if (hasDate() && day > daysInMonth(year, month)) return Failure::FieldOverflow;
      return Failure::None;
   }

   enum class Meridian : uint8_t { None, Am, Pm };

   std::vector<Field>& fields_;
   const SessionFormat& format_;
   Goal goal_;
   uint32_t seen_ = 0;
   Unit prefix_ = Unit::None;
   Meridian meridian_ = Meridian::None;
   bool isBc_ = false, isJulian_ = false, isTwoDigits_ = false, hasTextMonth_ = false, isIgnored_ = false,
        zoneIsAbbreviated_ = false;
   int32_t dayOfYear_ = 0;
};

using Goal = FieldReader::Goal;

/// The reader keeps a reference to the fields, so both are made here.
struct Reading {
   std::vector<Field> fields;
   FieldReader reader;
   Reading(std::string_view text, const SessionFormat& format, Goal goal, const char* typeName)
      : reader(fields, format, goal) {
      Failure failure = splitFields(text, fields);
      if (failure == Failure::None) failure = reader.run();
      if (failure != Failure::None) throwFailure(failure, text, typeName);
   }
};

[[noreturn]] void throwOutOfRange(const char* what, std::string_view text) {
   throw SqlError(sqlstate::datetimeValueOutOfRange, std::string(what) + " out of range: \"" + std::string(text) + '"');
}

constexpr int64_t unixEpochDays = julianOfUnixEpoch - julianOfPostgresEpoch;

/// Offset in force at a local time of day, by the zone that was read or the session's.
int32_t offsetOf(const FieldReader& r, int64_t local, const SessionFormat& format) {
   if (!r.hasZone) return zoneOffsetOfLocal(format.zone, local);
   if (!r.zone) return r.offset;
   const int32_t offset = r.zone->offsetOfLocal(local).seconds;
   if (r.abbreviation.empty()) return offset;
   // An abbreviation may have had another meaning, or none, at that time.
   return offsetOfAbbreviation(*r.zone, r.abbreviation, local - offset * microsPerSecond).value_or(offset);
}

int64_t readTimestamp(std::string_view text, const SessionFormat& format, bool withZone) {
   const Reading reading(text, format, Goal::DateTime, withZone ? "timestamp with time zone" : "timestamp");
   const FieldReader& r = reading.reader;
   if (r.isReserved) {
      if (r.reserved == Reserved::Epoch) return unixEpochDays * microsPerDay;
      return r.reserved == Reserved::Infinity ? timestampInfinity : timestampMinusInfinity;
   }
   const int64_t days = r.days();
   if (days < dateMin || days > 120'000'000) throwOutOfRange("timestamp", text);
   int128 instant = static_cast<int128>(days) * microsPerDay + r.clock.total();
   const int128 local = std::clamp<int128>(instant, timestampMin, timestampEnd - 1);
   if (withZone) instant -= static_cast<int128>(offsetOf(r, static_cast<int64_t>(local), format)) * microsPerSecond;
   if (instant < timestampMin || instant >= timestampEnd) throwOutOfRange("timestamp", text);
   return static_cast<int64_t>(instant);
}

} // namespace

int32_t parseDate(std::string_view text, const SessionFormat& format) {
   int32_t plain;
   if (parseIsoDate(text, plain)) return plain;
   const Reading reading(text, format, Goal::DateTime, "date");
   const FieldReader& r = reading.reader;
   if (r.isReserved) {
      if (r.reserved == Reserved::Epoch) return static_cast<int32_t>(unixEpochDays);
      return r.reserved == Reserved::Infinity ? dateInfinity : dateMinusInfinity;
   }
   const int64_t days = r.days();
   if (!isValidDate(days)) throwOutOfRange("date", text);
   return static_cast<int32_t>(days);
}

int64_t parseTime(std::string_view text, const SessionFormat& format, int32_t typmod) {
   const Reading reading(text, format, Goal::TimeOnly, "time");
   return roundTime(reading.reader.clock.total(), typmod);
}

TimeTz parseTimeTz(std::string_view text, const SessionFormat& format, int32_t typmod) {
   const Reading reading(text, format, Goal::TimeOnly, "time with time zone");
   const FieldReader& r = reading.reader;
   // Rules of a zone are taken on the day given, or today.
   const int64_t day = r.hasDate() ? r.days() : floorDivide(timestampToLocal(format.zone, format.now), microsPerDay);
   const int64_t micros = r.clock.total();
   return {roundTime(micros, typmod), -offsetOf(r, day * microsPerDay + micros, format)};
}

bool parseIsoTimestamp(std::string_view text, int64_t& out) {
   int32_t days;
   if (text.size() < 19 || (text[10] != ' ' && text[10] != 'T') || text[13] != ':' || text[16] != ':' ||
       !parseIsoDate(text.substr(0, 10), days))
      return false;
   for (const size_t i : {11, 12, 14, 15, 17, 18})
      if (!isDigit(text[i])) return false;
   const auto two = [&text](size_t i) { return (text[i] - '0') * 10 + (text[i + 1] - '0'); };
   const int32_t hour = two(11), minute = two(14), second = two(17);
   if (hour > 23 || minute > 59 || second > 59) return false;
   int64_t micros = 0;
   if (text.size() > 19) {
      if (text[19] != '.' || text.size() == 20 || text.size() > 26) return false;
      int64_t unit = 100'000;
      for (size_t i = 20; i < text.size(); ++i, unit /= 10) {
         if (!isDigit(text[i])) return false;
         micros += (text[i] - '0') * unit;
      }
   }
   out = days * microsPerDay + hour * microsPerHour + minute * microsPerMinute + second * microsPerSecond + micros;
   return true;
}

int64_t parseTimestamp(std::string_view text, const SessionFormat& format, int32_t typmod) {
   int64_t plain;
   if (!parseIsoTimestamp(text, plain)) plain = readTimestamp(text, format, false);
   return roundTimestamp(plain, typmod);
}

int64_t parseTimestampTz(std::string_view text, const SessionFormat& format, int32_t typmod) {
   int64_t plain;
   if (!parseIsoTimestamp(text, plain))
      plain = readTimestamp(text, format, true);
   else
      plain = localToTimestamp(format.zone, plain);
   return roundTimestamp(plain, typmod);
}

} // namespace ouzel
