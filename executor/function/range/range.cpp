#include "common/number/decimal.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/range/range_sets.hpp"
#include "executor/function/range/range_values.hpp"

// Functions and operators of ranges.

namespace ouzel::executor {

namespace {

// ---- constructors ----

struct Inclusion {
   bool lower = true, upper = false;
};

Inclusion inclusionOf(std::string_view flags) {
   const bool isKnown =
       flags.size() == 2 && (flags[0] == '[' || flags[0] == '(') && (flags[1] == ']' || flags[1] == ')');
   if (!isKnown)
      throw SqlError(sqlstate::syntaxError, "invalid range bound flags")
          .hint("Valid values are \"[]\", \"[)\", \"(]\", and \"()\".");
   return {flags[0] == '[', flags[1] == ']'};
}

/// int4range(a, b) and int4range(a, b, flags): NULL is no bound.
template <bool hasFlags>
void construct(const KernelCall& call, ResultVector& result) {
   const RangeKind kind = RangeKind::of(call.resultType.oid);
   requireBounds(kind, call.argReprs[0]);
   requireBounds(kind, call.argReprs[1]);
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      Inclusion inclusion;
      if constexpr (hasFlags) {
         if (call.args[2].isNull(row))
            throw SqlError(sqlstate::dataException, "range constructor flags argument must not be null");
         inclusion = inclusionOf(call.args[2].value<StringView>(row).view());
      }
      Range range;
      range.lower.isInclusive = inclusion.lower;
      range.upper.isInclusive = inclusion.upper;
      for (const auto& [bound, arg] : {std::pair{&range.lower, &call.args[0]}, std::pair{&range.upper, &call.args[1]}})
         if (!arg->isNull(row)) bound->set(kind.physical(), placeOf(*arg, row));
      out[row] = rangeValue(result.strings(), kind, kind.make(range.lower, range.upper));
   });
}

// ---- parts ----

bool isEmpty(const StringView& a) {
   return readRange(a.view()).isEmpty;
}
bool lowerInclusive(const StringView& a) {
   const Range range = readRange(a.view());
   return !range.isEmpty && range.lower.isInclusive;
}
bool upperInclusive(const StringView& a) {
   const Range range = readRange(a.view());
   return !range.isEmpty && range.upper.isInclusive;
}
bool lowerInfinite(const StringView& a) {
   const Range range = readRange(a.view());
   return !range.isEmpty && range.lower.isInfinite;
}
bool upperInfinite(const StringView& a) {
   const Range range = readRange(a.view());
   return !range.isEmpty && range.upper.isInfinite;
}

template <bool isUpper>
void boundOf(const KernelCall& call, ResultVector& result) {
   forEachRow(call.rows, [&](uint32_t row) {
      const StringView bytes = call.args[0].value<StringView>(row);
      RangeReader reader(bytes.view());
      const Range range = reader.next();
      putBound(result, row, reader.kind(), isUpper ? range.upper : range.lower, range.isEmpty);
   });
}

// ---- results of two ranges ----

template <auto combine>
StringView combined(const StringView& a, const StringView& b, KernelEnv& env) {
   RangeReader reader(a.view());
   return rangeValue(env.strings, reader.kind(), combine(reader.kind(), reader.next(), readRange(b.view())));
}

Range strictUnion(const RangeKind& kind, const Range& a, const Range& b) {
   return unitedRange(kind, a, b, true);
}
Range hull(const RangeKind& kind, const Range& a, const Range& b) {
   return unitedRange(kind, a, b, false);
}

// ---- comparison ----

int32_t compare(const StringView& a, const StringView& b) {
   return compareRanges(a, b);
}
bool isEqual(const StringView& a, const StringView& b) {
   return compareRanges(a, b) == 0;
}
bool isUnequal(const StringView& a, const StringView& b) {
   return compareRanges(a, b) != 0;
}
bool isLess(const StringView& a, const StringView& b) {
   return compareRanges(a, b) < 0;
}
bool isLessOrEqual(const StringView& a, const StringView& b) {
   return compareRanges(a, b) <= 0;
}
bool isGreater(const StringView& a, const StringView& b) {
   return compareRanges(a, b) > 0;
}
bool isGreaterOrEqual(const StringView& a, const StringView& b) {
   return compareRanges(a, b) >= 0;
}

// ---- differences of bounds ----

template <typename T>
double difference(T a, T b) {
   return static_cast<double>(a) - static_cast<double>(b);
}
double secondsBetween(int64_t a, int64_t b) {
   return (static_cast<double>(a) - static_cast<double>(b)) / 1e6;
}

double numericDifference(const DecimalView& a, const DecimalView& b, KernelEnv& env) {
   return decimal::toDouble(decimal::subtract(a, b, env.strings));
}

void registerComparisons() {
   addKernel<compare>("range_cmp");
   addKernel<isEqual>("range_eq");
   addKernel<isUnequal>("range_ne");
   addKernel<isLess>("range_lt");
   addKernel<isLessOrEqual>("range_le");
   addKernel<isGreater>("range_gt");
   addKernel<isGreaterOrEqual>("range_ge");
   addKernel<relation<OneRange, OneRange, overlaps>>("range_overlaps");
   addKernel<relation<OneRange, OneRange, contains>>("range_contains");
   addKernel<relation<OneRange, OneRange, contains, true>>("range_contained_by");
   addKernel<relation<OneRange, OneRange, areAdjacent>>("range_adjacent");
   addKernel<relation<OneRange, OneRange, isBefore>>("range_before");
   addKernel<relation<OneRange, OneRange, isAfter>>("range_after");
   addKernel<relation<OneRange, OneRange, endsNotBehind>>("range_overleft");
   addKernel<relation<OneRange, OneRange, beginsNotBefore>>("range_overright");
   registerKernel("range_contains_elem", anyArguments, {valueRelation<OneRange, 0>, true, false});
   registerKernel("elem_contained_by_range", anyArguments, {valueRelation<OneRange, 1>, true, false});
}

} // namespace

void registerRange() {
   registerKernel("range_constructor2", anyArguments, {construct<false>, false, false});
   registerKernel("range_constructor3", anyArguments, {construct<true>, false, false});
   addKernel<isEmpty>("range_empty");
   addKernel<lowerInclusive>("range_lower_inc");
   addKernel<upperInclusive>("range_upper_inc");
   addKernel<lowerInfinite>("range_lower_inf");
   addKernel<upperInfinite>("range_upper_inf");
   registerKernel("range_lower", "s", {boundOf<false>, true, false});
   registerKernel("range_upper", "s", {boundOf<true>, true, false});
   addKernel<combined<strictUnion>>("range_union");
   addKernel<combined<hull>>("range_merge");
   addKernel<combined<intersectedRange>>("range_intersect");
   addKernel<combined<subtractedRange>>("range_minus");
   addKernel<difference<int32_t>>("int4range_subdiff", totalKernel);
   addKernel<difference<int64_t>>("int8range_subdiff", totalKernel);
   addKernel<difference<int32_t>>("daterange_subdiff", totalKernel);
   addKernel<numericDifference>("numrange_subdiff");
   addKernel<secondsBetween>("tsrange_subdiff", totalKernel);
   addKernel<secondsBetween>("tstzrange_subdiff", totalKernel);
   registerComparisons();
}

} // namespace ouzel::executor
