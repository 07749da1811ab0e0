#pragma once
#include <array>

#include "common/number/decimal.hpp"
#include "common/number/decimal_big.hpp"

// Decimals within 128 bits, for the decimal*.cpp files only.

namespace ouzel::decimal {

inline constexpr std::array<uint128, powersOfTen> powers = [] {
   std::array<uint128, powersOfTen> result{};
   uint128 power = 1;
   for (uint128& p : result) {
      p = power;
      power *= 10;
   }
   return result;
}();

/// a * 10^exponent, if that fits in 127 bits.
inline bool scaleUp(int128& a, int32_t exponent) {
   if (exponent == 0) return true;
   if (exponent >= static_cast<int32_t>(powersOfTen)) return a == 0;
   return !__builtin_mul_overflow(a, static_cast<int128>(powers[exponent]), &a);
}

/// Brings both to the larger scale; false if the digits do not fit.
inline bool align(Scaled& a, Scaled& b) {
   if (a.scale < b.scale) {
      if (!scaleUp(a.value, b.scale - a.scale)) return false;
      a.scale = b.scale;
   } else if (b.scale < a.scale) {
      if (!scaleUp(b.value, a.scale - b.scale)) return false;
      b.scale = a.scale;
   }
   return true;
}

constexpr int128 withSign(uint128 magnitude, bool negative) {
   return negative ? -static_cast<int128>(magnitude) : static_cast<int128>(magnitude);
}

/// PostgreSQL's select_div_scale, for a quotient whose first group of four digits has this weight: at least 16
/// significant digits, at least either input's scale, at most 1000.
int32_t quotientScale(int32_t weight, int32_t scaleA, int32_t scaleB);
/// a / b with the scale that select_div_scale picks, rounded half away from zero. False where the digits of the
/// quotient or of a step towards it do not fit: divideBig() divides then. REQUIRES: b is not zero.
bool divideSmall(Scaled a, Scaled b, Scaled& quotient);

/// The square root of a positive value at the value's own scale, rounded half away from zero. False where the digits do
/// not fit.
bool rootSmall(Scaled value, Scaled& root);

} // namespace ouzel::decimal
