#include "common/number/decimal_quotient.hpp"

#include <cmath>
#include <limits>

#include "common/number/decimal_small.hpp"

namespace ouzel::decimal {

namespace {

/// Quotients of values whose scales differ by more are divided. Within it no quotient of values within 127 bits leaves
/// the range of doubles, nor do digits of it lie beyond resultScaleMax.
constexpr int32_t scalesApartMax = 64;

constexpr std::array<double, scalesApartMax + 1> doublePowers = [] {
   std::array<double, scalesApartMax + 1> result{};
   double power = 1;
   for (double& p : result) {
      p = power;
      power *= 10;
   }
   return result;
}();

/// A double differs from the exact quotient by less than 2^-45 of it: conversions, powers of ten and operations each
/// add some 2^-53. An exact quotient is rounded to 13 or more significant digits.
constexpr double errorMax = 1e-11;

} // namespace

QuotientBound::QuotientBound(StringView bound)
   : bytes_(bound), bound_(isFinite(bound) ? approximate(bound) : std::numeric_limits<double>::quiet_NaN()) {}

int QuotientBound::compare(StringView a, StringView b) const {
   Scaled x, y;
   if (decode(a, x) && decode(b, y) && y.value != 0 && std::abs(x.scale - y.scale) <= scalesApartMax) {
      double quotient = doubleOf(x.value) / doubleOf(y.value);
      const int32_t shift = y.scale - x.scale;
      quotient = shift >= 0 ? quotient * doublePowers[static_cast<size_t>(shift)]
                            : quotient / doublePowers[static_cast<size_t>(-shift)];
      const double error = errorMax * std::max(std::abs(quotient), std::abs(bound_));
      if (quotient > bound_ + error) return 1;
      if (quotient < bound_ - error) return -1;
   }
   Arena scratch;
   return decimal::compare(divide(a, b, scratch), bytes_);
}

} // namespace ouzel::decimal
