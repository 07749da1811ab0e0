#include "common/text/number_text.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "common/error/sql_error.hpp"

namespace ouzel {

namespace {

constexpr char digitPairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
    "4950515253545556575859606162636465666768697071727374757677787980818283848586878889909192939495"
    "96979899";

/// Is digits * 10^exponent exactly between v and a neighbour of v? Such a decimal reads back as v only because ties go
/// to even; PostgreSQL prints one digit more instead.
template <typename Float>
bool isTie(uint64_t digits, int exponent, Float v) {
   constexpr int mantissaBits = std::numeric_limits<Float>::digits;
   int binaryExponent;
   const uint64_t mantissa =
       static_cast<uint64_t>(std::ldexp(std::frexp(std::fabs(static_cast<double>(v)), &binaryExponent), mantissaBits));
   binaryExponent -= mantissaBits;
   if (exponent > 27 || exponent < -2 || digits == 0) return false;
   const int shift = std::countr_zero(digits);
   const auto equals = [&](uint64_t odd, int power) { // odd * 2^power
      unsigned __int128 left = odd, right = digits >> shift;
      for (int i = 0; i < exponent; ++i)
         right *= 5;
      for (int i = exponent; i < 0; ++i)
         left *= 5;
      return left == right && power == shift + exponent;
   };
   if (equals(mantissa * 2 + 1, binaryExponent - 1)) return true;
   const bool atPowerOfTwo = mantissa == uint64_t{1} << (mantissaBits - 1);
   return atPowerOfTwo ? equals(mantissa * 4 - 1, binaryExponent - 2) : equals(mantissa * 2 - 1, binaryExponent - 1);
}

/// std::to_chars in scientific form, but never a tie. A tie needs |v| beyond the mantissa's last bit but one.
template <typename Float>
char* writeScientific(char* buffer, char* bufferEnd, Float v) {
   char* end = std::to_chars(buffer, bufferEnd, v, std::chars_format::scientific).ptr;
   constexpr Float tieMin = static_cast<Float>(uint64_t{1} << (std::numeric_limits<Float>::digits - 2));
   if (std::fabs(v) < tieMin) return end;
   for (int count = 0;;) {
      uint64_t digits = 0;
      int written = 0;
      const char* p = buffer;
      *end = '\0'; // to_chars does not, and atoi reads on
      for (; *p != 'e'; ++p)
         if (isDigit(*p)) digits = digits * 10 + static_cast<uint64_t>(*p - '0'), ++written;
      if (p[1] == '-' || !isTie(digits, std::atoi(p + 2) - (written - 1), v)) return end;
      count = std::max(count, written - 1) + 1;
      end = std::to_chars(buffer, bufferEnd, v, std::chars_format::scientific, count).ptr;
   }
}

/// Digits and decimal exponent of the leading digit, printed as PostgreSQL does: fixed within [-4, fixedMax).
template <typename Float>
void appendShortest(std::string& out, Float v, int fixedMax) {
   char buffer[64];
   const char* const end = writeScientific(buffer, buffer + sizeof buffer, v);
   // d[.ddd]e±xx, perhaps with a sign before
   const char* p = buffer;
   if (*p == '-') out.push_back(*p++);
   const char* mark = static_cast<const char*>(std::memchr(p, 'e', static_cast<size_t>(end - p)));
   int exponent = 0;
   for (const char* e = mark + 2; e < end; ++e)
      exponent = exponent * 10 + (*e - '0');
   if (mark[1] == '-') exponent = -exponent;
   if (exponent < -4 || exponent >= fixedMax) {
      out.append(p, static_cast<size_t>(end - p)); // to_chars writes at least two exponent digits, as PostgreSQL does
      return;
   }
   char digits[32];
   int count = 0;
   for (; p < mark; ++p)
      if (*p != '.') digits[count++] = *p;
   if (exponent < 0) {
      out.append("0.");
      out.append(static_cast<size_t>(-exponent - 1), '0');
      out.append(digits, static_cast<size_t>(count));
   } else if (count <= exponent + 1) {
      out.append(digits, static_cast<size_t>(count));
      out.append(static_cast<size_t>(exponent + 1 - count), '0');
   } else {
      out.append(digits, static_cast<size_t>(exponent + 1));
      out.push_back('.');
      out.append(digits + exponent + 1, static_cast<size_t>(count - exponent - 1));
   }
}

template <typename Float>
void appendFloating(std::string& out, Float v, int32_t extraFloatDigits, int digits) {
   if (std::isnan(v)) {
      out.append("NaN");
   } else if (std::isinf(v)) {
      out.append(v < 0 ? "-Infinity" : "Infinity");
   } else if (extraFloatDigits > 0) {
      appendShortest(out, v, digits);
   } else {
      char buffer[64];
      const int precision = digits + extraFloatDigits;
      const int length =
          std::snprintf(buffer, sizeof buffer, "%.*g", precision < 1 ? 1 : precision, static_cast<double>(v));
      out.append(buffer, static_cast<size_t>(length));
   }
}

template <typename Int>
ParseStatus parseSigned(std::string_view text, Int& out) {
   const char *p = text.data(), *const end = p + text.size();
   while (p < end && isBlank(*p))
      ++p;
   bool negative = false;
   if (p < end && (*p == '-' || *p == '+')) negative = *p++ == '-';
   if (p == end || !isDigit(*p)) return ParseStatus::Malformed;
   // Collected below zero, where there is room for one more.
   Int value = 0;
   bool overflow = false;
   for (; p < end && isDigit(*p); ++p)
      overflow |= __builtin_mul_overflow(value, static_cast<Int>(10), &value) ||
                  __builtin_sub_overflow(value, static_cast<Int>(*p - '0'), &value);
   while (p < end && isBlank(*p))
      ++p;
   // PostgreSQL stops at the digit that overflows and never sees garbage behind it.
   if (overflow) return ParseStatus::OutOfRange;
   if (p != end) return ParseStatus::Malformed;
   if (!negative) {
      if (value == std::numeric_limits<Int>::min()) return ParseStatus::OutOfRange;
      value = static_cast<Int>(-value);
   }
   out = value;
   return ParseStatus::Ok;
}

ParseStatus parseUnsignedWrapping(std::string_view text, uint64_t& out, bool& negative) {
   const char *p = text.data(), *const end = p + text.size();
   while (p < end && isBlank(*p))
      ++p;
   negative = false;
   if (p < end && (*p == '-' || *p == '+')) negative = *p++ == '-';
   if (p == end || !isDigit(*p)) return ParseStatus::Malformed;
   uint64_t value = 0;
   bool overflow = false;
   for (; p < end && isDigit(*p); ++p)
      overflow |= __builtin_mul_overflow(value, uint64_t{10}, &value) ||
                  __builtin_add_overflow(value, static_cast<uint64_t>(*p - '0'), &value);
   while (p < end && isBlank(*p))
      ++p;
   if (overflow) return ParseStatus::OutOfRange;
   if (p != end) return ParseStatus::Malformed;
   out = negative ? 0 - value : value;
   return ParseStatus::Ok;
}

double toFloating(const char* text, char** end, double) {
   return std::strtod(text, end);
}
float toFloating(const char* text, char** end, float) {
   return std::strtof(text, end);
}

template <typename Float>
ParseStatus parseFloating(std::string_view text, Float& out) {
   text = trimBlanks(text);
   if (text.empty()) return ParseStatus::Malformed;
   const char* begin = text.data() + (text[0] == '+' && text.size() > 1 && isDigit(text[1]) ? 1 : 0);
   const char* const end = text.data() + text.size();
   Float value{};
   const auto [stop, error] = std::from_chars(begin, end, value);
   if (error == std::errc() && stop == end) {
      out = value;
      return ParseStatus::Ok;
   }
   // Hexadecimal, overflow, denormals and malformed text: the C library decides, as in PostgreSQL.
   const std::string copy(text);
   char* tail = nullptr;
   errno = 0;
   value = toFloating(copy.c_str(), &tail, Float{});
   if (tail != copy.c_str() + copy.size() || tail == copy.c_str()) return ParseStatus::Malformed;
   if (errno == ERANGE && (value == 0 || std::isinf(value))) return ParseStatus::OutOfRange;
   out = value;
   return ParseStatus::Ok;
}

} // namespace

char* writeTwoDigits(char* p, uint32_t v) {
   std::memcpy(p, digitPairs + v * 2, 2);
   return p + 2;
}

char* writeUnsigned(char* p, uint64_t v) {
   char buffer[20];
   char* q = buffer + sizeof buffer;
   while (v >= 100) {
      q -= 2;
      std::memcpy(q, digitPairs + (v % 100) * 2, 2);
      v /= 100;
   }
   if (v >= 10) {
      q -= 2;
      std::memcpy(q, digitPairs + v * 2, 2);
   } else {
      *--q = static_cast<char>('0' + v);
   }
   const size_t length = static_cast<size_t>(buffer + sizeof buffer - q);
   std::memcpy(p, q, length);
   return p + length;
}

char* writePadded(char* p, uint64_t v, uint32_t width) {
   char buffer[20];
   const uint32_t length = static_cast<uint32_t>(writeUnsigned(buffer, v) - buffer);
   for (uint32_t i = length; i < width; ++i)
      *p++ = '0';
   std::memcpy(p, buffer, length);
   return p + length;
}

char* writeInteger(char* p, int64_t v) {
   if (v >= 0) return writeUnsigned(p, static_cast<uint64_t>(v));
   *p = '-';
   return writeUnsigned(p + 1, 0 - static_cast<uint64_t>(v));
}

void appendInteger(std::string& out, int64_t v) {
   char buffer[24];
   out.append(buffer, static_cast<size_t>(writeInteger(buffer, v) - buffer));
}

void appendDouble(std::string& out, double v, int32_t extraFloatDigits) {
   appendFloating(out, v, extraFloatDigits, std::numeric_limits<double>::digits10);
}

void appendFloat(std::string& out, float v, int32_t extraFloatDigits) {
   appendFloating(out, v, extraFloatDigits, std::numeric_limits<float>::digits10);
}

std::string_view trimBlanks(std::string_view text) {
   while (!text.empty() && isBlank(text.front()))
      text.remove_prefix(1);
   while (!text.empty() && isBlank(text.back()))
      text.remove_suffix(1);
   return text;
}

ParseStatus parseInteger(std::string_view text, int16_t& out) {
   return parseSigned(text, out);
}
ParseStatus parseInteger(std::string_view text, int32_t& out) {
   return parseSigned(text, out);
}
ParseStatus parseInteger(std::string_view text, int64_t& out) {
   return parseSigned(text, out);
}

ParseStatus parseUnsigned64(std::string_view text, uint64_t& out) {
   bool negative;
   return parseUnsignedWrapping(text, out, negative);
}

ParseStatus parseUnsigned32(std::string_view text, uint32_t& out) {
   uint64_t wide = 0;
   bool negative = false;
   const ParseStatus status = parseUnsignedWrapping(text, wide, negative);
   if (status != ParseStatus::Ok) return status;
   const int64_t asSigned = static_cast<int64_t>(wide);
   if (negative ? asSigned > 0 || asSigned < INT32_MIN : wide > UINT32_MAX) return ParseStatus::OutOfRange;
   out = static_cast<uint32_t>(wide);
   return ParseStatus::Ok;
}

ParseStatus parseDouble(std::string_view text, double& out) {
   return parseFloating(text, out);
}
ParseStatus parseFloat(std::string_view text, float& out) {
   return parseFloating(text, out);
}

void throwInvalidSyntax(std::string_view typeName, std::string_view text) {
   throw SqlError(sqlstate::invalidTextRepresentation,
                  "invalid input syntax for type " + std::string(typeName) + ": \"" + std::string(text) + '"');
}

void throwValueOutOfRange(std::string_view typeName, std::string_view text) {
   throw SqlError(sqlstate::numericValueOutOfRange,
                  "value \"" + std::string(text) + "\" is out of range for type " + std::string(typeName));
}

} // namespace ouzel
