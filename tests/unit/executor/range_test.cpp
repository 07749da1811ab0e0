#include <bit>
#include <catch2/catch.hpp>
#include <random>

#include "common/number/decimal.hpp"
#include "executor/function/range/range_sets.hpp"

using namespace ouzel;
using namespace ouzel::executor;

namespace {

// The reference: a set of values as a mask. For a discrete range bit i is the integer i; for one over numeric bit 2i is
// the number i and bit 2i + 1 all numbers between i and i + 1.
constexpr uint32_t bits = 24;
using Mask = uint32_t;

class Sets {
public:
   explicit Sets(Oid range) : kind_(RangeKind::of(range)) {
      for (int32_t i = 0; i <= static_cast<int32_t>(bits); ++i)
         numbers_[i] = decimal::fromInt64(i);
   }
   const RangeKind& kind() const { return kind_; }
   bool isDiscrete() const { return kind_.physical() == PhysicalType::I32; }

   Ranges ranges(Mask mask) {
      Ranges made;
      for (uint32_t begin = 0; begin < bits; ++begin) {
         if ((mask >> begin & 1) == 0) continue;
         uint32_t end = begin;
         while (mask >> (end + 1) & 1)
            ++end;
         made.push_back(isDiscrete() ? kind_.make(bound(begin, true, true), bound(end, true, false))
                                     : kind_.make(bound(begin / 2, begin % 2 == 0, true),
                                                  bound((end + 1) / 2, end % 2 == 0, false)));
         begin = end;
      }
      return made;
   }
   const void* value(uint32_t i) {
      integer_ = static_cast<int32_t>(i);
      return isDiscrete() ? static_cast<const void*>(&integer_) : &numbers_[i];
   }

private:
   RangeBound bound(uint32_t i, bool isInclusive, bool isLower) {
      RangeBound made;
      made.set(kind_.physical(), value(i));
      made.isInclusive = isInclusive;
      made.isLower = isLower;
      return made;
   }

   const RangeKind kind_;
   StringView numbers_[bits + 1];
   int32_t integer_ = 0;
};

std::string bytesOf(const RangeKind& kind, const Ranges& ranges) {
   std::string bytes;
   appendMultirange(bytes, kind, ranges);
   return bytes;
}

uint32_t first(Mask mask) {
   return static_cast<uint32_t>(std::countr_zero(mask));
}
uint32_t last(Mask mask) {
   return 31 - static_cast<uint32_t>(std::countl_zero(mask));
}

void compare(Sets& sets, Mask a, Mask b) {
   const RangeKind& kind = sets.kind();
   const Ranges x = sets.ranges(a), y = sets.ranges(b);
   const bool neither = a != 0 && b != 0;
   CATCH_CHECK(overlaps(kind, x, y) == ((a & b) != 0));
   CATCH_CHECK(contains(kind, x, y) == ((a & b) == b));
   CATCH_CHECK(isBefore(kind, x, y) == (neither && last(a) < first(b)));
   CATCH_CHECK(isAfter(kind, x, y) == (neither && first(a) > last(b)));
   CATCH_CHECK(endsNotBehind(kind, x, y) == (neither && last(a) <= last(b)));
   CATCH_CHECK(beginsNotBefore(kind, x, y) == (neither && first(a) >= first(b)));
   CATCH_CHECK(areAdjacent(kind, x, y) == (neither && (last(a) + 1 == first(b) || last(b) + 1 == first(a))));
   CATCH_CHECK(bytesOf(kind, united(kind, x, y)) == bytesOf(kind, sets.ranges(a | b)));
   CATCH_CHECK(bytesOf(kind, intersected(kind, x, y)) == bytesOf(kind, sets.ranges(a & b)));
   CATCH_CHECK(bytesOf(kind, subtracted(kind, x, y)) == bytesOf(kind, sets.ranges(a & ~b)));
}

} // namespace

CATCH_TEST_CASE("ranges and multiranges are sets of values") {
   std::mt19937 engine(11);
   const auto rng = [&] { return static_cast<uint32_t>(engine()); };
   // Sparse and dense sets, and single stretches.
   const auto random = [&]() -> Mask {
      const Mask all = (Mask{1} << bits) - 1;
      switch (rng() % 4) {
      case 0: return rng() & all;
      case 1: return rng() & rng() & rng() & all;
      case 2: return (rng() | rng() | rng()) & all;
      default: {
         const uint32_t begin = rng() % bits, size = rng() % (bits - begin);
         return ((Mask{1} << size) - 1) << begin;
      }
      }
   };
   for (const Oid range : {rangeTypes[0].range, rangeTypes[1].range}) {
      Sets sets(range);
      for (int round = 0; round < 3000; ++round) {
         const Mask a = random(), b = random();
         compare(sets, a, b);
         compare(sets, b, b);
         const uint32_t value = rng() % (sets.isDiscrete() ? bits : bits / 2);
         const bool isIn = (a >> (sets.isDiscrete() ? value : 2 * value) & 1) != 0;
         const Ranges ranges = sets.ranges(a);
         CATCH_CHECK(containsValue(sets.kind(), ranges, sets.value(value)) == isIn);
      }
   }
}
