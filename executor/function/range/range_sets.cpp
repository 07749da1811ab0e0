#include "executor/function/range/range_sets.hpp"

#include <algorithm>

#include "common/error/sql_error.hpp"

namespace ouzel::executor {

namespace {

/// No value lies between the two, and none is in both. The bounds of discrete ranges are in canonical form, [a,b), so
/// that nothing lies between them only if their values are equal.
bool touch(const RangeKind& kind, const RangeBound& upper, const RangeBound& lower) {
   return kind.compareBoundValues(upper, lower) == 0 && upper.isInclusive != lower.isInclusive;
}

const RangeBound& smaller(const RangeKind& kind, const RangeBound& a, const RangeBound& b) {
   return kind.compareBounds(a, b) <= 0 ? a : b;
}
const RangeBound& larger(const RangeKind& kind, const RangeBound& a, const RangeBound& b) {
   return kind.compareBounds(a, b) >= 0 ? a : b;
}

/// The first range that does not end before the bound.
RangeSpan::iterator firstReaching(const RangeKind& kind, RangeSpan ranges, const RangeBound& bound) {
   return std::partition_point(ranges.begin(), ranges.end(),
                               [&](const Range& range) { return kind.compareBounds(range.upper, bound) < 0; });
}

} // namespace

bool overlaps(const RangeKind& kind, RangeSpan a, RangeSpan b) {
   if (a.size() > b.size()) std::swap(a, b);
   return std::any_of(a.begin(), a.end(), [&](const Range& range) {
      const auto found = firstReaching(kind, b, range.lower);
      return found != b.end() && kind.compareBounds(found->lower, range.upper) <= 0;
   });
}

bool contains(const RangeKind& kind, RangeSpan a, RangeSpan b) {
   return std::all_of(b.begin(), b.end(), [&](const Range& range) {
      const auto found = firstReaching(kind, a, range.lower);
      return found != a.end() && kind.compareBounds(found->lower, range.lower) <= 0 &&
             kind.compareBounds(found->upper, range.upper) >= 0;
   });
}

bool containsValue(const RangeKind& kind, RangeSpan ranges, const void* value) {
   const auto isAbove = [&](const Range& range) {
      if (range.upper.isInfinite) return false;
      const int order = kind.compareValues(value, range.upper.value);
      return order > 0 || (order == 0 && !range.upper.isInclusive);
   };
   const auto found = std::partition_point(ranges.begin(), ranges.end(), isAbove);
   if (found == ranges.end()) return false;
   if (found->lower.isInfinite) return true;
   const int order = kind.compareValues(value, found->lower.value);
   return order > 0 || (order == 0 && found->lower.isInclusive);
}

bool isBefore(const RangeKind& kind, RangeSpan a, RangeSpan b) {
   return !a.empty() && !b.empty() && kind.compareBounds(a.back().upper, b.front().lower) < 0;
}

bool isAfter(const RangeKind& kind, RangeSpan a, RangeSpan b) {
   return isBefore(kind, b, a);
}

bool endsNotBehind(const RangeKind& kind, RangeSpan a, RangeSpan b) {
   return !a.empty() && !b.empty() && kind.compareBounds(a.back().upper, b.back().upper) <= 0;
}

bool beginsNotBefore(const RangeKind& kind, RangeSpan a, RangeSpan b) {
   return !a.empty() && !b.empty() && kind.compareBounds(a.front().lower, b.front().lower) >= 0;
}

bool areAdjacent(const RangeKind& kind, RangeSpan a, RangeSpan b) {
   return !a.empty() && !b.empty() &&
          (touch(kind, a.back().upper, b.front().lower) || touch(kind, b.back().upper, a.front().lower));
}

Range unitedRange(const RangeKind& kind, const Range& a, const Range& b, bool strict) {
   if (a.isEmpty) return b;
   if (b.isEmpty) return a;
   if (strict && !overlaps(kind, spanOf(a), spanOf(b)) && !areAdjacent(kind, spanOf(a), spanOf(b)))
      throw SqlError(sqlstate::dataException, "result of range union would not be contiguous");
   // Of equal bounds, which may look different, PostgreSQL shows those of b.
   return {smaller(kind, b.lower, a.lower), larger(kind, b.upper, a.upper), false};
}

Range intersectedRange(const RangeKind& kind, const Range& a, const Range& b) {
   if (!overlaps(kind, spanOf(a), spanOf(b))) return Range::empty();
   return {larger(kind, a.lower, b.lower), smaller(kind, a.upper, b.upper), false};
}

Range subtractedRange(const RangeKind& kind, const Range& a, const Range& b) {
   if (!overlaps(kind, spanOf(a), spanOf(b))) return a;
   const bool keepsBegin = kind.compareBounds(a.lower, b.lower) < 0;
   const bool keepsEnd = kind.compareBounds(a.upper, b.upper) > 0;
   if (keepsBegin && keepsEnd)
      throw SqlError(sqlstate::dataException, "result of range difference would not be contiguous");
   if (keepsBegin) return kind.make(a.lower, b.lower.flipped());
   if (keepsEnd) return kind.make(b.upper.flipped(), a.upper);
   return Range::empty();
}

Ranges united(const RangeKind& kind, RangeSpan a, RangeSpan b) {
   Ranges all(a.begin(), a.end());
   all.insert(all.end(), b.begin(), b.end());
   return normalizedRanges(kind, std::move(all));
}

Ranges intersected(const RangeKind& kind, RangeSpan a, RangeSpan b) {
   Ranges result;
   for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
      const Range common = intersectedRange(kind, *x, *y);
      if (!common.isEmpty) result.push_back(common);
      ++(kind.compareBounds(x->upper, y->upper) < 0 ? x : y);
   }
   return result;
}

Ranges subtracted(const RangeKind& kind, RangeSpan a, RangeSpan b) {
   Ranges result;
   for (const Range& range : a) {
      Range rest = range;
      for (auto hole = firstReaching(kind, b, range.lower);
           hole != b.end() && !rest.isEmpty && kind.compareBounds(hole->lower, rest.upper) <= 0; ++hole) {
         if (kind.compareBounds(rest.lower, hole->lower) < 0)
            result.push_back(kind.make(rest.lower, hole->lower.flipped()));
         const bool goesOn = kind.compareBounds(rest.upper, hole->upper) > 0;
         rest = goesOn ? kind.make(hole->upper.flipped(), rest.upper) : Range::empty();
      }
      if (!rest.isEmpty) result.push_back(rest);
   }
   return result;
}

} // namespace ouzel::executor
