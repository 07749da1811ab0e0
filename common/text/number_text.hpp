#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "common/text/parse_status.hpp"

// Text of integers and floating-point numbers, as PostgreSQL reads and prints them. No allocation but the target's.

namespace ouzel {

/// Decimal digits of v at p, which has room for 20; returns the end.
char* writeUnsigned(char* p, uint64_t v);
/// Exactly two digits. REQUIRES: v < 100.
char* writeTwoDigits(char* p, uint32_t v);
/// At least `width` digits, filled with zeros.
char* writePadded(char* p, uint64_t v, uint32_t width);
/// With sign; room for 20.
char* writeInteger(char* p, int64_t v);
void appendInteger(std::string& out, int64_t v);

/// extraFloatDigits > 0: the shortest digits that read back the same; otherwise 15 + n (float4: 6 + n) digits.
void appendDouble(std::string& out, double v, int32_t extraFloatDigits = 1);
void appendFloat(std::string& out, float v, int32_t extraFloatDigits = 1);

/// The blanks PostgreSQL's input functions skip: isspace() of the C locale.
constexpr bool isBlank(char c) {
   return c == ' ' || (c >= '\t' && c <= '\r');
}
constexpr bool isDigit(char c) {
   return c >= '0' && c <= '9';
}
std::string_view trimBlanks(std::string_view text);

/// Blanks around, a sign, digits.
ParseStatus parseInteger(std::string_view text, int16_t& out);
ParseStatus parseInteger(std::string_view text, int32_t& out);
ParseStatus parseInteger(std::string_view text, int64_t& out);
/// As oidin and xidin read it: unsigned 32 bits; a negative number wraps.
ParseStatus parseUnsigned32(std::string_view text, uint32_t& out);
ParseStatus parseUnsigned64(std::string_view text, uint64_t& out);
/// The syntax of strtod, with NaN and Infinity in any case; out of range also on underflow to zero.
ParseStatus parseDouble(std::string_view text, double& out);
ParseStatus parseFloat(std::string_view text, float& out);

/// Throw 22P02 `invalid input syntax for type integer: "abc"`.
[[noreturn]] void throwInvalidSyntax(std::string_view typeName, std::string_view text);
/// Throw 22003 `value "99999999999" is out of range for type integer`.
[[noreturn]] void throwValueOutOfRange(std::string_view typeName, std::string_view text);

} // namespace ouzel
