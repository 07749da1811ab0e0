#include "executor/function/aggregate/decimal_accumulator.hpp"

namespace ouzel::executor {

namespace {

/// Leaves `value` as it is where the product does not fit.
bool scaleUp(int128& value, int32_t digits) {
   if (digits >= static_cast<int32_t>(decimal::powersOfTen)) return value == 0;
   const auto factor = static_cast<int128>(decimal::powerOfTen(static_cast<uint32_t>(digits)));
   int128 product;
   if (__builtin_mul_overflow(value, factor, &product) || !DecimalAccumulator::fits(product)) return false;
   value = product;
   return true;
}

} // namespace

bool DecimalAccumulator::align(int128& value, int32_t valueScale) {
   if (valueScale < scale) return scaleUp(value, scale - valueScale);
   int128 raised = sum;
   if (!scaleUp(raised, valueScale - scale)) return false;
   sum = raised;
   scale = valueScale;
   return true;
}

void DecimalAccumulator::addSlow(StringView value, Arena& arena) {
   ++count;
   switch (decimal::kind(value)) {
   case decimal::Kind::NaN: ++nans; return;
   case decimal::Kind::Infinity: ++infinities; return;
   case decimal::Kind::NegativeInfinity: ++negativeInfinities; return;
   case decimal::Kind::Finite: break;
   }
   Arena scratch;
   keepBig(decimal::add(big, value, scratch), arena);
}

void DecimalAccumulator::addBig(int128 value, int32_t valueScale, Arena& arena) {
   Arena scratch;
   keepBig(decimal::add(big, decimal::fromInt128(value, valueScale, scratch), scratch), arena);
}

void DecimalAccumulator::flush(Arena& arena) {
   addBig(sum, scale, arena);
   sum = 0;
}

void DecimalAccumulator::merge(const DecimalAccumulator& other, Arena& arena) {
   count += other.count;
   nans += other.nans;
   infinities += other.infinities;
   negativeInfinities += other.negativeInfinities;
   addScaled(other.sum, other.scale, arena);
   if (!other.big.empty()) {
      Arena scratch;
      keepBig(decimal::add(big, other.big, scratch), arena);
   }
}

StringView DecimalAccumulator::total(Arena& arena) const {
   if (nans > 0 || (infinities > 0 && negativeInfinities > 0)) return decimal::nan();
   if (infinities > 0) return decimal::infinity();
   if (negativeInfinities > 0) return decimal::infinity(true);
   const StringView small = decimal::fromInt128(sum, scale, arena);
   return big.empty() ? small : decimal::add(big, small, arena);
}

StringView DecimalAccumulator::average(Arena& arena) const {
   if (!hasSpecial() && big.empty()) return decimal::divideScaled(sum, scale, count, arena);
   return decimal::divide(total(arena), decimal::fromInt64(count), arena);
}

} // namespace ouzel::executor
