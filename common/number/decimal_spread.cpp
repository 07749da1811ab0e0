#include "common/number/decimal_spread.hpp"

#include <cmath>

#include "common/number/decimal_big.hpp"
#include "common/number/decimal_small.hpp"

// PostgreSQL's numeric_stddev_internal: (n * sum(x^2) - sum(x)^2) / (n * (n - 1)), and its root.

namespace ouzel::decimal {

namespace {

/// False where a number on the way does not fit in 128 bits.
bool spreadSmall(Scaled sum, int128 squares, int64_t count, Spread spread, Scaled& result) {
   int128 scaledSquares, square, numerator;
   if (__builtin_mul_overflow(squares, static_cast<int128>(count), &scaledSquares) ||
       __builtin_mul_overflow(sum.value, sum.value, &square) ||
       __builtin_sub_overflow(scaledSquares, square, &numerator))
      return false;
   result = {0, 0};
   if (numerator <= 0) return true;
   const int128 denominator = static_cast<int128>(count) * (isSample(spread) ? count - 1 : count);
   Scaled variance;
   if (!divideSmall({numerator, 2 * sum.scale}, {denominator, 0}, variance)) return false;
   if (!isDeviation(spread) || variance.value == 0) {
      result = variance;
      return true;
   }
   return rootSmall(variance, result);
}

/// The square root of a finite, positive decimal at the decimal's own scale, rounded half away from zero.
StringView rootBig(StringView value, Arena& arena) {
   Integer root, remainder;
   const int32_t scale = load(value, root);
   scaleUp(root, static_cast<uint32_t>(scale));
   mpz_sqrtrem(root, remainder, root);
   if (mpz_cmp(remainder, root) > 0)
      mpz_add_ui(root, root, 1); // beyond root + 1/2, whose square is root^2 + root + 1/4
   return store(root, scale, arena);
}

/// high * 2^128 + low, times 10^-scale.
StringView fromWords(uint64_t high, uint128 low, int32_t scale, Arena& arena) {
   Integer value;
   const uint64_t words[] = {static_cast<uint64_t>(low), static_cast<uint64_t>(low >> 64), high};
   mpz_import(value, std::size(words), -1, sizeof words[0], 0, 0, words);
   return store(value, scale, arena);
}

} // namespace

void Moments::add(int128 value) {
   DCHECK(magnitudeOf(value) >> valueBits == 0);
   const uint128 magnitude = magnitudeOf(value);
   const uint64_t low = static_cast<uint64_t>(magnitude), high = static_cast<uint64_t>(magnitude >> 64);
   // (high * 2^64 + low)^2. `high` has 8 bits: the product in the middle has 73.
   const uint128 middle = static_cast<uint128>(low) * high * 2;
   uint128 square;
   const bool carry = __builtin_add_overflow(static_cast<uint128>(low) * low, middle << 64, &square);
   sum += value;
   addSquares(high * high + static_cast<uint64_t>(middle >> 64) + (carry ? 1 : 0), square);
   ++count;
}

bool rootSmall(Scaled value, Scaled& root) {
   constexpr uint32_t radicandBits = 170;
   if (value.scale >= static_cast<int32_t>(powersOfTen)) return false;
   // value * 10^scale in words of 128 bits, whose root has the value's scale.
   const uint128 factor = powers[value.scale];
   const uint64_t lowFactor = static_cast<uint64_t>(factor), highFactor = static_cast<uint64_t>(factor >> 64);
   const uint128 magnitude = magnitudeOf(value.value);
   const uint64_t lowValue = static_cast<uint64_t>(magnitude), highValue = static_cast<uint64_t>(magnitude >> 64);
   const uint128 lowest = static_cast<uint128>(lowValue) * lowFactor;
   const uint128 left = static_cast<uint128>(highValue) * lowFactor,
                 right = static_cast<uint128>(lowValue) * highFactor;
   const uint128 middle = (lowest >> 64) + static_cast<uint64_t>(left) + static_cast<uint64_t>(right);
   const uint128 low = (middle << 64) | static_cast<uint64_t>(lowest);
   const uint128 high = static_cast<uint128>(highValue) * highFactor + (left >> 64) + (right >> 64) + (middle >> 64);
   if ((high >> (radicandBits - 128)) != 0) return false;

   // The root of a double is within 2^-51 of the root. So the radicand less the estimate's square has less than 127
   // bits: computed modulo 2^128 it is right. One step of Newton's is then within one of the root.
   const double first = std::sqrt(doubleOf(high) * 0x1p128 + doubleOf(low));
   const uint64_t firstHigh = static_cast<uint64_t>(first * 0x1p-64);
   uint128 estimate =
       (static_cast<uint128>(firstHigh) << 64) | static_cast<uint64_t>(first - static_cast<double>(firstHigh) * 0x1p64);
   int128 rest = static_cast<int128>(low - estimate * estimate);
   estimate += static_cast<uint128>(static_cast<int128>(static_cast<int64_t>(doubleOf(rest) / (2 * first))));
   rest = static_cast<int128>(low - estimate * estimate);
   for (; rest < 0; rest += static_cast<int128>(2 * estimate + 1))
      --estimate;
   for (; rest > static_cast<int128>(2 * estimate); ++estimate)
      rest -= static_cast<int128>(2 * estimate + 1);
   if (rest > static_cast<int128>(estimate)) ++estimate;
   root = {static_cast<int128>(estimate), value.scale};
   return true;
}

StringView spreadOf(const Moments& moments, int32_t scale, Spread spread, Arena& arena) {
   Scaled result;
   if (moments.squaresHigh == 0 && (moments.squaresLow >> 127) == 0 &&
       spreadSmall({moments.sum, scale}, static_cast<int128>(moments.squaresLow), moments.count, spread, result))
      return fromInt128(result.value, result.scale, arena);
   Arena scratch;
   return spreadBig(fromInt128(moments.sum, scale, scratch),
                    fromWords(moments.squaresHigh, moments.squaresLow, 2 * scale, scratch), moments.count, spread,
                    arena);
}

StringView spreadOf(StringView sum, StringView squares, int64_t count, Spread spread, Arena& arena) {
   Scaled x, xx, result;
   if (decode(sum, x) && decode(squares, xx) && xx.scale == 2 * x.scale &&
       spreadSmall(x, xx.value, count, spread, result))
      return fromInt128(result.value, result.scale, arena);
   return spreadBig(sum, squares, count, spread, arena);
}

StringView spreadBig(StringView sum, StringView squares, int64_t count, Spread spread, Arena& arena) {
   Arena scratch;
   const StringView n = fromInt64(count);
   const StringView numerator = subtract(multiply(n, squares, scratch), multiply(sum, sum, scratch), scratch);
   if (sign(numerator) <= 0) return fromInt64(0);
   const StringView denominator = multiply(n, isSample(spread) ? fromInt64(count - 1) : n, scratch);
   const StringView variance = divideBig(numerator, denominator, scratch);
   if (isDeviation(spread) && sign(variance) > 0) return rootBig(variance, arena);
   return arena.copyString(variance.view());
}

} // namespace ouzel::decimal
