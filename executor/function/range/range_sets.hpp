#pragma once
#include <span>

#include "common/type/range.hpp"

// Ranges as sets of values: how they lie to each other, and what is made of them. A range and a multirange are both a
// list of ranges here: in order, none empty, none touching another; an empty range is the empty list.

namespace ouzel::executor {

using RangeSpan = std::span<const Range>;

bool overlaps(const RangeKind& kind, RangeSpan a, RangeSpan b);
/// Every value of b is in a.
bool contains(const RangeKind& kind, RangeSpan a, RangeSpan b);
/// `value` lies as in a flat vector.
bool containsValue(const RangeKind& kind, RangeSpan ranges, const void* value);
// None of these is true where one of the two is empty.
bool isBefore(const RangeKind& kind, RangeSpan a, RangeSpan b);
bool isAfter(const RangeKind& kind, RangeSpan a, RangeSpan b);
bool endsNotBehind(const RangeKind& kind, RangeSpan a, RangeSpan b);   ///< a &< b
bool beginsNotBefore(const RangeKind& kind, RangeSpan a, RangeSpan b); ///< a &> b
bool areAdjacent(const RangeKind& kind, RangeSpan a, RangeSpan b);

/// PostgreSQL's range_union_internal(). Throws 22000 if `strict` and the result would have a gap.
Range unitedRange(const RangeKind& kind, const Range& a, const Range& b, bool strict);
Range intersectedRange(const RangeKind& kind, const Range& a, const Range& b);
/// Throws 22000 if the result would have a gap.
Range subtractedRange(const RangeKind& kind, const Range& a, const Range& b);

Ranges united(const RangeKind& kind, RangeSpan a, RangeSpan b);
Ranges intersected(const RangeKind& kind, RangeSpan a, RangeSpan b);
Ranges subtracted(const RangeKind& kind, RangeSpan a, RangeSpan b);

inline RangeSpan spanOf(const Range& range) {
   return {&range, range.isEmpty ? size_t{0} : size_t{1}};
}

} // namespace ouzel::executor
