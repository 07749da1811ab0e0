#include <vector>

#include "common/type/array.hpp"
#include "executor/function/array_builder.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"

// ouzel_array_assign(array, subscripts, value): the array with another element. UPDATE t SET a[2] = x.

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

} // namespace

void registerArrayAssign() {
   registerKernel("ouzel_array_assign", anyArguments, {assignElement, false, false});
}

} // namespace ouzel::executor
