#pragma once
#include "common/type/range.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/range/range_sets.hpp"
#include "executor/kernel/range_order.hpp"

// Ranges and multiranges as arguments and results of kernels. Include in .cpp files only.

namespace ouzel::executor {

/// An argument that is a range.
class OneRange {
public:
   explicit OneRange(std::string_view bytes) : OneRange(RangeReader(bytes)) {}
   const RangeKind& kind() const { return kind_; }
   RangeSpan ranges() const { return spanOf(range_); }

private:
   explicit OneRange(RangeReader reader) : kind_(reader.kind()), range_(reader.next()) {}
   const RangeKind kind_;
   const Range range_;
};

/// An argument that is a multirange.
class ManyRanges {
public:
   explicit ManyRanges(std::string_view bytes) : kind_(RangeReader(bytes).kind()), ranges_(readMultirange(bytes)) {}
   const RangeKind& kind() const { return kind_; }
   RangeSpan ranges() const { return ranges_; }

private:
   const RangeKind kind_;
   const Ranges ranges_;
};

/// A kernel that asks how two arguments lie to each other. `isSwapped`: test(b, a).
template <typename A, typename B, auto test, bool isSwapped = false>
bool relation(const StringView& a, const StringView& b) {
   const A left(a.view());
   const B right(b.view());
   return isSwapped ? test(left.kind(), right.ranges(), left.ranges())
                    : test(left.kind(), left.ranges(), right.ranges());
}

/// The place of a row's value.
inline const void* placeOf(const Vector& vector, uint32_t row) {
   return static_cast<const std::byte*>(vector.data) + size_t{vector.positionOf(row)} * physicalSize(vector.type);
}

/// Values that are to be bounds must lie as bounds do.
inline void requireBounds(const RangeKind& kind, Representation repr) {
   if (repr.physical != kind.physical()) throwInternal("a bound of a range in an unexpected representation");
}

/// A kernel that asks whether a value is in a range; `rangeArg` is the number of the latter.
template <typename Ranges, size_t rangeArg>
void valueRelation(const KernelCall& call, ResultVector& result) {
   uint8_t* out = result.values<uint8_t>();
   forEachRow(call.rows, [&](uint32_t row) {
      const StringView bytes = call.args[rangeArg].value<StringView>(row);
      const Ranges ranges(bytes.view());
      requireBounds(ranges.kind(), call.argReprs[1 - rangeArg]);
      out[row] = containsValue(ranges.kind(), ranges.ranges(), placeOf(call.args[1 - rangeArg], row));
   });
}

inline StringView rangeValue(Arena& arena, const RangeKind& kind, const Range& range) {
   std::string bytes;
   appendRange(bytes, kind, range);
   return arena.copyString(bytes);
}
inline StringView multirangeValue(Arena& arena, const RangeKind& kind, const Ranges& ranges) {
   std::string bytes;
   appendMultirange(bytes, kind, ranges);
   return arena.copyString(bytes);
}

/// Gives a bound as the result of a row; NULL if there is none.
inline void putBound(ResultVector& result, uint32_t row, const RangeKind& kind, const RangeBound& bound, bool isEmpty) {
   if (isEmpty || bound.isInfinite) return result.setNull(row);
   DCHECK(result.type() == kind.physical());
   if (isVariableSize(kind.physical())) {
      result.values<StringView>()[row] = result.strings().copyString(bound.as<StringView>().view());
      return;
   }
   const uint32_t width = physicalSize(kind.physical());
   std::memcpy(static_cast<std::byte*>(result.data()) + size_t{row} * width, bound.value, width);
}

} // namespace ouzel::executor
