#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "common/memory/arena.hpp"
#include "common/text/parse_status.hpp"
#include "common/value/physical_type.hpp"
#include "common/value/string_view.hpp"

// Decimals with a display scale of their own: the numeric of PostgreSQL wherever rows do not share one scale.
//
// A decimal is the bytes of a StringView (little-endian, unaligned):
//   offset  size  what
//   0       2     (scale << 2) | kind. Kind 0: not negative; 1: negative; 2: special, where the scale field is 0 for
//                 NaN, 1 for Infinity, 2 for -Infinity
//   2       n     magnitude: |value| * 10^scale as an unsigned integer without leading (high) zero bytes; none for zero
// The form is canonical: equal value and equal scale mean equal bytes; zero is never negative. Up to 24 digits lie
// inline in the StringView. Bytes of size 0 (found at NULL positions) read as zero.
//
// All functions follow PostgreSQL 15's numeric: result scales, rounding half away from zero, errors. Results go to the
// arena unless they are inline. Values of up to 38 digits never leave 128-bit registers; larger ones go through GMP.

namespace ouzel::decimal {

inline constexpr int32_t scaleMax = 16383; ///< digits after the point a value can have
inline constexpr int32_t integerDigitsMax = 131072;
inline constexpr int32_t resultScaleMax = 1000; ///< limit of division and the transcendental functions
inline constexpr int32_t significantDigitsMin = 16;

enum class Kind : uint8_t { Finite, NaN, Infinity, NegativeInfinity };

inline constexpr uint32_t headerBytes = 2;
inline constexpr uint16_t kindNegative = 1, kindSpecial = 2, kindMask = 3;
inline constexpr uint32_t powersOfTen = 39; ///< 10^0 .. 10^38 fit in 128 bits
uint128 powerOfTen(uint32_t exponent);      ///< REQUIRES: exponent < powersOfTen

// ---- taking apart ----

inline uint16_t header(StringView v) {
   uint16_t h = 0;
   if (v.size() >= headerBytes) std::memcpy(&h, v.data(), sizeof h);
   return h;
}
inline bool isFinite(StringView v) {
   return (header(v) & kindSpecial) == 0;
}
inline Kind kind(StringView v) {
   const uint16_t h = header(v);
   return (h & kindSpecial) == 0 ? Kind::Finite : static_cast<Kind>((h >> 2) + 1);
}
inline bool isNaN(StringView v) {
   return header(v) == kindSpecial;
}
/// Display scale; 0 for specials.
inline int32_t scale(StringView v) {
   const uint16_t h = header(v);
   return (h & kindSpecial) != 0 ? 0 : h >> 2;
}
/// -1, 0, 1; NaN counts as positive.
inline int sign(StringView v) {
   const uint16_t h = header(v);
   if ((h & kindSpecial) != 0) return (h >> 2) == 2 ? -1 : 1;
   return v.size() <= headerBytes ? 0 : (h & kindNegative) != 0 ? -1 : 1;
}

/// value * 10^-scale.
struct Scaled {
   int128 value;
   int32_t scale;
};
/// Take a finite value apart if its digits fit in 127 bits; the fast path of everything below.
inline bool decode(StringView v, Scaled& out) {
   constexpr uint32_t wordBytes = sizeof(uint64_t);
   const uint32_t size = v.size();
   uint128 magnitude;
   uint16_t h;
   if (size <= StringView::inlineMax) [[likely]] {
      // Registers instead of copies of some bytes, which the processor would have to wait for. Unused bytes are zero.
      const uint128 words = std::bit_cast<uint128>(v);
      h = static_cast<uint16_t>(words >> 32);
      magnitude = words >> 48;
      if ((h & kindSpecial) != 0) return false;
   } else {
      if (size > headerBytes + sizeof(uint128)) return false;
      uint64_t low, last; // the last eight bytes overlap the first ones
      std::memcpy(&h, v.data(), sizeof h);
      std::memcpy(&low, v.data() + headerBytes, wordBytes);
      std::memcpy(&last, v.data() + size - wordBytes, wordBytes);
      magnitude = low | (static_cast<uint128>(last) << (8 * (size - headerBytes - wordBytes)));
      if ((magnitude >> 127) != 0) return false;
   }
   out.scale = h >> 2;
   out.value = (h & kindNegative) != 0 ? -static_cast<int128>(magnitude) : static_cast<int128>(magnitude);
   return true;
}

// ---- putting together ----

StringView nan();
StringView infinity(bool negative = false);
/// At most 20 digits: always inline, so no arena.
StringView fromInt64(int64_t value, int32_t scale = 0);
StringView fromInt128(int128 value, int32_t scale, Arena& arena);
/// Rounded to `scale` digits; nothing if not finite or beyond 127 bits.
std::optional<int128> toInt128(StringView v, int32_t scale);
/// The same within 64 bits; nullopt for INT64_MIN too.
std::optional<int64_t> toInt64(StringView v, int32_t scale);

// ---- text ----

/// numeric_in without typmod: surrounding blanks, sign, digits, point, exponent, NaN, Infinity, inf. Throws 22P02 and
/// 22003 with PostgreSQL's words.
StringView parse(std::string_view text, Arena& arena);
ParseStatus tryParse(std::string_view text, Arena& arena, StringView& out);
void append(std::string& out, StringView v);
void appendScaled(std::string& out, int128 value, int32_t scale);
std::string toString(StringView v);

/// Base-10000 digits as PostgreSQL keeps and sends them, sign field and display scale included (no length word).
void appendBinary(std::string& out, StringView v);
void appendBinaryScaled(std::string& out, int64_t value, int32_t scale);
/// numeric_recv. Throws 22P03.
StringView parseBinary(std::string_view bytes, Arena& arena);

// ---- comparison ----

/// NaN is equal to itself and larger than everything.
int compare(StringView a, StringView b);
inline bool equal(StringView a, StringView b) {
   return a == b || (header(a) != header(b) && compare(a, b) == 0);
}
int compareScaled(int128 a, int32_t scaleA, int128 b, int32_t scaleB);
/// Append bytes whose memcmp order is compare()'s order and which are equal for equal values; self-delimiting.
void appendSortKey(std::string& out, StringView v);

// ---- arithmetic ----

StringView add(StringView a, StringView b, Arena& arena);
StringView subtract(StringView a, StringView b, Arena& arena);
StringView multiply(StringView a, StringView b, Arena& arena);
/// Scale by PostgreSQL's select_div_scale. Throws 22012.
StringView divide(StringView a, StringView b, Arena& arena);
/// sum / count with the scale that numeric division picks, as avg() needs it. REQUIRES: count > 0.
StringView divideScaled(int128 sum, int32_t scale, int64_t count, Arena& arena);
/// Sign of the dividend. Throws 22012.
StringView modulo(StringView a, StringView b, Arena& arena);
/// div(): the integer part of the quotient. Throws 22012.
StringView divideTruncated(StringView a, StringView b, Arena& arena);
StringView negate(StringView v, Arena& arena);
StringView absolute(StringView v, Arena& arena);
/// To `scale` digits (negative: left of the point), half away from zero.
StringView round(StringView v, int32_t scale, Arena& arena);
StringView truncate(StringView v, int32_t scale, Arena& arena);
StringView ceil(StringView v, Arena& arena);
StringView floor(StringView v, Arena& arena);
/// Smallest scale that shows all digits; trim_scale() gives the value that scale.
int32_t minScale(StringView v);
StringView trimScale(StringView v, Arena& arena);
/// Same value, display scale raised or lowered to `scale`, rounding.
StringView rescale(StringView v, int32_t scale, Arena& arena);

// ---- functions (decimal_math.cpp) ----

StringView sqrt(StringView v, Arena& arena);                          ///< 2201F
StringView exp(StringView v, Arena& arena);                           ///< 22003
StringView ln(StringView v, Arena& arena);                            ///< 2201E
StringView log(StringView base, StringView v, Arena& arena);          ///< 2201E, 22012
StringView power(StringView base, StringView exponent, Arena& arena); ///< 2201F, 22003
StringView gcd(StringView a, StringView b, Arena& arena);
StringView lcm(StringView a, StringView b, Arena& arena);
StringView factorial(int64_t n, Arena& arena);                                           ///< 22003
int32_t widthBucket(StringView operand, StringView low, StringView high, int32_t count); ///< 2201G, 22003

// ---- conversions (decimal_cast.cpp) ----

/// numeric(p, s): rounds to the scale, 22003 "numeric field overflow" with PostgreSQL's detail. typmod -1: unchanged.
StringView applyTypmod(StringView v, int32_t typmod, Arena& arena);
/// The same into a scaled integer of numeric(p, s) with p <= 38. NaN is 0A000 (sql_type.hpp).
int128 toScaledColumn(StringView v, int32_t typmod);
/// Throw 22003 "numeric field overflow" for a column of this typmod.
[[noreturn]] void throwFieldOverflow(int32_t typmod);

int16_t toInt2(StringView v); ///< 22003 "smallint out of range", 0A000 for NaN and infinity
int32_t toInt4(StringView v);
int64_t toInt8(StringView v);
double toDouble(StringView v); ///< 22003 `"..." is out of range for type double precision`
float toFloat(StringView v);
/// Nearest double without errors (infinities on overflow), for statistics and estimates.
double approximate(StringView v);
StringView fromDouble(double v, Arena& arena); ///< 15 significant digits, as PostgreSQL casts
StringView fromFloat(float v, Arena& arena);   ///< 6 significant digits

} // namespace ouzel::decimal
