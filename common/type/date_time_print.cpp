#include <cstring>

#include "common/text/number_text.hpp"
#include "common/type/date_time.hpp"
#include "common/type/time_zone.hpp"

// Dates, times and intervals to text in the session's styles.

namespace ouzel {

namespace {

constexpr const char* monthNames[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr const char* dayNames[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

char* writeText(char* p, std::string_view text) {
   std::memcpy(p, text.data(), text.size());
   return p + text.size();
}

/// The year without its sign: 1 AD and 1 BC are both 0001; the caller appends " BC".
char* writeYear(char* p, int32_t year) {
   return writePadded(p, static_cast<uint64_t>(year > 0 ? year : 1 - static_cast<int64_t>(year)), 4);
}

char* writePair(char* p, int32_t a, char delimiter, int32_t b) {
   p = writeTwoDigits(p, static_cast<uint32_t>(a));
   *p++ = delimiter;
   return writeTwoDigits(p, static_cast<uint32_t>(b));
}

/// Fraction of a second without trailing zeros, with its point; nothing if zero.
char* writeFraction(char* p, uint32_t micros) {
   if (micros == 0) return p;
   *p++ = '.';
   char digits[8];
   writePadded(digits, micros, 6);
   int count = 6;
   while (digits[count - 1] == '0')
      --count;
   return writeText(p, {digits, static_cast<size_t>(count)});
}

char* writeClock(char* p, int32_t hour, int32_t minute, int32_t second, int32_t micros) {
   p = writePair(p, hour, ':', minute);
   *p++ = ':';
   p = writeTwoDigits(p, static_cast<uint32_t>(second));
   return writeFraction(p, static_cast<uint32_t>(micros));
}

char* writeOffset(char* p, int32_t secondsEast) {
   *p++ = secondsEast < 0 ? '-' : '+';
   const uint32_t seconds = static_cast<uint32_t>(secondsEast < 0 ? -secondsEast : secondsEast);
   p = writePadded(p, seconds / 3600, 2);
   if (seconds % 3600 == 0) return p;
   *p++ = ':';
   p = writeTwoDigits(p, seconds / 60 % 60);
   if (seconds % 60 == 0) return p;
   *p++ = ':';
   return writeTwoDigits(p, seconds % 60);
}

char* writeIsoDate(char* p, const CivilDate& d) {
   p = writeYear(p, d.year);
   *p++ = '-';
   return writePair(p, d.month, '-', d.day);
}

/// Day and month in the session's order, between them and after them `delimiter`, then the year.
char* writeOrderedDate(char* p, const CivilDate& d, char delimiter, bool dayFirst) {
   p = dayFirst ? writePair(p, d.day, delimiter, d.month) : writePair(p, d.month, delimiter, d.day);
   *p++ = delimiter;
   return writeYear(p, d.year);
}

bool appendInfinity(std::string& out, bool isInfinite, bool isNegative) {
   if (!isInfinite) return false;
   out.append(isNegative ? "-infinity" : "infinity");
   return true;
}

/// A local timestamp, followed by its zone unless `offset` is null.
void appendLocal(std::string& out, int64_t local, const TimeZone::Offset* offset, const SessionFormat& format) {
   const int64_t days = floorDivide(local, microsPerDay);
   const CivilTime t = civilFromTimestamp(local);
   char buffer[96];
   char* p = buffer;
   const bool dayFirst = format.dateOrder == DateOrder::Dmy;
   switch (format.dateStyle) {
   case DateStyle::Iso: p = writeIsoDate(p, t.date); break;
   case DateStyle::Sql: p = writeOrderedDate(p, t.date, '/', dayFirst); break;
   case DateStyle::German: p = writeOrderedDate(p, t.date, '.', true); break;
   case DateStyle::Postgres: {
      p = writeText(p, dayNames[dayOfWeek(days)]);
      *p++ = ' ';
      const char* month = monthNames[t.date.month - 1];
      if (dayFirst) {
         p = writeTwoDigits(p, static_cast<uint32_t>(t.date.day));
         *p++ = ' ';
         p = writeText(p, month);
      } else {
         p = writeText(p, month);
         *p++ = ' ';
         p = writeTwoDigits(p, static_cast<uint32_t>(t.date.day));
      }
      break;
   }
   }
   *p++ = ' ';
   p = writeClock(p, t.hour, t.minute, t.second, t.micros);
   if (format.dateStyle == DateStyle::Postgres) {
      *p++ = ' ';
      p = writeYear(p, t.date.year);
   }
   if (offset) {
      if (format.dateStyle == DateStyle::Iso) {
         p = writeOffset(p, offset->seconds);
      } else {
         *p++ = ' ';
         p = writeText(p, offset->abbreviation.substr(0, 10));
      }
   }
   if (t.date.year <= 0) p = writeText(p, " BC");
   out.append(buffer, static_cast<size_t>(p - buffer));
}

/// An interval taken apart; every part has the sign of its contribution.
struct IntervalParts {
   int64_t year, month, day, hour, minute, second, micros;
   explicit IntervalParts(const Interval& v)
      : year(v.months / 12), month(v.months % 12), day(v.days), hour(v.micros / microsPerHour),
        minute(v.micros / microsPerMinute % 60), second(v.micros / microsPerSecond % 60),
        micros(v.micros % microsPerSecond) {}
   bool hasTime() const { return hour != 0 || minute != 0 || second != 0 || micros != 0; }
};

uint64_t magnitude(int64_t v) {
   return v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
}

void appendUnsigned(std::string& out, uint64_t v, uint32_t width = 1) {
   char buffer[24];
   out.append(buffer, static_cast<size_t>(writePadded(buffer, v, width) - buffer));
}

void appendSeconds(std::string& out, int64_t second, int64_t micros, uint32_t width) {
   appendUnsigned(out, magnitude(second), width);
   char buffer[16];
   out.append(buffer, static_cast<size_t>(writeFraction(buffer, static_cast<uint32_t>(magnitude(micros))) - buffer));
}

void appendPostgresInterval(std::string& out, const IntervalParts& v) {
   bool isFirst = true, isBefore = false;
   const auto part = [&](int64_t value, const char* unit) {
      if (value == 0) return;
      if (!isFirst) out.push_back(' ');
      if (isBefore && value > 0) out.push_back('+');
      appendInteger(out, value);
      out.push_back(' ');
      out.append(unit);
      if (value != 1) out.push_back('s');
      isBefore = value < 0;
      isFirst = false;
   };
   part(v.year, "year");
   part(v.month, "mon");
   part(v.day, "day");
   if (!isFirst && !v.hasTime()) return;
   if (!isFirst) out.push_back(' ');
   if (v.hour < 0 || v.minute < 0 || v.second < 0 || v.micros < 0)
      out.push_back('-');
   else if (isBefore)
      out.push_back('+');
   appendUnsigned(out, magnitude(v.hour), 2);
   out.push_back(':');
   appendUnsigned(out, magnitude(v.minute), 2);
   out.push_back(':');
   appendSeconds(out, v.second, v.micros, 2);
}

void appendVerboseInterval(std::string& out, const IntervalParts& v) {
   out.push_back('@');
   bool isFirst = true, isBefore = false;
   const auto part = [&](int64_t value, const char* unit) {
      if (value == 0) return;
      if (isFirst) {
         isBefore = value < 0;
         value = isBefore ? -value : value;
      } else if (isBefore) {
         value = -value;
      }
      out.push_back(' ');
      appendInteger(out, value);
      out.push_back(' ');
      out.append(unit);
      if (value != 1) out.push_back('s');
      isFirst = false;
   };
   part(v.year, "year");
   part(v.month, "mon");
   part(v.day, "day");
   part(v.hour, "hour");
   part(v.minute, "min");
   if (v.second != 0 || v.micros != 0) {
      out.push_back(' ');
      if (v.second < 0 || v.micros < 0) {
         if (isFirst)
            isBefore = true;
         else if (!isBefore)
            out.push_back('-');
      } else if (isBefore) {
         out.push_back('-');
      }
      appendSeconds(out, v.second, v.micros, 1);
      out.append(magnitude(v.second) != 1 || v.micros != 0 ? " secs" : " sec");
      isFirst = false;
   }
   if (isFirst) out.append(" 0");
   if (isBefore) out.append(" ago");
}

void appendSqlInterval(std::string& out, const Interval& interval) {
   IntervalParts v(interval);
   const bool hasNegative = interval.months < 0 || interval.days < 0 || interval.micros < 0;
   const bool hasPositive = interval.months > 0 || interval.days > 0 || interval.micros > 0;
   const bool hasYearMonth = interval.months != 0, hasDayTime = interval.days != 0 || interval.micros != 0;
   const auto clock = [&](char sign) {
      if (sign != 0) out.push_back(sign);
      appendUnsigned(out, magnitude(v.hour));
      out.push_back(':');
      appendUnsigned(out, magnitude(v.minute), 2);
      out.push_back(':');
      appendSeconds(out, v.second, v.micros, 2);
   };
   const auto yearMonth = [&] {
      appendUnsigned(out, magnitude(v.year));
      out.push_back('-');
      appendUnsigned(out, magnitude(v.month));
   };
   if (!hasNegative && !hasPositive) {
      out.push_back('0');
   } else if ((hasNegative && hasPositive) || (hasYearMonth && hasDayTime)) {
      // The standard has no interval of both kinds or mixed signs: every part is written with its sign, as PostgreSQL
      // does.
      out.push_back(interval.months < 0 ? '-' : '+');
      yearMonth();
      out.push_back(' ');
      out.push_back(interval.days < 0 ? '-' : '+');
      appendUnsigned(out, magnitude(v.day));
      out.push_back(' ');
      clock(interval.micros < 0 ? '-' : '+');
   } else {
      if (hasNegative) out.push_back('-');
      if (hasYearMonth) return yearMonth();
      if (v.day != 0) {
         appendUnsigned(out, magnitude(v.day));
         out.push_back(' ');
      }
      clock(0);
   }
}

void appendIsoInterval(std::string& out, const IntervalParts& v) {
   if (v.year == 0 && v.month == 0 && v.day == 0 && !v.hasTime()) {
      out.append("PT0S");
      return;
   }
   const auto part = [&](int64_t value, char unit) {
      if (value == 0) return;
      appendInteger(out, value);
      out.push_back(unit);
   };
   out.push_back('P');
   part(v.year, 'Y');
   part(v.month, 'M');
   part(v.day, 'D');
   if (!v.hasTime()) return;
   out.push_back('T');
   part(v.hour, 'H');
   part(v.minute, 'M');
   if (v.second != 0 || v.micros != 0) {
      if (v.second < 0 || v.micros < 0) out.push_back('-');
      appendSeconds(out, v.second, v.micros, 1);
      out.push_back('S');
   }
}

} // namespace

void appendDate(std::string& out, int32_t v, const SessionFormat& format) {
   if (appendInfinity(out, isInfiniteDate(v), v < 0)) return;
   const CivilDate d = civilFromDays(v);
   char buffer[32];
   char* p = buffer;
   const bool dayFirst = format.dateOrder == DateOrder::Dmy;
   switch (format.dateStyle) {
   case DateStyle::Iso: p = writeIsoDate(p, d); break;
   case DateStyle::Sql: p = writeOrderedDate(p, d, '/', dayFirst); break;
   case DateStyle::German: p = writeOrderedDate(p, d, '.', true); break;
   case DateStyle::Postgres: p = writeOrderedDate(p, d, '-', dayFirst); break;
   }
   if (d.year <= 0) p = writeText(p, " BC");
   out.append(buffer, static_cast<size_t>(p - buffer));
}

void appendTime(std::string& out, int64_t v) {
   char buffer[24];
   const char* end =
       writeClock(buffer, static_cast<int32_t>(v / microsPerHour), static_cast<int32_t>(v / microsPerMinute % 60),
                  static_cast<int32_t>(v / microsPerSecond % 60), static_cast<int32_t>(v % microsPerSecond));
   out.append(buffer, static_cast<size_t>(end - buffer));
}

void appendTimeTz(std::string& out, const TimeTz& v) {
   appendTime(out, v.micros);
   char buffer[16];
   out.append(buffer, static_cast<size_t>(writeOffset(buffer, -v.zone) - buffer));
}

void appendTimestamp(std::string& out, int64_t v, const SessionFormat& format) {
   if (!appendInfinity(out, isInfiniteTimestamp(v), v < 0)) appendLocal(out, v, nullptr, format);
}

void appendTimestampTz(std::string& out, int64_t v, const SessionFormat& format) {
   if (appendInfinity(out, isInfiniteTimestamp(v), v < 0)) return;
   const TimeZone::Offset offset = format.zone ? format.zone->offsetAt(v) : TimeZone::Offset{0, false, "UTC"};
   appendLocal(out, v + static_cast<int64_t>(offset.seconds) * microsPerSecond, &offset, format);
}

void appendInterval(std::string& out, const Interval& v, const SessionFormat& format) {
   switch (format.intervalStyle) {
   case IntervalStyle::Postgres: return appendPostgresInterval(out, IntervalParts(v));
   case IntervalStyle::PostgresVerbose: return appendVerboseInterval(out, IntervalParts(v));
   case IntervalStyle::SqlStandard: return appendSqlInterval(out, v);
   case IntervalStyle::Iso8601: return appendIsoInterval(out, IntervalParts(v));
   }
}

// Bytes compare as the values do: first the moment in UTC, then the zone, both with the most significant byte first.

constexpr int64_t microsBias = int64_t{1} << 62;
constexpr int32_t zoneBias = 1 << 30;

std::string timeTzBytes(const TimeTz& v) {
   std::string bytes(12, '\0');
   const auto moment = __builtin_bswap64(static_cast<uint64_t>(v.micros + int64_t{v.zone} * 1000000 + microsBias));
   const auto zone = __builtin_bswap32(static_cast<uint32_t>(v.zone + zoneBias));
   std::memcpy(bytes.data(), &moment, 8);
   std::memcpy(bytes.data() + 8, &zone, 4);
   return bytes;
}

TimeTz readTimeTz(std::string_view bytes) {
   TimeTz v{};
   if (bytes.size() != 12) return v; // a NULL position
   uint64_t moment = 0;
   uint32_t zone = 0;
   std::memcpy(&moment, bytes.data(), 8);
   std::memcpy(&zone, bytes.data() + 8, 4);
   v.zone = static_cast<int32_t>(__builtin_bswap32(zone)) - zoneBias;
   v.micros = static_cast<int64_t>(__builtin_bswap64(moment)) - microsBias - int64_t{v.zone} * 1000000;
   return v;
}

} // namespace ouzel
