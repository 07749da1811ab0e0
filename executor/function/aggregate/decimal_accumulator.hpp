#pragma once
#include "common/number/decimal.hpp"

namespace ouzel::executor {

/// The sum of decimals of mixed scales. Adds in 128 bits at the largest scale seen, and moves the sum to a big decimal
/// before it overflows. May be moved by copying its bytes; the big part lies in the arena given to add().
struct DecimalAccumulator {
   int128 sum = 0;
   int64_t count = 0; ///< number of values that are not NULL, NaN and infinities included
   int32_t scale = 0; ///< of `sum` and of the result
   uint32_t nans = 0;
   uint32_t infinities = 0;
   uint32_t negativeInfinities = 0;
   StringView big; ///< part of the sum that did not fit; empty: zero

   void add(StringView value, Arena& arena) {
      decimal::Scaled scaled;
      if (decimal::decode(value, scaled) && fits(scaled.value)) [[likely]] {
         ++count;
         addScaled(scaled.value, scaled.scale, arena);
      } else {
         addSlow(value, arena);
      }
   }
   /// Adds to the sum, but does not increment `count`. REQUIRES: fits(value).
   void addScaled(int128 value, int32_t valueScale, Arena& arena) {
      if (valueScale != scale && !align(value, valueScale)) return addBig(value, valueScale, arena);
      sum += value;
      if (!fits(sum)) [[unlikely]]
         flush(arena);
   }
   void merge(const DecimalAccumulator& other, Arena& arena);
   /// The sum at its scale; NaN or an infinity if such values were added. REQUIRES: count > 0.
   StringView total(Arena& arena) const;
   /// total() / count, with the scale by PostgreSQL's rules.
   StringView average(Arena& arena) const;
   bool hasSpecial() const { return (nans | infinities | negativeInfinities) != 0; }

   /// Whether the sum of two such values fits into 128 bits.
   static bool fits(int128 value) {
      constexpr int128 limit = int128{1} << 125;
      return value < limit && value > -limit;
   }

private:
   /// Bring value and sum to one scale; false if that would overflow.
   bool align(int128& value, int32_t valueScale);
   void addSlow(StringView value, Arena& arena);
   void addBig(int128 value, int32_t valueScale, Arena& arena);
   void flush(Arena& arena);
   /// Set `big` to a copy of `value` in the arena.
   void keepBig(StringView value, Arena& arena) { big = arena.copyString(value.view()); }
};

} // namespace ouzel::executor
