#include "common/number/decimal_exact_divisor.hpp"

#include <algorithm>

#include "common/number/decimal_small.hpp"

namespace ouzel::decimal {

namespace {

constexpr uint32_t unitDigitsMax = 6; ///< that a quotient has after those of the value: the factor has 20 bits

/// The smallest number of digits whose power of ten the divisor divides.
std::optional<uint32_t> digitsOfUnit(uint64_t divisor) {
   for (uint32_t digits = 0; digits <= unitDigitsMax; ++digits)
      if (shortPowers[digits] % divisor == 0) return digits;
   return std::nullopt;
}

} // namespace

std::optional<ExactDivisor> ExactDivisor::of(StringView divisor, int32_t scale) {
   constexpr int32_t scaleLimit = 19;
   Scaled d;
   if (!decode(divisor, d) || d.value == 0 || scale < 0 || scale >= scaleLimit || d.scale >= scaleLimit ||
       decimal::magnitudeOf(d.value) > shortPowers[unitDigitsMax])
      return std::nullopt;
   const auto magnitude = static_cast<uint64_t>(decimal::magnitudeOf(d.value));
   const std::optional<uint32_t> digits = digitsOfUnit(magnitude);
   if (!digits) return std::nullopt;
   ExactDivisor result;
   result.factor_ = static_cast<int64_t>(shortPowers[*digits] / magnitude) * (d.value < 0 ? -1 : 1);
   result.unitScale_ = scale + static_cast<int32_t>(*digits) - d.scale;
   if (result.unitScale_ < 0) return std::nullopt;

   const Digits shape(d);
   const auto group = static_cast<uint64_t>(shape.group());
   result.addClass(0, quotientScale(-shape.weight - 1, scale, d.scale));
   // Quotients have weight w from where values lead with a group above the divisor's, at the divisor's weight + w. The
   // first class of other values than zero starts with one.
   for (int32_t power = scale % 4 - 8;; power += 4) { // of ten, which the group has in the value's integer
      const int32_t weight = (power - scale) / 4 - shape.weight;
      uint128 start = 0;
      if (power < 0)
         start = group / shortPowers[static_cast<size_t>(-power)] + 1;
      else if (power < static_cast<int32_t>(shortPowers.size()))
         start = static_cast<uint128>(group + 1) * shortPowers[static_cast<size_t>(power)];
      if (start == 0 || start > UINT64_MAX) return result;
      result.addClass(static_cast<uint64_t>(start), quotientScale(weight, scale, d.scale));
   }
}

void ExactDivisor::addClass(uint64_t start, int32_t displayScale) {
   if (start > 0 && displayScale < unitScale_) roundedFrom_ = std::min(roundedFrom_, start);
   if (classes_ > 1 && class_[classes_ - 1].displayScale == displayScale) return;
   if (classes_ == 0 || class_[classes_ - 1].start != start) ++classes_;
   DCHECK(classes_ <= classesMax);
   class_[classes_ - 1] = {start, displayScale};
}

const ExactDivisor::Class& ExactDivisor::classOf(uint64_t magnitude) const {
   size_t i = classes_ - 1;
   while (class_[i].start > magnitude)
      --i;
   return class_[i];
}

int128 ExactDivisor::rounded(int64_t value) const {
   const int128 exact = static_cast<int128>(value) * factor_;
   const uint128 magnitude = decimal::magnitudeOf(exact);
   const uint128 unit = powers[static_cast<size_t>(unitScale_ - classOf(magnitudeOf(value)).displayScale)];
   return withSign((magnitude + unit / 2) / unit * unit, exact < 0);
}

} // namespace ouzel::decimal
