#include <algorithm>

#include "common/error/sql_error.hpp"
#include "common/number/decimal_big.hpp"
#include "common/number/decimal_small.hpp"

// Quotients and remainders. The scale of a quotient depends on its digits, as in PostgreSQL.

namespace ouzel::decimal {

namespace {

[[noreturn, gnu::cold]] void throwDivisionByZero() {
   throw SqlError(sqlstate::divisionByZero, "division by zero");
}

/// Magnitudes below this have a power of ten above them that fits in 128 bits.
constexpr int32_t digitsMax = static_cast<int32_t>(powersOfTen) - 1;

/// numerator * 10^shift / denominator, rounded half up. The long division of school, with as many decimal digits a step
/// as the remainder leaves room for. False where there is no room, or where the quotient does not fit in 127 bits.
bool divideShifted(const Digits& dividend, const Digits& divisor, int32_t shift, uint128& quotient) {
   const int32_t first = std::clamp(digitsMax - dividend.count, 0, shift);
   const uint128 numerator = dividend.magnitude * powers[static_cast<size_t>(first)], denominator = divisor.magnitude;
   quotient = numerator / denominator;
   uint128 remainder = numerator - quotient * denominator;
   const int32_t room = digitsMax - divisor.count;
   for (int32_t left = shift - first; left > 0;) {
      const int32_t step = std::min(left, room);
      if (step <= 0 || __builtin_mul_overflow(quotient, powers[step], &quotient)) return false;
      remainder *= powers[step];
      const uint128 digits = remainder / denominator;
      if (__builtin_add_overflow(quotient, digits, &quotient)) return false;
      remainder -= digits * denominator;
      left -= step;
   }
   if (remainder >= denominator - remainder) ++quotient;
   return (quotient >> 127) == 0;
}

/// a / b where at least one is NaN or infinite.
StringView divideSpecial(StringView a, StringView b) {
   if (isNaN(a) || isNaN(b)) return nan();
   if (isFinite(a)) return fromInt64(0);
   if (!isFinite(b)) return nan();
   if (sign(b) == 0) throwDivisionByZero();
   return infinity(sign(a) * sign(b) < 0);
}

} // namespace

int32_t quotientScale(int32_t weight, int32_t scaleA, int32_t scaleB) {
   const int32_t scale = std::max({significantDigitsMin - weight * 4, scaleA, scaleB, 0});
   return std::min(scale, resultScaleMax);
}

bool divideSmall(Scaled a, Scaled b, Scaled& quotient) {
   const Digits dividend(a);
   Digits divisor(b);
   const int32_t below = dividend.groupIsNotAbove(divisor.group()) ? 1 : 0;
   quotient.scale = quotientScale(dividend.weight - divisor.weight - below, a.scale, b.scale);
   int32_t shift = quotient.scale - a.scale + b.scale;
   if (shift < 0) {
      if (-shift > digitsMax ||
          __builtin_mul_overflow(divisor.magnitude, powers[static_cast<size_t>(-shift)], &divisor.magnitude))
         return false;
      shift = 0;
   }
   uint128 magnitude;
   if (!divideShifted(dividend, divisor, shift, magnitude)) return false;
   quotient.value = withSign(magnitude, (a.value < 0) != (b.value < 0));
   return true;
}

StringView divideBig(StringView a, StringView b, Arena& arena) {
   const int32_t scaleA = scale(a), scaleB = scale(b);
   const Leading leadingA = leading(a), leadingB = leading(b);
   const int32_t below = leadingA.group <= leadingB.group ? 1 : 0;
   const int32_t resultScale = quotientScale(leadingA.weight - leadingB.weight - below, scaleA, scaleB);
   BigOperand numerator(a), denominator(b);
   const int32_t shift = resultScale - scaleA + scaleB;
   if (shift >= 0)
      scaleUp(numerator.value, static_cast<uint32_t>(shift));
   else
      scaleUp(denominator.value, static_cast<uint32_t>(-shift));
   divideRounded(numerator.value, denominator.value);
   return store(numerator.value, resultScale, arena);
}

StringView divide(StringView a, StringView b, Arena& arena) {
   Scaled x, y, quotient;
   if (decode(a, x) && decode(b, y)) {
      if (y.value == 0) throwDivisionByZero();
      if (divideSmall(x, y, quotient)) return fromInt128(quotient.value, quotient.scale, arena);
   }
   if (!isFinite(a) || !isFinite(b)) return divideSpecial(a, b);
   if (sign(b) == 0) throwDivisionByZero();
   return divideBig(a, b, arena);
}

StringView divideScaled(int128 sum, int32_t scale, int64_t count, Arena& arena) {
   DCHECK(count > 0);
   Scaled quotient;
   if (divideSmall({sum, scale}, {count, 0}, quotient)) return fromInt128(quotient.value, quotient.scale, arena);
   Arena scratch;
   return divideBig(fromInt128(sum, scale, scratch), fromInt64(count), arena);
}

StringView modulo(StringView a, StringView b, Arena& arena) {
   Scaled x, y;
   if (decode(a, x) && decode(b, y) && align(x, y)) {
      if (y.value == 0) throwDivisionByZero();
      if (y.value == -1) return fromInt64(0, x.scale); // INT128_MIN % -1 traps
      return fromInt128(x.value % y.value, x.scale, arena);
   }
   if (!isFinite(a) || !isFinite(b)) {
      if (isNaN(a) || isNaN(b)) return nan();
      if (!isFinite(a)) {
         if (sign(b) == 0) throwDivisionByZero();
         return nan();
      }
      return arena.copyString(a.view()); // x mod infinity is x
   }
   if (sign(b) == 0) throwDivisionByZero();
   BigOperand p(a), q(b);
   const int32_t resultScale = alignBig(p, q);
   mpz_tdiv_r(p.value, p.value, q.value);
   return store(p.value, resultScale, arena);
}

StringView divideTruncated(StringView a, StringView b, Arena& arena) {
   Scaled x, y;
   if (decode(a, x) && decode(b, y) && align(x, y)) {
      if (y.value == 0) throwDivisionByZero();
      return fromInt128(x.value / y.value, 0, arena);
   }
   if (!isFinite(a) || !isFinite(b)) return divideSpecial(a, b);
   if (sign(b) == 0) throwDivisionByZero();
   BigOperand p(a), q(b);
   alignBig(p, q);
   mpz_tdiv_q(p.value, p.value, q.value);
   return store(p.value, 0, arena);
}

} // namespace ouzel::decimal
