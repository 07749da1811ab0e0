#pragma once
#include <array>
#include <optional>

#include "common/number/decimal.hpp"

namespace ouzel::decimal {

/// A divisor without prime factors but 2 and 5, for 64-bit integers times 10^-scale: quotients are multiples of a unit
/// 10^-unitScale, so that sums of quotients are sums of integers. Immutable.
class ExactDivisor {
public:
   /// Nothing for other divisors, and for those whose factor or unit would leave little room in 128 bits.
   static std::optional<ExactDivisor> of(StringView divisor, int32_t scale);

   /// divide(value, divisor), in units.
   int128 divide(int64_t value) const {
      const uint64_t magnitude = magnitudeOf(value);
      return magnitude < roundedFrom_ ? static_cast<int128>(value) * factor_ : rounded(value);
   }
   int32_t unitScale() const { return unitScale_; }

   /// The magnitudes from `start` up to the next class, whose quotients have this display scale. Larger magnitudes have
   /// smaller scales, zero has a class of its own.
   struct Class {
      uint64_t start = 0;
      int32_t displayScale = 0;
   };
   const Class& classOf(uint64_t magnitude) const;

   static uint64_t magnitudeOf(int64_t value) {
      return value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
   }

private:
   static constexpr size_t classesMax = 8; ///< a class reaches 10^4 times as far as the one before

   ExactDivisor() = default;
   void addClass(uint64_t start, int32_t displayScale);
   int128 rounded(int64_t value) const;

   int64_t factor_ = 0;
   int32_t unitScale_ = 0;
   uint64_t roundedFrom_ = UINT64_MAX; ///< quotients of these magnitudes have fewer digits than the unit
   size_t classes_ = 0;
   std::array<Class, classesMax> class_{}; ///< zero's, then by start
};

} // namespace ouzel::decimal
