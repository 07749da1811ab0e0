#include <algorithm>
#include <cmath>
// mpfr.h declares its GMP functions only after gmp.h
#include <mpfr.h>

#include "common/error/sql_error.hpp"
#include "common/number/decimal.hpp"
#include "common/number/decimal_big.hpp"

// Roots, logarithms and powers: the scale of a result is PostgreSQL's, its digits come from MPFR with digits to spare.

namespace ouzel::decimal {

namespace {

/// MPFR keeps a cache of constants and numbers in each thread; the destructor frees the cache when the thread ends.
struct ThreadCaches {
   ~ThreadCaches() { mpfr_free_cache(); }
   void touch() const {}
};
thread_local const ThreadCaches threadCaches;

/// Owns one MPFR number of a given precision in bits.
class Real {
public:
   explicit Real(mpfr_prec_t bits) {
      threadCaches.touch(); // constructs the thread's object, so that its destructor runs
      mpfr_init2(r_, bits);
   }
   ~Real() { mpfr_clear(r_); }
   Real(const Real&) = delete;
   Real& operator=(const Real&) = delete;
   operator mpfr_ptr() { return r_; }
   operator mpfr_srcptr() const { return r_; }

   void set(StringView v) {
      Integer z;
      const int32_t scale = load(v, z);
      mpfr_set_z(r_, z, MPFR_RNDN);
      if (scale == 0) return;
      Integer power;
      power.setPowerOfTen(static_cast<uint32_t>(scale));
      mpfr_div_z(r_, r_, power, MPFR_RNDN);
   }

private:
   mpfr_t r_;
};

mpfr_prec_t bitsFor(int64_t digits) {
   constexpr int64_t spareDigits = 40;
   return static_cast<mpfr_prec_t>(static_cast<double>(std::max<int64_t>(digits, 0) + spareDigits) * 3.33) + 64;
}

/// r rounded half away from zero to `scale` digits. Destroys r.
StringView finish(Real& r, int32_t scale, Arena& arena) {
   Integer power, z;
   power.setPowerOfTen(static_cast<uint32_t>(scale));
   mpfr_mul_z(r, r, power, MPFR_RNDN);
   Real half(2);
   mpfr_set_d(half, mpfr_sgn(static_cast<mpfr_srcptr>(r)) < 0 ? -0.5 : 0.5, MPFR_RNDN);
   mpfr_add(r, r, half, MPFR_RNDN);
   mpfr_get_z(z, r, MPFR_RNDZ);
   return store(z, scale, arena);
}

int32_t clampScale(int64_t wanted, int32_t a, int32_t b = 0) {
   return static_cast<int32_t>(std::min<int64_t>(std::max<int64_t>({wanted, a, b, 0}), resultScaleMax));
}

StringView zeroOfScale(int32_t scale) {
   return fromInt64(0, scale);
}

/// Leading digits of a positive value as double, and the power of ten they are worth: v ~ first * 10^second.
std::pair<double, int32_t> approximateDigits(StringView v) {
   Scaled s;
   if (decode(v, s)) return {std::fabs(static_cast<double>(s.value)), -s.scale};
   Integer z;
   const int32_t valueScale = load(v, z);
   const int32_t drop = std::max(static_cast<int32_t>(z.digits()) - 20, 0);
   mpz_abs(z, z);
   scaleDownTruncated(z, static_cast<uint32_t>(drop));
   return {mpz_get_d(z), drop - valueScale};
}

/// Decimal weight of ln(v), as PostgreSQL estimates it.
int32_t lnWeight(StringView v, Arena& arena) {
   if (compare(v, fromInt64(9, 1)) >= 0 && compare(v, fromInt64(11, 1)) <= 0) {
      const StringView distance = subtract(v, fromInt64(1), arena);
      if (sign(distance) == 0) return 0;
      const Leading lead = leading(distance);
      return lead.weight * 4 + static_cast<int32_t>(std::log10(static_cast<double>(lead.group)));
   }
   const auto [digits, exponent] = approximateDigits(v);
   const double logarithm = std::log(digits) + static_cast<double>(exponent) * 2.302585092994046;
   return static_cast<int32_t>(std::log10(std::fabs(logarithm)));
}

void checkLogarithm(StringView v) {
   const int s = sign(v);
   if (s < 0) throw SqlError(sqlstate::invalidArgumentForLog, "cannot take logarithm of a negative number");
   if (s == 0) throw SqlError(sqlstate::invalidArgumentForLog, "cannot take logarithm of zero");
}

bool isIntegral(StringView v) {
   return isFinite(v) ? minScale(v) == 0 : !isNaN(v);
}

bool isOdd(StringView integral) {
   Arena scratch;
   return sign(modulo(integral, fromInt64(2), scratch)) != 0;
}

[[noreturn]] void throwPower(const char* message) {
   throw SqlError(sqlstate::invalidArgumentForPowerFunction, message);
}

/// x^n with n a whole number of 32 bits.
StringView powerOfInteger(StringView base, int32_t n, Arena& arena) {
   double weight = 0;
   if (sign(base) != 0) {
      const auto [digits, exponent] = approximateDigits(base);
      weight = n * (std::log10(digits) + exponent);
   }
   if (weight > 32768.0 * 4) throwOverflow();
   const int32_t baseScale = scale(base);
   const int32_t resultScale = clampScale(significantDigitsMin, baseScale);
   if (weight + 1 < -resultScale) return zeroOfScale(resultScale);
   if (n == 0) return rescale(fromInt64(1), resultScale, arena);
   if (sign(base) == 0) {
      if (n < 0) throw SqlError(sqlstate::divisionByZero, "division by zero");
      return zeroOfScale(resultScale);
   }
   const uint32_t count = n < 0 ? 0u - static_cast<uint32_t>(n) : static_cast<uint32_t>(n);
   Integer mantissa;
   load(base, mantissa);
   const double bits = static_cast<double>(mpz_sizeinbase(mantissa, 2)) * count;
   if (bits < 400'000 && static_cast<int64_t>(baseScale) * count < 200'000) {
      // Exact: mantissa^n / 10^(scale * n), or its reciprocal.
      Integer raised;
      mpz_pow_ui(raised, mantissa, count);
      const int32_t raisedScale = baseScale * static_cast<int32_t>(count);
      if (n > 0) {
         if (raisedScale > resultScale)
            scaleDown(raised, static_cast<uint32_t>(raisedScale - resultScale));
         else
            scaleUp(raised, static_cast<uint32_t>(resultScale - raisedScale));
         return store(raised, resultScale, arena);
      }
      Integer numerator(1);
      scaleUp(numerator, static_cast<uint32_t>(raisedScale + resultScale));
      divideRounded(numerator, raised);
      return store(numerator, resultScale, arena);
   }
   Real r(bitsFor(static_cast<int64_t>(std::fabs(weight)) + resultScale));
   r.set(base);
   mpfr_pow_si(r, r, n, MPFR_RNDN);
   return finish(r, resultScale, arena);
}

StringView powerOfSpecial(StringView base, StringView exponent) {
   const StringView one = fromInt64(1);
   const bool baseIsOne = isFinite(base) && compare(base, one) == 0;
   if (baseIsOne || (isFinite(exponent) && sign(exponent) == 0)) return one;
   if (isNaN(base) || isNaN(exponent)) return nan();
   const int baseSign = sign(base), exponentSign = sign(exponent);
   if (baseSign == 0 && exponentSign < 0) throwPower("zero raised to a negative power is undefined");
   if (baseSign < 0 && !isIntegral(exponent))
      throwPower("a negative number raised to a non-integer power yields a complex result");
   if (baseSign == 0) return fromInt64(0);
   if (!isFinite(exponent)) {
      Arena scratch;
      const int order = isFinite(base) ? compare(absolute(base, scratch), one) : 1;
      if (order == 0) return one;
      return (order > 0) == (exponentSign > 0) ? infinity() : fromInt64(0);
   }
   if (exponentSign < 0) return fromInt64(0);
   return infinity(baseSign < 0 && isOdd(exponent));
}

} // namespace

StringView sqrt(StringView v, Arena& arena) {
   if (sign(v) < 0)
      throw SqlError(sqlstate::invalidArgumentForPowerFunction, "cannot take square root of a negative number");
   if (!isFinite(v)) return v;
   const int32_t weight = leading(v).weight;
   const int32_t rootWeight = weight >= 0 ? weight * 2 + 1 : (weight + 1) * 2 - 1;
   const int32_t resultScale = clampScale(significantDigitsMin - rootWeight, scale(v));
   // floor(sqrt(v * 10^(2 * scale))), then up if the remainder is past the middle.
   Integer z, remainder;
   const int32_t shift = 2 * resultScale - load(v, z);
   scaleUp(z, static_cast<uint32_t>(shift));
   mpz_sqrtrem(z, remainder, z);
   if (mpz_cmp(remainder, z) > 0) mpz_add_ui(z, z, 1);
   return store(z, resultScale, arena);
}

StringView exp(StringView v, Arena& arena) {
   if (!isFinite(v)) return kind(v) == Kind::NegativeInfinity ? fromInt64(0) : v;
   const double x = approximate(v);
   const double weight = std::clamp(x * 0.434294481903252, -2000.0, 2000.0);
   const int32_t resultScale = clampScale(significantDigitsMin - static_cast<int32_t>(weight), scale(v));
   if (std::fabs(x) >= 6000) {
      if (x > 0) throwOverflow();
      return zeroOfScale(resultScale);
   }
   Real r(bitsFor(static_cast<int64_t>(std::fabs(x)) + resultScale));
   r.set(v);
   mpfr_exp(r, r, MPFR_RNDN);
   return finish(r, resultScale, arena);
}

StringView ln(StringView v, Arena& arena) {
   if (isNaN(v)) return v;
   checkLogarithm(v);
   if (!isFinite(v)) return v;
   const int32_t resultScale = clampScale(significantDigitsMin - lnWeight(v, arena), scale(v));
   // The argument must be held exactly enough that its distance from 1 keeps its digits.
   Real r(bitsFor(static_cast<int64_t>(v.size()) * 3 + scale(v) + resultScale));
   r.set(v);
   mpfr_log(r, r, MPFR_RNDN);
   return finish(r, resultScale, arena);
}

StringView log(StringView base, StringView v, Arena& arena) {
   if (isNaN(base) || isNaN(v)) return nan();
   checkLogarithm(base);
   checkLogarithm(v);
   if (!isFinite(base)) return isFinite(v) ? fromInt64(0) : nan();
   if (!isFinite(v)) return v;
   const int32_t resultWeight = lnWeight(v, arena) - lnWeight(base, arena);
   const int32_t resultScale = clampScale(significantDigitsMin - resultWeight, scale(base), scale(v));
   const mpfr_prec_t bits =
       bitsFor(static_cast<int64_t>(v.size() + base.size()) * 3 + scale(v) + scale(base) + resultScale + 20);
   Real numerator(bits), denominator(bits);
   numerator.set(v);
   denominator.set(base);
   mpfr_log(numerator, numerator, MPFR_RNDN);
   mpfr_log(denominator, denominator, MPFR_RNDN);
   if (mpfr_zero_p(static_cast<mpfr_srcptr>(denominator)) != 0)
      throw SqlError(sqlstate::divisionByZero, "division by zero");
   mpfr_div(numerator, numerator, denominator, MPFR_RNDN);
   return finish(numerator, resultScale, arena);
}

StringView power(StringView base, StringView exponent, Arena& arena) {
   if (!isFinite(base) || !isFinite(exponent)) return powerOfSpecial(base, exponent);
   const int baseSign = sign(base);
   if (baseSign == 0 && sign(exponent) < 0) throwPower("zero raised to a negative power is undefined");
   const bool integral = isIntegral(exponent);
   if (baseSign < 0 && !integral) throwPower("a negative number raised to a non-integer power yields a complex result");
   if (integral) {
      const std::optional<int64_t> n = toInt64(exponent, 0);
      if (n && *n >= INT32_MIN && *n <= INT32_MAX) return powerOfInteger(base, static_cast<int32_t>(*n), arena);
   }
   if (baseSign == 0) return zeroOfScale(significantDigitsMin);
   const StringView positive = absolute(base, arena);
   const mpfr_prec_t estimateBits = bitsFor(static_cast<int64_t>(base.size()) * 3 + scale(base) + 40);
   Real logarithm(estimateBits), e(estimateBits);
   logarithm.set(positive);
   mpfr_log(logarithm, logarithm, MPFR_RNDN);
   e.set(exponent);
   mpfr_mul(e, e, logarithm, MPFR_RNDN);
   const double value = mpfr_get_d(e, MPFR_RNDN);
   if (std::fabs(value) > 6020) {
      if (value > 0) throwOverflow();
      return zeroOfScale(resultScaleMax);
   }
   const int32_t weight = static_cast<int32_t>(value * 0.434294481903252);
   const int32_t resultScale = clampScale(significantDigitsMin - weight, scale(base), scale(exponent));
   if (std::fabs(value) >= 6000) {
      if (value > 0) throwOverflow();
      return zeroOfScale(resultScale);
   }
   const mpfr_prec_t bits =
       estimateBits + bitsFor(static_cast<int64_t>(exponent.size()) * 3 + std::abs(weight) + resultScale);
   Real b(bits), x(bits);
   b.set(positive);
   x.set(exponent);
   mpfr_pow(b, b, x, MPFR_RNDN);
   if (baseSign < 0 && isOdd(exponent)) mpfr_neg(b, b, MPFR_RNDN);
   return finish(b, resultScale, arena);
}

StringView gcd(StringView a, StringView b, Arena& arena) {
   if (!isFinite(a) || !isFinite(b)) return nan();
   Integer x, y;
   const int32_t scaleA = load(a, x), scaleB = load(b, y), resultScale = std::max(scaleA, scaleB);
   scaleUp(x, static_cast<uint32_t>(resultScale - scaleA));
   scaleUp(y, static_cast<uint32_t>(resultScale - scaleB));
   mpz_gcd(x, x, y);
   return store(x, resultScale, arena);
}

StringView lcm(StringView a, StringView b, Arena& arena) {
   if (!isFinite(a) || !isFinite(b)) return nan();
   Integer x, y;
   const int32_t scaleA = load(a, x), scaleB = load(b, y), resultScale = std::max(scaleA, scaleB);
   scaleUp(x, static_cast<uint32_t>(resultScale - scaleA));
   scaleUp(y, static_cast<uint32_t>(resultScale - scaleB));
   mpz_lcm(x, x, y);
   return store(x, resultScale, arena);
}

StringView factorial(int64_t n, Arena& arena) {
   if (n < 0) throw SqlError(sqlstate::numericValueOutOfRange, "factorial of a negative number is undefined");
   if (n > 32177) throwOverflow(); // the largest whose digits fit
   Integer z;
   mpz_fac_ui(z, static_cast<unsigned long>(n));
   return store(z, 0, arena);
}

int32_t widthBucket(StringView operand, StringView low, StringView high, int32_t count) {
   const auto fail = [](const char* message) {
      throw SqlError(sqlstate::invalidArgumentForWidthBucketFunction, message);
   };
   if (count <= 0) fail("count must be greater than zero");
   if (isNaN(operand) || isNaN(low) || isNaN(high)) fail("operand, lower bound, and upper bound cannot be NaN");
   if (!isFinite(low) || !isFinite(high)) fail("lower and upper bounds must be finite");
   const int direction = compare(low, high);
   if (direction == 0) fail("lower bound cannot equal upper bound");
   const int toLow = compare(operand, low), toHigh = compare(operand, high);
   if (direction < 0 ? toLow < 0 : toLow > 0) return 0;
   if (direction < 0 ? toHigh >= 0 : toHigh <= 0) {
      if (count == INT32_MAX) throw SqlError(sqlstate::numericValueOutOfRange, "integer out of range");
      return count + 1;
   }
   // floor(count * (operand - low) / (high - low)) + 1, exactly
   Arena scratch;
   const StringView offset = multiply(subtract(operand, low, scratch), fromInt64(count), scratch);
   return toInt4(add(divideTruncated(offset, subtract(high, low, scratch), scratch), fromInt64(1), scratch));
}

} // namespace ouzel::decimal
