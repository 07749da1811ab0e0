#include "common/type/session_format.hpp"

#include <cmath>

#include "common/error/sql_error.hpp"
#include "common/text/ascii.hpp"
#include "common/text/number_text.hpp"
#include "common/type/time_zone.hpp"

namespace ouzel {

namespace {

bool startsWith(std::string_view text, std::string_view prefix) {
   return text.substr(0, prefix.size()) == prefix;
}

struct DateStyleWords {
   std::optional<DateStyle> style;
   std::optional<DateOrder> order;
};

bool readDateStyle(std::string_view value, DateStyleWords& words) {
   std::string text = lowerCase(value);
   for (size_t start = 0; start <= text.size();) {
      size_t end = text.find(',', start);
      if (end == std::string::npos) end = text.size();
      const std::string_view word = trimBlanks(std::string_view(text).substr(start, end - start));
      start = end + 1;
      std::optional<DateStyle> style;
      std::optional<DateOrder> order;
      if (word == "iso")
         style = DateStyle::Iso;
      else if (word == "sql")
         style = DateStyle::Sql;
      else if (startsWith(word, "postgres"))
         style = DateStyle::Postgres;
      else if (word == "german")
         style = DateStyle::German;
      else if (word == "ymd")
         order = DateOrder::Ymd;
      else if (word == "dmy" || startsWith(word, "euro"))
         order = DateOrder::Dmy;
      else if (word == "mdy" || startsWith(word, "noneuro") || word == "us")
         order = DateOrder::Mdy;
      else
         return false;
      if (style) {
         if (words.style && *words.style != *style) return false;
         words.style = style;
      }
      if (order) {
         if (words.order && *words.order != *order) return false;
         words.order = order;
      }
   }
   return true;
}

} // namespace

std::optional<std::string> parseTimeZoneSetting(std::string_view value) {
   const std::string_view text = trimBlanks(value);
   if (text.empty()) return std::nullopt;
   // INTERVAL '+02:00' arrives as text with the word in front; hours may be a plain number.
   double hours = 0;
   if (parseDouble(text, hours) == ParseStatus::Ok) {
      if (!(std::fabs(hours) < 168)) return std::nullopt;
      return fixedTimeZone(static_cast<int32_t>(hours * 3600))->name();
   }
   const TimeZone* zone = findTimeZone(text);
   if (!zone) return std::nullopt;
   if (zone->offsetAt(0).seconds % 60 != 0)
      throw SqlError(sqlstate::invalidParameterValue,
                     "time zone \"" + std::string(text) + "\" appears to use leap seconds")
          .detail("PostgreSQL does not support leap seconds.");
   return zone->name();
}

std::optional<std::string> parseDateStyleSetting(std::string_view value, std::string_view current) {
   DateStyleWords now, next;
   if (!readDateStyle(value, next)) return std::nullopt;
   readDateStyle(current, now);
   const DateStyle style = next.style.value_or(now.style.value_or(DateStyle::Iso));
   DateOrder order = next.order.value_or(now.order.value_or(DateOrder::Mdy));
   if (next.style == DateStyle::German && !next.order) order = DateOrder::Dmy;
   constexpr const char* styles[] = {"ISO", "SQL", "Postgres", "German"};
   constexpr const char* orders[] = {"MDY", "DMY", "YMD"};
   return std::string(styles[static_cast<int>(style)]) + ", " + orders[static_cast<int>(order)];
}

SessionFormat SessionFormat::fromSettings(std::string_view timeZone, std::string_view dateStyle,
                                          std::string_view intervalStyle, int32_t extraFloatDigits, bool byteaEscape) {
   SessionFormat format;
   format.zone = findTimeZone(timeZone);
   if (format.zone && format.zone->name() == "UTC") format.zone = nullptr;
   DateStyleWords words;
   readDateStyle(dateStyle, words);
   format.dateStyle = words.style.value_or(DateStyle::Iso);
   format.dateOrder = words.order.value_or(DateOrder::Mdy);
   const std::string interval = lowerCase(intervalStyle);
   format.intervalStyle = interval == "postgres_verbose" ? IntervalStyle::PostgresVerbose
                          : interval == "sql_standard"   ? IntervalStyle::SqlStandard
                          : interval == "iso_8601"       ? IntervalStyle::Iso8601
                                                         : IntervalStyle::Postgres;
   format.extraFloatDigits = extraFloatDigits;
   format.byteaOutput = byteaEscape ? ByteaOutput::Escape : ByteaOutput::Hex;
   return format;
}

} // namespace ouzel
