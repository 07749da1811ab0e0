#pragma once
#include <gmp.h>

#include "common/number/decimal.hpp"

// Decimals beyond 128 bits, for the decimal*.cpp files only: an integer of GMP and a scale.

namespace ouzel::decimal {

/// Owns one GMP integer.
class Integer {
public:
   Integer() { mpz_init(z_); }
   explicit Integer(int64_t value) { mpz_init_set_si(z_, value); }
   ~Integer() { mpz_clear(z_); }
   Integer(const Integer&) = delete;
   Integer& operator=(const Integer&) = delete;

   mpz_ptr get() { return z_; }
   mpz_srcptr get() const { return z_; }
   operator mpz_ptr() { return z_; }
   operator mpz_srcptr() const { return z_; }

   void setInt128(int128 value);
   /// 10^exponent.
   void setPowerOfTen(uint32_t exponent) { mpz_ui_pow_ui(z_, 10, exponent); }
   /// Decimal digits of the magnitude; 0 for zero.
   uint32_t digits() const;
   int sign() const { return mpz_sgn(z_); }

private:
   mpz_t z_;
};

/// Read the digits of a finite value; returns its scale.
int32_t load(StringView v, Integer& out);
/// z *= 10^exponent.
void scaleUp(Integer& z, uint32_t exponent);
/// z /= 10^exponent, rounding half away from zero.
void scaleDown(Integer& z, uint32_t exponent);
/// z /= 10^exponent, towards zero.
void scaleDownTruncated(Integer& z, uint32_t exponent);
/// numerator / denominator rounded half away from zero, into numerator.
void divideRounded(Integer& numerator, const Integer& denominator);
/// a / b of finite decimals, as divide() does it for those beyond 128 bits. REQUIRES: b is not zero.
StringView divideBig(StringView a, StringView b, Arena& arena);
/// Throws 22003 "value overflows numeric format" beyond PostgreSQL's limits.
StringView store(const Integer& z, int32_t scale, Arena& arena);
[[noreturn]] void throwOverflow();

/// The digits and the scale of a finite decimal.
struct BigOperand {
   Integer value;
   int32_t scale;
   explicit BigOperand(StringView v) : scale(load(v, value)) {}
};
/// Brings both to the larger scale, which it returns.
int32_t alignBig(BigOperand& a, BigOperand& b);

/// Decimal exponent of the leading base-10000 digit group and that group's value: the inputs of PostgreSQL's scale
/// rules. Zero has weight 0 and first group 0.
struct Leading {
   int32_t weight = 0;
   int32_t group = 0;
};
Leading leading(StringView v);
constexpr uint128 magnitudeOf(int128 v) {
   return v < 0 ? -static_cast<uint128>(v) : static_cast<uint128>(v);
}

} // namespace ouzel::decimal
