#include "tests/support/binary_text.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace ouzel::slt {

namespace {

enum Type : unsigned {
   Bool = 16,
   Bytea = 17,
   Name = 19,
   Int8 = 20,
   Int2 = 21,
   Int4 = 23,
   Text = 25,
   Oid = 26,
   Float4 = 700,
   Float8 = 701,
   Bpchar = 1042,
   Varchar = 1043,
   Date = 1082,
   Time = 1083,
   Timestamp = 1114,
   Timestamptz = 1184,
   Interval = 1186,
   Numeric = 1700,
   Uuid = 2950,
};

constexpr int64_t microsPerSecond = 1'000'000, microsPerDay = 86'400 * microsPerSecond;

uint64_t bigEndian(std::string_view bytes) {
   uint64_t value = 0;
   for (const char c : bytes)
      value = value << 8 | static_cast<unsigned char>(c);
   return value;
}
int64_t int64At(std::string_view bytes, size_t at) {
   return static_cast<int64_t>(bigEndian(bytes.substr(at, 8)));
}
int32_t int32At(std::string_view bytes, size_t at) {
   return static_cast<int32_t>(bigEndian(bytes.substr(at, 4)));
}
uint16_t uint16At(std::string_view bytes, size_t at) {
   return static_cast<uint16_t>(bigEndian(bytes.substr(at, 2)));
}

std::string padded(int64_t value, int width) {
   char buffer[32];
   std::snprintf(buffer, sizeof buffer, "%0*lld", width, static_cast<long long>(value));
   return buffer;
}

/// The shortest digits that read back to the same number; with an exponent from 1e15 (float4: 1e6) on and below 1e-4.
template <typename Real>
std::string realText(Real value) {
   if (std::isnan(value)) return "NaN";
   if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
   if (value == 0) return std::signbit(value) ? "-0" : "0";
   char buffer[64];
   const auto scientific = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
   const std::string text(buffer, scientific.ptr);
   const int exponent = std::atoi(text.c_str() + text.find('e') + 1);
   if (exponent < -4 || exponent >= (sizeof(Real) == 4 ? 6 : 15)) return text;
   const auto fixed = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
   return {buffer, fixed.ptr};
}

std::optional<std::string> numericText(std::string_view bytes) {
   if (bytes.size() < 8) return std::nullopt;
   const int digits = uint16At(bytes, 0), weight = static_cast<int16_t>(uint16At(bytes, 2));
   const unsigned sign = uint16At(bytes, 4), scale = uint16At(bytes, 6);
   if (sign == 0xC000) return "NaN";
   if (sign == 0xD000) return "Infinity";
   if (sign == 0xF000) return "-Infinity";
   if (bytes.size() != 8 + 2 * static_cast<size_t>(digits)) return std::nullopt;
   const auto digit = [&](int i) { return i >= 0 && i < digits ? int{uint16At(bytes, 8 + 2 * size_t(i))} : 0; };
   std::string whole, fraction;
   for (int i = 0; i <= weight; ++i)
      whole += padded(digit(i), whole.empty() && i == 0 ? 1 : 4);
   for (int i = weight + 1; fraction.size() < scale; ++i)
      fraction += padded(digit(i), 4);
   fraction.resize(scale);
   std::string out = sign == 0x4000 ? "-" : "";
   out += whole.empty() ? "0" : whole;
   return fraction.empty() ? out : out + "." + fraction;
}

std::string fractionText(int64_t micros) {
   if (micros == 0) return "";
   std::string text = "." + padded(micros, 6);
   while (text.back() == '0')
      text.pop_back();
   return text;
}

std::string clockText(int64_t micros) {
   const int64_t seconds = micros / microsPerSecond;
   return padded(seconds / 3600, 2) + ":" + padded(seconds / 60 % 60, 2) + ":" + padded(seconds % 60, 2) +
          fractionText(micros % microsPerSecond);
}

/// Days since 2000-01-01 as year, month, day of the proleptic Gregorian calendar (Hinnant 2013). `isBc`: the caller
/// appends " BC".
std::string dateText(int64_t days, bool& isBc) {
   days += 730'425; // to 0000-03-01
   const int64_t era = (days >= 0 ? days : days - 146'096) / 146'097, dayOfEra = days - era * 146'097;
   const int64_t yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36'524 - dayOfEra / 146'096) / 365;
   const int64_t dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
   const int64_t shifted = (5 * dayOfYear + 2) / 153, day = dayOfYear - (153 * shifted + 2) / 5 + 1;
   const int64_t month = shifted < 10 ? shifted + 3 : shifted - 9;
   int64_t year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
   isBc = year <= 0;
   if (isBc) year = 1 - year;
   return padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2);
}

std::string timestampText(int64_t micros, const char* zone) {
   if (micros == INT64_MAX) return "infinity";
   if (micros == INT64_MIN) return "-infinity";
   int64_t days = micros / microsPerDay, rest = micros % microsPerDay;
   if (rest < 0) {
      rest += microsPerDay;
      --days;
   }
   bool isBc = false;
   const std::string date = dateText(days, isBc);
   return date + " " + clockText(rest) + zone + (isBc ? " BC" : "");
}

std::string intervalText(int64_t micros, int32_t days, int32_t months) {
   std::string out;
   bool wasNegative = false;
   const auto part = [&](int64_t value, const char* unit) {
      if (value == 0) return;
      if (!out.empty()) out += ' ';
      if (wasNegative && value > 0) out += '+';
      out += std::to_string(value) + " " + unit + (value == 1 ? "" : "s");
      wasNegative = value < 0;
   };
   part(months / 12, "year");
   part(months % 12, "mon");
   part(days, "day");
   if (micros == 0 && !out.empty()) return out;
   if (!out.empty()) out += ' ';
   if (micros < 0)
      out += '-';
   else if (wasNegative)
      out += '+';
   const uint64_t size = micros < 0 ? 0 - static_cast<uint64_t>(micros) : static_cast<uint64_t>(micros);
   const uint64_t seconds = size / microsPerSecond;
   return out + padded(static_cast<int64_t>(seconds / 3600), 2) + ":" +
          padded(static_cast<int64_t>(seconds / 60 % 60), 2) + ":" + padded(static_cast<int64_t>(seconds % 60), 2) +
          fractionText(static_cast<int64_t>(size % microsPerSecond));
}

std::string hexText(std::string_view bytes) {
   std::string out;
   for (const char c : bytes) {
      char two[3];
      std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(c));
      out += two;
   }
   return out;
}

/// Size in bytes of the type's values; 0: variable.
size_t sizeOf(unsigned type) {
   switch (type) {
   case Bool: return 1;
   case Int2: return 2;
   case Int4:
   case Oid:
   case Float4:
   case Date: return 4;
   case Int8:
   case Float8:
   case Time:
   case Timestamp:
   case Timestamptz: return 8;
   case Interval:
   case Uuid: return 16;
   default: return 0;
   }
}

} // namespace

bool hasBinaryText(unsigned type) {
   return sizeOf(type) != 0 || type == Bytea || type == Name || type == Text || type == Bpchar || type == Varchar ||
          type == Numeric;
}

std::optional<std::string> textOfBinary(unsigned type, std::string_view bytes) {
   if (const size_t size = sizeOf(type); size != 0 && bytes.size() != size) return std::nullopt;
   switch (type) {
   case Bool: return bytes[0] ? "t" : "f";
   case Int2: return std::to_string(static_cast<int16_t>(uint16At(bytes, 0)));
   case Int4: return std::to_string(int32At(bytes, 0));
   case Oid: return std::to_string(static_cast<uint32_t>(int32At(bytes, 0)));
   case Int8: return std::to_string(int64At(bytes, 0));
   case Float4: return realText(std::bit_cast<float>(int32At(bytes, 0)));
   case Float8: return realText(std::bit_cast<double>(int64At(bytes, 0)));
   case Numeric: return numericText(bytes);
   case Bytea: return "\\x" + hexText(bytes);
   case Date: {
      const int32_t days = int32At(bytes, 0);
      if (days == INT32_MAX) return "infinity";
      if (days == INT32_MIN) return "-infinity";
      bool isBc = false;
      const std::string text = dateText(days, isBc);
      return text + (isBc ? " BC" : "");
   }
   case Time: return clockText(int64At(bytes, 0));
   case Timestamp: return timestampText(int64At(bytes, 0), "");
   case Timestamptz: {
      const int64_t micros = int64At(bytes, 0);
      return timestampText(micros, "+00");
   }
   case Interval: return intervalText(int64At(bytes, 0), int32At(bytes, 8), int32At(bytes, 12));
   case Uuid: {
      const std::string hex = hexText(bytes);
      return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" + hex.substr(16, 4) + "-" +
             hex.substr(20);
   }
   default: return std::string(bytes);
   }
}

} // namespace ouzel::slt
