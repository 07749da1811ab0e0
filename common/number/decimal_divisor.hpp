#pragma once
#include <array>

#include "common/number/decimal.hpp"

namespace ouzel::decimal {

/// Divides many values by one. For values within 63 bits it knows by scale and number of digits how the quotient is
/// made: with one multiplication where the divisor has no prime factors but 2 and 5, else with one division. The
/// results are those of divide(). Not thread-safe.
class Divisor {
public:
   /// Throws 22012 for zero, like divide(), only when a value is divided.
   explicit Divisor(StringView divisor);

   StringView divide(StringView value, Arena& arena);

private:
   static constexpr uint32_t digitsMax = 19; ///< of 63 bits
   static constexpr int32_t scalesMax = 8;   ///< scales below this have plans
   /// The quotient is value * power / divisor, and value * factor if `factor` is not zero.
   struct Quotient {
      int32_t scale = 0;
      uint64_t power = 0; ///< 0: does not fit
      uint64_t factor = 0;
   };
   /// For values of some number of digits: those up to `limit` lead with a group of digits that is not above the
   /// divisor's, which decides on the scale.
   struct Plan {
      uint64_t limit = 0;
      Quotient below, above;
   };
   using Plans = std::array<Plan, digitsMax + 1>;

   const Plans* plansOf(int32_t scale);
   Quotient quotientOf(int32_t weight, bool isBelow, int32_t scale) const;

   StringView bytes_;
   Scaled divisor_{};
   uint64_t magnitude_ = 0; ///< 0: no plans
   std::array<Plans, scalesMax> plans_;
   std::array<bool, scalesMax> isPlanned_{};
};

} // namespace ouzel::decimal
