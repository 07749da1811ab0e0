#include <algorithm>
#include <optional>
#include <vector>

#include "common/type/array.hpp"
#include "executor/function/array_builder.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"

// Arrays of which parts are assigned:
//
//    ouzel_array_assign(array, subscripts, value)                 UPDATE t SET a[2] = value
//    ouzel_array_assign_slice(array, lower, upper, flags, value)  UPDATE t SET a[2:3] = value, bounds as for
//                                                                 ouzel_array_slice

namespace ouzel::executor {

namespace {

std::vector<int32_t> subscriptsOf(std::string_view bytes) {
   const ArrayView array(bytes);
   std::vector<int32_t> subscripts;
   for (ArrayView::Cursor subscript(array); subscript.next();) {
      if (subscript.isNull())
         throw SqlError(sqlstate::nullValueNotAllowed, "array subscript in assignment must not be null");
      subscripts.push_back(subscript.as<int32_t>());
   }
   return subscripts;
}

[[noreturn]] void throwTooLarge() {
   throw SqlError(sqlstate::programLimitExceeded, "array size exceeds the maximum allowed (134217727)");
}

/// Where an element is put: its number among the elements of the changed array, and how that array differs.
struct Place {
   std::vector<ArrayDimension> dimensions; ///< of the changed array
   int64_t element = 0;
   int64_t before = 0; ///< NULLs in front of the elements that were there
   int64_t after = 0;  ///< elements behind them, the new one among them
};

Place placeIn(const ArrayView& array, const std::vector<int32_t>& subscripts) {
   Place place;
   place.dimensions = array.dimensions();
   if (place.dimensions.size() != subscripts.size())
      throw SqlError(sqlstate::arraySubscriptError, "wrong number of array subscripts");
   if (subscripts.size() > 1) {
      for (size_t i = 0; i < subscripts.size(); ++i) {
         const ArrayDimension& d = place.dimensions[i];
         const int64_t offset = int64_t{subscripts[i]} - d.lower;
         if (offset < 0 || offset >= d.length)
            throw SqlError(sqlstate::arraySubscriptError, "array subscript out of range");
         place.element = place.element * d.length + offset;
      }
      return place;
   }
   // An array of one dimension grows. What lies between is NULL.
   ArrayDimension& d = place.dimensions[0];
   const int64_t offset = int64_t{subscripts[0]} - d.lower;
   place.before = offset < 0 ? -offset : 0;
   place.after = offset >= d.length ? offset - d.length + 1 : 0;
   const int64_t length = d.length + place.before + place.after;
   if (length > arrayElementsMax) throwTooLarge();
   d.length = static_cast<int32_t>(length);
   if (offset < 0) d.lower = subscripts[0];
   place.element = offset < 0 ? 0 : offset;
   return place;
}

void assignElement(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   const Oid element = arrayElementType(call.resultType.oid);
   forEachRow(call.rows, [&](uint32_t row) {
      if (call.args[1].isNull(row))
         throw SqlError(sqlstate::nullValueNotAllowed, "array subscript in assignment must not be null");
      const std::vector<int32_t> subscripts = subscriptsOf(call.args[1].value<StringView>(row).view());
      ArrayBuilder builder(result.strings(), element);
      const auto addNew = [&] { builder.add(call.args[2], row, call.argTypes[2].typmod); };
      std::string_view bytes;
      if (!call.args[0].isNull(row)) bytes = call.args[0].value<StringView>(row).view();
      if (bytes.empty() || ArrayView(bytes).dimensionCount() == 0) {
         std::vector<ArrayDimension> dimensions;
         for (const int32_t subscript : subscripts)
            dimensions.push_back({1, subscript});
         addNew();
         out[row] = builder.finish(dimensions);
         return;
      }
      const ArrayView array(bytes);
      const Place place = placeIn(array, subscripts);
      int64_t next = 0;
      const auto put = [&](const void* value) {
         if (next++ == place.element)
            addNew();
         else if (value)
            builder.add(value);
         else
            builder.addNull();
      };
      for (int64_t i = 0; i < place.before; ++i)
         put(nullptr);
      for (ArrayView::Cursor old(array); old.next();)
         put(old.isNull() ? nullptr : old.stored());
      for (int64_t i = 0; i < place.after; ++i)
         put(nullptr);
      out[row] = builder.finish(place.dimensions);
   });
}

// ---- slices ----

/// The elements that an assignment replaces, in each dimension from `lower` to `upper`, in an array of `dimensions`.
struct Slice {
   std::vector<ArrayDimension> dimensions;
   std::vector<int64_t> lower, upper;

   bool contains(const std::vector<int64_t>& at) const {
      for (size_t i = 0; i < at.size(); ++i)
         if (at[i] < lower[i] || at[i] > upper[i]) return false;
      return true;
   }
   int64_t size() const {
      int64_t count = 1;
      for (size_t i = 0; i < lower.size(); ++i)
         if ((count *= upper[i] - lower[i] + 1) > arrayElementsMax) throwTooLarge();
      return count;
   }
};

/// The slice of an array that has no elements: it becomes the array.
Slice wholeSlice(const std::vector<int32_t>& lower, const std::vector<int32_t>& upper, int32_t flags) {
   Slice slice;
   for (size_t i = 0; i < lower.size(); ++i) {
      if ((flags >> (2 * i) & 3) != 3)
         throw SqlError(sqlstate::arraySubscriptError, "array slice subscript must provide both boundaries")
             .detail("When assigning to a slice of an empty array value, slice boundaries must be fully specified.");
      if (upper[i] < lower[i])
         throw SqlError(sqlstate::arraySubscriptError, "upper bound cannot be less than lower bound");
      slice.lower.push_back(lower[i]);
      slice.upper.push_back(upper[i]);
   }
   slice.size();
   for (size_t i = 0; i < lower.size(); ++i)
      slice.dimensions.push_back({static_cast<int32_t>(slice.upper[i] - slice.lower[i] + 1), lower[i]});
   return slice;
}

Slice sliceOf(const ArrayView& array, const std::vector<int32_t>& lower, const std::vector<int32_t>& upper,
              int32_t flags) {
   Slice slice;
   slice.dimensions = array.dimensions();
   if (slice.dimensions.size() < lower.size())
      throw SqlError(sqlstate::arraySubscriptError, "wrong number of array subscripts");
   for (size_t i = 0; i < slice.dimensions.size(); ++i) {
      ArrayDimension& d = slice.dimensions[i];
      const bool isGiven = i < lower.size();
      const int64_t last = int64_t{d.lower} + d.length - 1;
      slice.lower.push_back(isGiven && (flags >> (2 * i) & 1) ? lower[i] : d.lower);
      slice.upper.push_back(isGiven && (flags >> (2 * i) & 2) ? upper[i] : last);
      if (slice.lower[i] > slice.upper[i])
         throw SqlError(sqlstate::arraySubscriptError, "upper bound cannot be less than lower bound");
      const bool isInside = slice.lower[i] >= d.lower && slice.upper[i] <= last;
      if (isInside) continue;
      if (slice.dimensions.size() > 1) throw SqlError(sqlstate::arraySubscriptError, "array subscript out of range");
      const int64_t first = std::min<int64_t>(d.lower, slice.lower[i]), end = std::max(last, slice.upper[i]);
      if (end - first + 1 > arrayElementsMax) throwTooLarge();
      d = {static_cast<int32_t>(end - first + 1), static_cast<int32_t>(first)};
   }
   return slice;
}

/// Goes to the next element in row-major order.
void advance(std::vector<int64_t>& at, const std::vector<ArrayDimension>& dimensions) {
   for (size_t i = at.size(); i-- > 0;) {
      if (++at[i] < int64_t{dimensions[i].lower} + dimensions[i].length) return;
      at[i] = dimensions[i].lower;
   }
}

StringView assignTo(const Slice& slice, const ArrayView* array, const ArrayView& source, ArrayBuilder& builder) {
   if (source.size() < slice.size()) throw SqlError(sqlstate::arraySubscriptError, "source array too small");
   std::optional<ArrayView::Cursor> old;
   if (array) old.emplace(*array);
   ArrayView::Cursor fresh(source);
   std::vector<int64_t> at;
   int64_t count = 1;
   for (const ArrayDimension& d : slice.dimensions) {
      at.push_back(d.lower);
      count *= d.length;
   }
   for (int64_t i = 0; i < count; ++i, advance(at, slice.dimensions)) {
      // In an array of one dimension that grows there are places without an old element.
      const bool hasOld =
          array && (at.size() > 1 || (at[0] >= array->dimension(0).lower &&
                                      at[0] < int64_t{array->dimension(0).lower} + array->dimension(0).length));
      if (hasOld) old->next();
      const bool isFresh = slice.contains(at);
      if (isFresh) fresh.next();
      const ArrayView::Cursor* element = isFresh ? &fresh : hasOld ? &*old : nullptr;
      if (element && !element->isNull())
         builder.add(element->stored());
      else
         builder.addNull();
   }
   return builder.finish(slice.dimensions);
}

void assignSlice(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   const Oid element = arrayElementType(call.resultType.oid);
   forEachRow(call.rows, [&](uint32_t row) {
      for (const size_t bounds : {size_t{1}, size_t{2}})
         if (call.args[bounds].isNull(row))
            throw SqlError(sqlstate::nullValueNotAllowed, "array subscript in assignment must not be null");
      const auto lower = subscriptsOf(call.args[1].value<StringView>(row).view());
      const auto upper = subscriptsOf(call.args[2].value<StringView>(row).view());
      const auto flags = call.args[3].value<int32_t>(row);
      const bool hasOld = !call.args[0].isNull(row);
      std::string_view bytes;
      if (hasOld) bytes = call.args[0].value<StringView>(row).view();
      if (call.args[4].isNull(row)) { // leaves the array as it is
         if (!hasOld) return result.setNull(row);
         out[row] = result.strings().copyString(bytes);
         return;
      }
      const ArrayView source(call.args[4].value<StringView>(row).view());
      ArrayBuilder builder(result.strings(), element);
      if (!hasOld || ArrayView(bytes).dimensionCount() == 0) {
         out[row] = assignTo(wholeSlice(lower, upper, flags), nullptr, source, builder);
         return;
      }
      const ArrayView array(bytes);
      out[row] = assignTo(sliceOf(array, lower, upper, flags), &array, source, builder);
   });
}

} // namespace

void registerArrayAssign() {
   registerKernel("ouzel_array_assign_slice", anyArguments, {assignSlice, false, false});
   registerKernel("ouzel_array_assign", anyArguments, {assignElement, false, false});
}

} // namespace ouzel::executor
