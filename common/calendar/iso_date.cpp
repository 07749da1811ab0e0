#include "common/calendar/iso_date.hpp"

namespace ouzel {

namespace {

/// The number that `count` digits mean; -1 if there is anything else.
int32_t digits(const char* text, uint32_t count) {
   int32_t value = 0;
   for (uint32_t i = 0; i < count; ++i) {
      const int32_t digit = text[i] - '0';
      if (digit < 0 || digit > 9) return -1;
      value = value * 10 + digit;
   }
   return value;
}

void writeDigits(int32_t value, char* out, uint32_t count) {
   for (uint32_t i = count; i-- > 0; value /= 10)
      out[i] = static_cast<char>('0' + value % 10);
}

} // namespace

std::optional<int32_t> parseIsoDate(std::string_view text) {
   if (text.size() != isoDateSize || text[4] != '-' || text[7] != '-') return std::nullopt;
   const int32_t year = digits(text.data(), 4), month = digits(text.data() + 5, 2), day = digits(text.data() + 8, 2);
   if (year < 1 || month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return std::nullopt;
   return static_cast<int32_t>(daysFromCivil(year, month, day));
}

void writeIsoDate(int32_t days, char* out) {
   DCHECK(days >= isoDateMin);
   DCHECK(days <= isoDateMax);
   const CivilDate date = civilFromDays(days);
   writeDigits(date.year, out, 4);
   out[4] = '-';
   writeDigits(date.month, out + 5, 2);
   out[7] = '-';
   writeDigits(date.day, out + 8, 2);
}

} // namespace ouzel
