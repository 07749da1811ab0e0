#include "executor/kernel/range_order.hpp"

#include <algorithm>

#include "common/type/range.hpp"

namespace ouzel::executor {

int compareRanges(const StringView& a, const StringView& b) {
   RangeReader left(a.view()), right(b.view());
   return left.kind().compare(left.next(), right.next());
}

int compareMultiranges(const StringView& a, const StringView& b) {
   RangeReader left(a.view()), right(b.view());
   const uint32_t leftCount = left.nextCount(), rightCount = right.nextCount();
   for (uint32_t i = 0; i < std::min(leftCount, rightCount); ++i)
      if (const int order = left.kind().compare(left.next(), right.next()); order != 0) return order;
   return leftCount < rightCount ? -1 : leftCount > rightCount ? 1 : 0;
}

} // namespace ouzel::executor
