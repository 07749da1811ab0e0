#include <cstring>

#include "common/number/decimal.hpp"
#include "common/text/number_text.hpp"
#include "common/text/utf8.hpp"
#include "common/type/date_time.hpp"
#include "common/type/text_codec.hpp"

// The plain forms of COPY's fields, without a throw and without a session.

namespace ouzel {

namespace {

template <typename T>
void put(void* target, T value) {
   std::memcpy(target, &value, sizeof value);
}

template <typename T>
bool integerField(void* target, std::string_view text, int32_t, Arena&) {
   T value{};
   if (parseInteger(text, value) != ParseStatus::Ok) return false;
   put(target, value);
   return true;
}

bool booleanField(void* target, std::string_view text, int32_t, Arena&) {
   bool value = false;
   if (parseBoolean(text, value) != ParseStatus::Ok) return false;
   put(target, static_cast<uint8_t>(value));
   return true;
}

bool doubleField(void* target, std::string_view text, int32_t, Arena&) {
   double value = 0;
   if (parseDouble(text, value) != ParseStatus::Ok) return false;
   put(target, value);
   return true;
}

bool floatField(void* target, std::string_view text, int32_t, Arena&) {
   float value = 0;
   if (parseFloat(text, value) != ParseStatus::Ok) return false;
   put(target, value);
   return true;
}

template <typename T>
bool scaledField(void* target, std::string_view text, int32_t typmod, Arena&) {
   const NumericModifier m = numericModifier(typmod);
   T value;
   if (!parseScaled(text, m.precision, m.scale, value)) return false;
   put(target, value);
   return true;
}

bool decimalField(void* target, std::string_view text, int32_t typmod, Arena& arena) {
   StringView value;
   if (typmod >= 4 || decimal::tryParse(text, arena, value) != ParseStatus::Ok) return false;
   put(target, value);
   return true;
}

bool dateField(void* target, std::string_view text, int32_t, Arena&) {
   int32_t value;
   if (!parseIsoDate(text, value)) return false;
   put(target, value);
   return true;
}

bool timestampField(void* target, std::string_view text, int32_t typmod, Arena&) {
   int64_t value;
   if (!parseIsoTimestamp(text, value)) return false;
   put(target, roundTimestamp(value, typmod));
   return true;
}

bool uuidField(void* target, std::string_view text, int32_t, Arena&) {
   int128 value = 0;
   if (!parseUuid(text, value)) return false;
   put(target, value);
   return true;
}

bool textField(void* target, std::string_view text, int32_t, Arena& arena) {
   put(target, arena.copyString(text));
   return true;
}

bool fits(std::string_view text, int32_t typmod) {
   const int32_t limit = stringLengthLimit(typmod);
   return limit < 0 || text.size() <= static_cast<size_t>(limit) ||
          characterCount(text) <= static_cast<uint32_t>(limit);
}

bool varcharField(void* target, std::string_view text, int32_t typmod, Arena& arena) {
   if (!fits(text, typmod)) return false;
   put(target, arena.copyString(text));
   return true;
}

bool bpcharField(void* target, std::string_view text, int32_t typmod, Arena& arena) {
   if (typmod >= 0) text = trimTrailingBlanks(text);
   if (!fits(text, typmod)) return false;
   put(target, arena.copyString(text));
   return true;
}

template <typename T>
bool parseScaledAs(std::string_view text, int32_t precision, int32_t scale, T& out) {
   const char *p = text.data(), *const end = p + text.size();
   const bool negative = p < end && *p == '-';
   if (negative) ++p;
   const char* const digits = p;
   while (p < end && *p == '0')
      ++p;
   T value = 0;
   int32_t whole = 0, fraction = 0;
   for (; p < end && isDigit(*p) && whole < precision; ++p, ++whole)
      value = value * 10 + (*p - '0');
   if (p == digits) return false;
   if (p < end && *p == '.') {
      ++p;
      for (; p < end && isDigit(*p) && fraction < scale && whole + fraction < precision; ++p, ++fraction)
         value = value * 10 + (*p - '0');
   }
   if (p != end) return false;
   const T bound = static_cast<T>(decimal::powerOfTen(static_cast<uint32_t>(precision)));
   for (; fraction < scale; ++fraction) {
      if (value >= bound) return false;
      value *= 10;
   }
   if (value >= bound) return false;
   out = negative ? -value : value;
   return true;
}

} // namespace

bool parseScaled(std::string_view text, int32_t precision, int32_t scale, int64_t& out) {
   return parseScaledAs(text, precision, scale, out);
}

bool parseScaled(std::string_view text, int32_t precision, int32_t scale, int128& out) {
   // 10^38 and a digit more would not fit.
   return text.size() < 38 && parseScaledAs(text, precision, scale, out);
}

FieldParser fieldParser(const SqlType& type) {
   switch (type.oid) {
   case oid::boolean: return booleanField;
   case oid::int2: return integerField<int16_t>;
   case oid::int4: return integerField<int32_t>;
   case oid::int8: return integerField<int64_t>;
   case oid::float4: return floatField;
   case oid::float8: return doubleField;
   case oid::date: return dateField;
   case oid::timestamp: return timestampField;
   case oid::uuid: return uuidField;
   case oid::text: return textField;
   case oid::varchar: return varcharField;
   case oid::bpchar: return bpcharField;
   case oid::numeric:
      switch (storedRepresentation(type).physical) {
      case PhysicalType::I64: return scaledField<int64_t>;
      case PhysicalType::I128: return scaledField<int128>;
      default: return decimalField;
      }
   default: return nullptr;
   }
}

} // namespace ouzel
