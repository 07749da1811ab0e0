#include <cstdlib>

#include "common/calendar/calendar.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/number_text.hpp"
#include "common/type/time_zone.hpp"
#include "executor/function/date_time/format_template.hpp"
#include "executor/function/date_time/formatting.hpp"

// to_char() of timestamps and intervals.

namespace ouzel {

namespace {

using namespace formatting;

constexpr const char* fullMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                                      "July",    "August",   "September", "October", "November", "December"};
constexpr const char* fullDays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
constexpr const char* romanMonths[] = {"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"};

/// The fields of a timestamp or an interval that a template can show.
struct Parts {
   bool isInterval = false;
   int64_t year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, micros = 0;
   int64_t days = 0;      ///< since 2000-01-01
   int64_t dayOfYear = 0; ///< for an interval: its length in days
   bool hasZone = false;
   int32_t offset = 0;
   std::string_view abbreviation;
};

enum class Letters : uint8_t { Upper, Title, Lower };

std::string inCase(std::string_view word, Letters letters) {
   std::string out(word);
   for (size_t i = 0; i < out.size(); ++i) {
      const bool isUpper = letters == Letters::Upper || (letters == Letters::Title && i == 0);
      char& c = out[i];
      if (isUpper && c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
      if (!isUpper && c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
   }
   return out;
}

class DatePrinter {
public:
   DatePrinter(std::string& out, const Parts& parts) : out_(out), v_(parts) {}

   void print(const std::vector<Node>& nodes) {
      for (const Node& node : nodes) {
         if (node.kind == NodeKind::Action)
            action(node);
         else
            out_.append(node.text);
      }
   }

private:
   /// Prints as printf's %0*d, then an ordinal suffix.
   void number(const Node& node, int64_t value, uint32_t width) {
      const size_t start = out_.size();
      char digits[24];
      if (value < 0) out_.push_back('-');
      const uint64_t magnitude = static_cast<uint64_t>(value < 0 ? -value : value);
      const uint32_t places = node.isFillMode ? 1 : width - (value < 0 && width > 1 ? 1 : 0);
      out_.append(digits, static_cast<size_t>(writePadded(digits, magnitude, places) - digits));
      ordinal(node, start);
   }
   /// As number(), with one more place for the sign of negative values.
   void signedNumber(const Node& node, int64_t value, uint32_t width) {
      number(node, value, value < 0 ? width + 1 : width);
   }
   void ordinal(const Node& node, size_t start) {
      if (node.ordinal != Node::Ordinal::None)
         out_.append(ordinalSuffix(std::string_view(out_).substr(start), node.ordinal == Node::Ordinal::Upper));
   }
   void name(const Node& node, std::string_view word, Letters letters, size_t width) {
      out_.append(inCase(word, letters));
      if (!node.isFillMode && !node.isTranslated && word.size() < width) out_.append(width - word.size(), ' ');
   }
   void refuseInterval() const {
      if (v_.isInterval)
         throw SqlError(sqlstate::invalidDatetimeFormat, "invalid format specification for an interval value")
             .hint("Intervals are not tied to specific calendar dates.");
   }
   void monthName(const Node& node, Letters letters, bool isShort) {
      refuseInterval();
      if (v_.month == 0) return;
      const std::string_view word = fullMonths[v_.month - 1];
      name(node, isShort ? word.substr(0, 3) : word, letters, isShort ? 0 : 9);
   }
   void dayName(const Node& node, Letters letters, bool isShort) {
      refuseInterval();
      const std::string_view word = fullDays[dayOfWeek(v_.days)];
      name(node, isShort ? word.substr(0, 3) : word, letters, isShort ? 0 : 9);
   }
   int64_t shownYear(int64_t year) const { return v_.isInterval ? year : year <= 0 ? -(year - 1) : year; }
   int64_t isoYear() const { return shownYear(isoWeek(v_.days).year); }

   void zoneOffset(const Node& node, bool withMinutes) {
      const int32_t magnitude = std::abs(v_.offset);
      out_.push_back(v_.offset >= 0 ? '+' : '-');
      number(Node{NodeKind::Action, nullptr, {}, withMinutes && node.isFillMode}, magnitude / 3600, 2);
      if (!withMinutes || magnitude / 60 % 60 == 0) return;
      out_.push_back(':');
      number(Node(), magnitude / 60 % 60, 2);
   }

   void roman(const Node& node, Letters letters) {
      if (v_.month == 0 && v_.year == 0) return;
      // An interval of whole years shows December; negative months count backwards.
      const int64_t index = v_.month == 0 ? (v_.year >= 0 ? 11 : 0) : v_.month < 0 ? 12 + v_.month : v_.month - 1;
      name(node, romanMonths[index], letters, 4);
   }

   void action(const Node& node) {
      const int64_t clockHour = v_.hour % 12 == 0 ? 12 : v_.hour % 12;
      const bool isAfternoon = v_.hour % 24 >= 12;
      switch (node.keyword->id) {
      case A_M: out_.append(isAfternoon ? "P.M." : "A.M."); break;
      case AM: out_.append(isAfternoon ? "PM" : "AM"); break;
      case a_m: out_.append(isAfternoon ? "p.m." : "a.m."); break;
      case am: out_.append(isAfternoon ? "pm" : "am"); break;
      case HH:
      case HH12: signedNumber(node, clockHour, 2); break;
      case HH24: signedNumber(node, v_.hour, 2); break;
      case MI: signedNumber(node, v_.minute, 2); break;
      case SS: signedNumber(node, v_.second, 2); break;
      case FF1: number(fixed(node), v_.micros / 100'000, 1); break;
      case FF2: number(fixed(node), v_.micros / 10'000, 2); break;
      case FF3:
      case MS: number(fixed(node), v_.micros / 1'000, 3); break;
      case FF4: number(fixed(node), v_.micros / 100, 4); break;
      case FF5: number(fixed(node), v_.micros / 10, 5); break;
      case FF6:
      case US: number(fixed(node), v_.micros, 6); break;
      case SSSS: number(node, v_.hour * 3600 + v_.minute * 60 + v_.second, 1); break;
      case tz:
      case TZ:
         refuseInterval();
         if (v_.hasZone) out_.append(inCase(v_.abbreviation, node.keyword->id == TZ ? Letters::Upper : Letters::Lower));
         break;
      case TZH:
         refuseInterval();
         zoneOffset(node, false);
         break;
      case TZM:
         refuseInterval();
         number(Node(), std::abs(v_.offset) / 60 % 60, 2);
         break;
      case OF:
         refuseInterval();
         zoneOffset(node, true);
         break;
      case A_D: era("B.C.", "A.D."); break;
      case AD: era("BC", "AD"); break;
      case a_d: era("b.c.", "a.d."); break;
      case ad: era("bc", "ad"); break;
      case MONTH: monthName(node, Letters::Upper, false); break;
      case Month: monthName(node, Letters::Title, false); break;
      case month: monthName(node, Letters::Lower, false); break;
      case MON: monthName(node, Letters::Upper, true); break;
      case Mon: monthName(node, Letters::Title, true); break;
      case mon: monthName(node, Letters::Lower, true); break;
      case MM: signedNumber(node, v_.month, 2); break;
      case DAY: dayName(node, Letters::Upper, false); break;
      case Day: dayName(node, Letters::Title, false); break;
      case day: dayName(node, Letters::Lower, false); break;
      case DY: dayName(node, Letters::Upper, true); break;
      case Dy: dayName(node, Letters::Title, true); break;
      case dy: dayName(node, Letters::Lower, true); break;
      case DDD: number(node, v_.dayOfYear, 3); break;
      case IDDD: number(node, v_.days - daysFromIsoWeek(isoWeek(v_.days).year, 1) + 1, 3); break;
      case DD: number(node, v_.day, 2); break;
      case D:
         refuseInterval();
         number(node, dayOfWeek(v_.days) + 1, 1);
         break;
      case ID:
         refuseInterval();
         number(node, dayOfWeek(v_.days) == 0 ? 7 : dayOfWeek(v_.days), 1);
         break;
      case WW: number(node, (v_.dayOfYear - 1) / 7 + 1, 2); break;
      case IW: number(node, isoWeek(v_.days).week, 2); break;
      case Q:
         if (v_.month != 0) number(node, (v_.month - 1) / 3 + 1, 1);
         break;
      case CC:
         signedNumber(node,
                      v_.isInterval ? v_.year / 100
                      : v_.year > 0 ? (v_.year - 1) / 100 + 1
                                    : v_.year / 100 - 1,
                      2);
         break;
      case Y_YYY: {
         const int64_t year = shownYear(v_.year);
         const size_t start = out_.size();
         appendInteger(out_, year / 1000);
         out_.push_back(',');
         number(Node(), year % 1000, 3);
         ordinal(node, start);
         break;
      }
      case YYYY: signedNumber(node, shownYear(v_.year), 4); break;
      case IYYY: signedNumber(node, isoYear(), 4); break;
      case YYY: signedNumber(node, shownYear(v_.year) % 1000, 3); break;
      case IYY: signedNumber(node, isoYear() % 1000, 3); break;
      case YY: signedNumber(node, shownYear(v_.year) % 100, 2); break;
      case IY: signedNumber(node, isoYear() % 100, 2); break;
      case Y: number(node, shownYear(v_.year) % 10, 1); break;
      case I: number(node, isoYear() % 10, 1); break;
      case RM: roman(node, Letters::Upper); break;
      case rm: roman(node, Letters::Lower); break;
      case W: number(node, (v_.day - 1) / 7 + 1, 1); break;
      case J: number(node, v_.days + julianOfPostgresEpoch, 1); break;
      default: break; // FX prints nothing
      }
   }

   void era(const char* before, const char* after) {
      refuseInterval();
      out_.append(v_.year <= 0 ? before : after);
   }
   /// The node without fill mode: fractions keep their zeros.
   static Node fixed(const Node& node) {
      Node result = node;
      result.isFillMode = false;
      return result;
   }

   std::string& out_;
   const Parts& v_;
};

/// Parses a template. Each thread keeps the template it used last, which is nearly always the same.
const std::vector<Node>& cachedTemplate(std::string_view pattern) {
   thread_local std::string source;
   thread_local std::vector<Node> nodes;
   if (source != pattern) {
      nodes = parseTemplate(pattern, TemplateKind::Date);
      source = std::string(pattern);
   }
   return nodes;
}

Parts partsOf(int64_t local) {
   const CivilTime t = civilFromTimestamp(local);
   Parts parts;
   parts.year = t.date.year;
   parts.month = t.date.month;
   parts.day = t.date.day;
   parts.hour = t.hour;
   parts.minute = t.minute;
   parts.second = t.second;
   parts.micros = t.micros;
   parts.days = floorDivide(local, microsPerDay);
   parts.dayOfYear = dayOfYear(t.date.year, t.date.month, t.date.day);
   return parts;
}

} // namespace

void formatTimestamp(std::string& out, std::string_view pattern, int64_t timestamp) {
   const Parts parts = partsOf(timestamp);
   DatePrinter(out, parts).print(cachedTemplate(pattern));
}

void formatTimestampTz(std::string& out, std::string_view pattern, int64_t timestamp, const SessionFormat& format) {
   const TimeZone::Offset offset = format.zone ? format.zone->offsetAt(timestamp) : TimeZone::Offset{0, false, "UTC"};
   Parts parts = partsOf(timestamp + static_cast<int64_t>(offset.seconds) * microsPerSecond);
   parts.hasZone = true;
   parts.offset = offset.seconds;
   parts.abbreviation = offset.abbreviation;
   DatePrinter(out, parts).print(cachedTemplate(pattern));
}

void formatInterval(std::string& out, std::string_view pattern, const Interval& v) {
   Parts parts;
   parts.isInterval = true;
   parts.year = v.months / 12;
   parts.month = v.months % 12;
   parts.day = v.days;
   parts.hour = v.micros / microsPerHour;
   parts.minute = v.micros / microsPerMinute % 60;
   parts.second = v.micros / microsPerSecond % 60;
   parts.micros = v.micros % microsPerSecond;
   parts.dayOfYear = static_cast<int64_t>(v.months) * 30 + v.days;
   parts.days =
       daysFromCivil(parts.year, parts.month == 0 ? 1 : static_cast<int32_t>(std::abs(parts.month)), parts.day);
   DatePrinter(out, parts).print(cachedTemplate(pattern));
}

} // namespace ouzel
