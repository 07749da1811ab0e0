#include "common/type/array.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/range/range_sets.hpp"
#include "executor/function/range/range_values.hpp"

// Functions and operators of multiranges, and of ranges with multiranges.

namespace ouzel::executor {

namespace {

// ---- constructors ----

StringView constructEmpty(KernelEnv& env) {
   return multirangeValue(env.strings, RangeKind::of(env.call.resultType.oid), {});
}

StringView constructOne(const StringView& a, KernelEnv& env) {
   RangeReader reader(a.view());
   return multirangeValue(env.strings, reader.kind(), normalizedRanges(reader.kind(), {reader.next()}));
}

StringView constructMany(const StringView& bytes, KernelEnv& env) {
   const RangeKind kind = RangeKind::of(env.call.resultType.oid);
   const ArrayView array(bytes.view());
   if (array.dimensionCount() > 1)
      throw SqlError(sqlstate::cardinalityViolation, "multiranges cannot be constructed from multidimensional arrays");
   std::vector<StringView> elements;
   elements.reserve(array.size());
   for (ArrayView::Cursor element(array); element.next();) {
      if (element.isNull())
         throw SqlError(sqlstate::nullValueNotAllowed, "multirange values cannot contain null members");
      elements.push_back(element.as<StringView>());
   }
   Ranges ranges;
   ranges.reserve(elements.size());
   for (const StringView& element : elements)
      ranges.push_back(readRange(element.view()));
   return multirangeValue(env.strings, kind, normalizedRanges(kind, std::move(ranges)));
}

/// The smallest range that has all of the multirange.
StringView hull(const StringView& bytes, KernelEnv& env) {
   const ManyRanges arg(bytes.view());
   if (arg.ranges().empty()) return rangeValue(env.strings, arg.kind(), Range::empty());
   return rangeValue(env.strings, arg.kind(), {arg.ranges().front().lower, arg.ranges().back().upper, false});
}

// ---- parts ----

uint32_t countOf(const StringView& bytes) {
   return RangeReader(bytes.view()).nextCount();
}
bool isEmpty(const StringView& a) {
   return countOf(a) == 0;
}
bool lowerInclusive(const StringView& bytes) {
   const ManyRanges arg(bytes.view());
   return !arg.ranges().empty() && arg.ranges().front().lower.isInclusive;
}
bool upperInclusive(const StringView& bytes) {
   const ManyRanges arg(bytes.view());
   return !arg.ranges().empty() && arg.ranges().back().upper.isInclusive;
}
bool lowerInfinite(const StringView& bytes) {
   const ManyRanges arg(bytes.view());
   return !arg.ranges().empty() && arg.ranges().front().lower.isInfinite;
}
bool upperInfinite(const StringView& bytes) {
   const ManyRanges arg(bytes.view());
   return !arg.ranges().empty() && arg.ranges().back().upper.isInfinite;
}

template <bool isUpper>
void boundOf(const KernelCall& call, ResultVector& result) {
   forEachRow(call.rows, [&](uint32_t row) {
      const StringView bytes = call.args[0].value<StringView>(row);
      const ManyRanges arg(bytes.view());
      if (arg.ranges().empty()) return result.setNull(row);
      putBound(result, row, arg.kind(), isUpper ? arg.ranges().back().upper : arg.ranges().front().lower, false);
   });
}

// ---- results of two multiranges ----

template <auto combine>
StringView combined(const StringView& a, const StringView& b, KernelEnv& env) {
   const ManyRanges left(a.view()), right(b.view());
   return multirangeValue(env.strings, left.kind(), combine(left.kind(), left.ranges(), right.ranges()));
}

// ---- comparison ----

int32_t compare(const StringView& a, const StringView& b) {
   return compareMultiranges(a, b);
}
bool isEqual(const StringView& a, const StringView& b) {
   return compareMultiranges(a, b) == 0;
}
bool isUnequal(const StringView& a, const StringView& b) {
   return compareMultiranges(a, b) != 0;
}
bool isLess(const StringView& a, const StringView& b) {
   return compareMultiranges(a, b) < 0;
}
bool isLessOrEqual(const StringView& a, const StringView& b) {
   return compareMultiranges(a, b) <= 0;
}
bool isGreater(const StringView& a, const StringView& b) {
   return compareMultiranges(a, b) > 0;
}
bool isGreaterOrEqual(const StringView& a, const StringView& b) {
   return compareMultiranges(a, b) >= 0;
}

/// The kernels of an operator, whose names are "range_x_multirange", "multirange_x_range", "multirange_x_multirange".
template <auto test>
void addRelation(const std::string& name) {
   addKernel<relation<OneRange, ManyRanges, test>>("range_" + name + "_multirange");
   addKernel<relation<ManyRanges, OneRange, test>>("multirange_" + name + "_range");
   addKernel<relation<ManyRanges, ManyRanges, test>>("multirange_" + name + "_multirange");
}

void registerRelations() {
   addRelation<overlaps>("overlaps");
   addRelation<contains>("contains");
   addRelation<areAdjacent>("adjacent");
   addRelation<isBefore>("before");
   addRelation<isAfter>("after");
   addRelation<endsNotBehind>("overleft");
   addRelation<beginsNotBefore>("overright");
   addKernel<relation<OneRange, ManyRanges, contains, true>>("range_contained_by_multirange");
   addKernel<relation<ManyRanges, OneRange, contains, true>>("multirange_contained_by_range");
   addKernel<relation<ManyRanges, ManyRanges, contains, true>>("multirange_contained_by_multirange");
   registerKernel("multirange_contains_elem", anyArguments, {valueRelation<ManyRanges, 0>, true, false});
   registerKernel("elem_contained_by_multirange", anyArguments, {valueRelation<ManyRanges, 1>, true, false});
   addKernel<compare>("multirange_cmp");
   addKernel<isEqual>("multirange_eq");
   addKernel<isUnequal>("multirange_ne");
   addKernel<isLess>("multirange_lt");
   addKernel<isLessOrEqual>("multirange_le");
   addKernel<isGreater>("multirange_gt");
   addKernel<isGreaterOrEqual>("multirange_ge");
}

} // namespace

void registerMultirange() {
   addKernel<constructEmpty>("multirange_constructor0");
   addKernel<constructOne>("multirange_constructor1");
   addKernel<constructMany>("multirange_constructor2");
   addKernel<hull>("range_merge_from_multirange");
   addKernel<isEmpty>("multirange_empty");
   addKernel<lowerInclusive>("multirange_lower_inc");
   addKernel<upperInclusive>("multirange_upper_inc");
   addKernel<lowerInfinite>("multirange_lower_inf");
   addKernel<upperInfinite>("multirange_upper_inf");
   registerKernel("multirange_lower", "s", {boundOf<false>, true, false});
   registerKernel("multirange_upper", "s", {boundOf<true>, true, false});
   addKernel<combined<united>>("multirange_union");
   addKernel<combined<intersected>>("multirange_intersect");
   addKernel<combined<subtracted>>("multirange_minus");
   registerRelations();
}

} // namespace ouzel::executor
