#pragma once
#include "common/number/decimal.hpp"

// Variances and standard deviations with the digits of PostgreSQL's numeric.

namespace ouzel::decimal {

enum class Spread : uint8_t { VarPop, VarSamp, StddevPop, StddevSamp };
constexpr bool isSample(Spread spread) {
   return spread == Spread::VarSamp || spread == Spread::StddevSamp;
}
constexpr bool isDeviation(Spread spread) {
   return spread == Spread::StddevPop || spread == Spread::StddevSamp;
}
/// With fewer values the spread is NULL.
constexpr int64_t fewestValues(Spread spread) {
   return isSample(spread) ? 2 : 1;
}

/// The sums of `count` integers and of their squares. Exact for values of up to `valueBits` bits.
struct alignas(16) Moments {
   static constexpr uint32_t valueBits = 72; ///< squares of 2^48 values fit in 192 bits

   int128 sum = 0;
   uint128 squaresLow = 0;
   uint64_t squaresHigh = 0; ///< times 2^128
   int64_t count = 0;

   void add(int64_t value) {
      sum += value;
      addSquares(0, static_cast<uint128>(static_cast<int128>(value) * value));
      ++count;
   }
   void add(int128 value);
   void merge(const Moments& other) {
      sum += other.sum;
      addSquares(other.squaresHigh, other.squaresLow);
      count += other.count;
   }

private:
   void addSquares(uint64_t high, uint128 low) {
      squaresHigh += high + (__builtin_add_overflow(squaresLow, low, &squaresLow) ? 1 : 0);
   }
};

/// The spread of values that are integers times 10^-scale. REQUIRES: moments.count >= fewestValues(spread).
StringView spreadOf(const Moments& moments, int32_t scale, Spread spread, Arena& arena);
/// The same from finite decimals. The scale of `squares` is twice that of `sum`.
StringView spreadOf(StringView sum, StringView squares, int64_t count, Spread spread, Arena& arena);
/// The same with integers of any length, for what does not fit in 128 bits.
StringView spreadBig(StringView sum, StringView squares, int64_t count, Spread spread, Arena& arena);

} // namespace ouzel::decimal
