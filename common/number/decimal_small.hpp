#pragma once
#include <array>
#include <bit>

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

/// Powers of ten within 64 bits.
inline constexpr std::array<uint64_t, 20> shortPowers = [] {
   std::array<uint64_t, 20> result{};
   for (size_t i = 0; i < result.size(); ++i)
      result[i] = static_cast<uint64_t>(powers[i]);
   return result;
}();

/// Decimal digits; 0 for zero. 1233 / 4096 approximates log10(2) closely enough for 128 bits.
inline uint32_t countDigits(uint64_t v) {
   const uint32_t guess = static_cast<uint32_t>((64 - std::countl_zero(v)) * 1233) >> 12;
   return guess + (v >= shortPowers[guess] ? 1 : 0);
}
inline uint32_t countDigits(uint128 v) {
   const uint64_t high = static_cast<uint64_t>(v >> 64);
   if (high == 0) return countDigits(static_cast<uint64_t>(v));
   const uint32_t guess = static_cast<uint32_t>((128 - std::countl_zero(high)) * 1233) >> 12;
   return guess + (guess < powersOfTen && v >= powers[guess] ? 1 : 0);
}

/// The digits of a decimal, and where its leading group of four, of base 10000, lies among them.
struct Digits {
   uint128 magnitude = 0;
   int32_t count = 0;
   int32_t weight = 0;  ///< the group's exponent of 10000
   int32_t surplus = 0; ///< digits after the group; negative: zeros that the group has after the digits

   explicit Digits(Scaled v) : magnitude(magnitudeOf(v.value)), count(static_cast<int32_t>(countDigits(magnitude))) {
      if (magnitude == 0) return;
      const int32_t exponent = count - 1 - v.scale; // of the leading decimal digit
      weight = exponent >> 2;                       // towards minus infinity
      surplus = count - ((exponent & 3) + 1);
   }
   int32_t group() const {
      if (surplus < 0)
         return static_cast<int32_t>(static_cast<uint64_t>(magnitude) * shortPowers[static_cast<size_t>(-surplus)]);
      if ((magnitude >> 64) == 0) // one instruction divides 64 bits
         return static_cast<int32_t>(static_cast<uint64_t>(magnitude) / shortPowers[static_cast<size_t>(surplus)]);
      return static_cast<int32_t>(magnitude / powers[static_cast<size_t>(surplus)]);
   }
   /// group() <= `other`, without a division.
   bool groupIsNotAbove(int32_t other) const {
      constexpr int32_t surplusMax = static_cast<int32_t>(powersOfTen) - 1 - 4;
      if (surplus < 0 || surplus > surplusMax) return group() <= other;
      return magnitude < static_cast<uint128>(other + 1) * powers[static_cast<size_t>(surplus)];
   }
};

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

/// Within 2^-52 of the value.
inline double doubleOf(uint128 value) {
   return static_cast<double>(static_cast<uint64_t>(value >> 64)) * 0x1p64 +
          static_cast<double>(static_cast<uint64_t>(value));
}
inline double doubleOf(int128 value) {
   const double magnitude = doubleOf(magnitudeOf(value));
   return value < 0 ? -magnitude : magnitude;
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
