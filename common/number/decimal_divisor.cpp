#include "common/number/decimal_divisor.hpp"

#include "common/number/decimal_big.hpp"
#include "common/number/decimal_small.hpp"

namespace ouzel::decimal {

Divisor::Divisor(StringView divisor) : bytes_(divisor) {
   if (!decode(divisor, divisor_) || divisor_.value == 0) return;
   if (const uint128 magnitude = magnitudeOf(divisor_.value); (magnitude >> 63) == 0)
      magnitude_ = static_cast<uint64_t>(magnitude);
}

Divisor::Quotient Divisor::quotientOf(int32_t weight, bool isBelow, int32_t scale) const {
   Quotient quotient;
   quotient.scale = quotientScale(weight - Digits(divisor_).weight - (isBelow ? 1 : 0), scale, divisor_.scale);
   const int32_t shift = quotient.scale - scale + divisor_.scale;
   if (shift < 0 || shift >= static_cast<int32_t>(shortPowers.size())) return quotient;
   quotient.power = shortPowers[static_cast<size_t>(shift)];
   if (quotient.power % magnitude_ == 0) quotient.factor = quotient.power / magnitude_;
   return quotient;
}

const Divisor::Plans* Divisor::plansOf(int32_t scale) {
   if (magnitude_ == 0 || scale >= scalesMax) return nullptr;
   Plans& plans = plans_[static_cast<size_t>(scale)];
   if (isPlanned_[static_cast<size_t>(scale)]) return &plans;
   isPlanned_[static_cast<size_t>(scale)] = true;
   const auto group = static_cast<uint64_t>(Digits(divisor_).group());
   for (uint32_t digits = 1; digits <= digitsMax; ++digits) {
      const Digits shape({static_cast<int128>(shortPowers[digits - 1]), scale});
      const int32_t surplus = shape.surplus;
      Plan& plan = plans[digits];
      plan.limit = surplus >= 0
                       ? static_cast<uint64_t>(std::min<uint128>((group + 1) * powers[surplus] - 1, UINT64_MAX))
                       : group / shortPowers[static_cast<size_t>(-surplus)];
      plan.below = quotientOf(shape.weight, true, scale);
      plan.above = quotientOf(shape.weight, false, scale);
   }
   return &plans;
}

StringView Divisor::divide(StringView value, Arena& arena) {
   Scaled a;
   if (!decode(value, a) || a.value == 0) return decimal::divide(value, bytes_, arena);
   const uint128 wide = magnitudeOf(a.value);
   const Plans* plans = (wide >> 63) == 0 ? plansOf(a.scale) : nullptr;
   if (!plans) return decimal::divide(value, bytes_, arena);
   const auto magnitude = static_cast<uint64_t>(wide);
   const Plan& plan = (*plans)[countDigits(magnitude)];
   const Quotient& quotient = magnitude <= plan.limit ? plan.below : plan.above;
   if (quotient.power == 0) return decimal::divide(value, bytes_, arena);
   uint128 result;
   if (quotient.factor != 0) {
      result = static_cast<uint128>(magnitude) * quotient.factor;
   } else {
      const uint128 numerator = static_cast<uint128>(magnitude) * quotient.power;
      result = numerator / magnitude_;
      const auto remainder = static_cast<uint64_t>(numerator - result * magnitude_);
      result += remainder >= magnitude_ - remainder ? 1 : 0;
   }
   return fromInt128(withSign(result, (a.value < 0) != (divisor_.value < 0)), quotient.scale, arena);
}

} // namespace ouzel::decimal
