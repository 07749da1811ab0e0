#include "executor/function/array/array_cast.hpp"

#include <array>
#include <optional>

#include "catalog/builtin/builtin.hpp"
#include "common/base_type/type_form.hpp"
#include "common/error/sql_error.hpp"
#include "common/number/decimal.hpp"
#include "common/thread/interruption.hpp"
#include "common/type/array.hpp"
#include "common/type/date_time.hpp"
#include "common/type/text_codec.hpp"
#include "executor/function/array/array_operations.hpp"
#include "executor/function/array_builder.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/value_text.hpp"

// Casts of arrays, element by element, and slices. The binder calls
//
//    ouzel_array_cast(array, function, typmod, isExplicit)     casts each element by the function; 0: through its text
//    ouzel_array_typmod(array, typmod, isExplicit)             applies a modifier to each element
//    ouzel_array_slice(array, lower[], upper[], flags)         bit 2i of the flags: subscript i has a lower bound,
//                                                              bit 2i + 1: an upper one
//
// The dimensions of a cast array stay as they are.

namespace ouzel::executor {

namespace {

/// Calls the function of a cast for single values.
class ElementCast {
public:
   ElementCast(const KernelCall& call, Oid function, SqlType source, PhysicalType sourcePhysical, SqlType target,
               int32_t typmod, bool isExplicit)
      : call_(call), info_(*catalog::builtins().function(function)), target_(target), typmod_(typmod),
        isExplicit_(isExplicit ? 1 : 0), types_{source, {oid::int4, -1, invalidOid}, {oid::boolean, -1, invalidOid}},
        reprs_{Representation{sourcePhysical, 0}, {PhysicalType::I32, 0}, {PhysicalType::Bool, 0}},
        count_(info_.argCount()), result_(storedRepresentation({info_.returnType, -1, invalidOid})) {
      const KernelEntry* entry = findKernel(info_.source, std::span(reprs_).first(count_));
      if (!entry) throwNotSupported("cast of array elements by function " + std::string(info_.name));
      kernel_ = entry->kernel;
   }

   PhysicalType result() const { return result_.physical; }
   int32_t typmod() const { return typmod_; }
   /// Writes the value to `out`; false for NULL.
   bool run(const void* value, void* out, Arena& strings) const {
      const std::array<Vector, 3> args = {Vector::constant(reprs_[0].physical, value, nullptr),
                                          Vector::constant(PhysicalType::I32, &typmod_, nullptr),
                                          Vector::constant(PhysicalType::Bool, &isExplicit_, nullptr)};
      ValidityWord validity = ~ValidityWord{0};
      ResultVector one(result_.physical, out, &validity, strings);
      kernel_({std::span(args).first(count_), Selection::dense(1), 1, call_.context, target_,
               std::span(types_).first(count_), std::span(reprs_).first(count_), result_, info_.oid},
              one);
      return !one.hasNulls() || (validity & 1) != 0;
   }

private:
   const KernelCall& call_;
   const catalog::FunctionInfo& info_;
   SqlType target_;
   int32_t typmod_;
   uint8_t isExplicit_;
   std::array<SqlType, 3> types_;
   std::array<Representation, 3> reprs_;
   size_t count_;
   Representation result_;
   ScalarKernel kernel_ = nullptr;
};

/// Adds a value of physical type `type` to an array whose elements may be wider or narrower integers.
void addValue(ArrayBuilder& array, PhysicalType type, const void* value, int32_t typmod = -1) {
   array.add(Vector::constant(type, value, nullptr), 0, typmod);
}

StringView finishLike(ArrayBuilder& built, const ArrayView& array) {
   return array.size() == 0 ? built.finish() : built.finish(array.dimensions());
}

StringView castByFunction(const ElementCast& cast, const ArrayView& array, Oid element, Arena& strings) {
   ArrayBuilder built(strings, element);
   Arena scratch; // texts of elements
   alignas(16) std::byte value[16] = {};
   for (ArrayView::Cursor at(array); at.next();) {
      checkInterrupted();
      if (at.isNull() || !cast.run(at.value(), value, scratch))
         built.addNull();
      else
         addValue(built, cast.result(), value, cast.typmod());
   }
   return finishLike(built, array);
}

StringView castByText(const KernelCall& call, const ArrayView& array, SqlType source, SqlType target, Arena& strings) {
   ArrayBuilder built(strings, target.oid);
   Arena scratch;
   std::string text;
   alignas(16) std::byte value[16] = {};
   const PhysicalType physical = storedRepresentation(target).physical;
   for (ArrayView::Cursor at(array); at.next();) {
      checkInterrupted();
      if (at.isNull()) {
         built.addNull();
         continue;
      }
      text.clear();
      appendValueText(text, call.context, source, {array.physical(), 0}, at.stored());
      parseValueText(value, call.context, target, text, scratch);
      addValue(built, physical, value);
   }
   return finishLike(built, array);
}

void castArray(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   const SqlType source{elementTypeOf(call.argTypes[0].oid), call.argTypes[0].typmod, invalidOid};
   const SqlType target{elementTypeOf(call.resultType.oid), -1, invalidOid};
   std::optional<ElementCast> cast;
   forEachRow(call.rows, [&](uint32_t row) {
      const ArrayView array(call.args[0].value<StringView>(row).view());
      const Oid function = static_cast<Oid>(call.args[1].value<int64_t>(row));
      if (array.size() == 0) {
         out[row] = ArrayBuilder(result.strings(), target.oid).finish();
      } else if (function == invalidOid) {
         out[row] = castByText(call, array, source, target, result.strings());
      } else {
         if (!cast)
            cast.emplace(call, function, source, array.physical(), target, call.args[2].value<int32_t>(row),
                         call.args[3].value<uint8_t>(row) != 0);
         out[row] = castByFunction(*cast, array, target.oid, result.strings());
      }
   });
}

/// Applies a modifier to the value at `value` in place.
void applyTypmod(Oid type, int32_t typmod, bool isExplicit, void* value, Arena& strings) {
   const auto text = [value] { return static_cast<StringView*>(value); };
   const auto number = [value] { return static_cast<int64_t*>(value); };
   switch (type) {
   case oid::numeric: *text() = decimal::applyTypmod(*text(), typmod, strings); return;
   case oid::varchar: *text() = strings.copyString(applyVarcharTypmod(text()->view(), typmod, isExplicit)); return;
   case oid::bpchar: *text() = strings.copyString(applyBpcharTypmod(text()->view(), typmod, isExplicit)); return;
   case oid::time: *number() = roundTime(*number(), typmod); return;
   case oid::timestamp:
   case oid::timestamptz: *number() = roundTimestamp(*number(), typmod); return;
   case oid::interval: {
      auto* interval = static_cast<Interval*>(value);
      *interval = applyIntervalTypmod(*interval, typmod);
      return;
   }
   case oid::timetz: *text() = strings.copyString(roundTimeTz(text()->view(), typmod)); return;
   default: break;
   }
   const TypeForm* form = findTypeForm(type);
   if (!form || !form->applyTypmod)
      throwNotSupported("cast of array elements to a modifier of type " + formatType({type, typmod, invalidOid}));
   *text() = form->applyTypmod(*text(), typmod, isExplicit, strings);
}

void limitArray(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   const Oid element = elementTypeOf(call.resultType.oid);
   forEachRow(call.rows, [&](uint32_t row) {
      const ArrayView array(call.args[0].value<StringView>(row).view());
      const int32_t typmod = call.args[1].value<int32_t>(row);
      const bool isExplicit = call.args[2].value<uint8_t>(row) != 0;
      ArrayBuilder built(result.strings(), element);
      Arena scratch;
      alignas(16) std::byte value[16];
      for (ArrayView::Cursor at(array); at.next();) {
         checkInterrupted();
         if (at.isNull()) {
            built.addNull();
            continue;
         }
         if (typmod < 0) { // only the type of the elements changes
            built.add(at.stored());
            continue;
         }
         std::memcpy(value, at.value(), sizeof value);
         applyTypmod(element, typmod, isExplicit, value, scratch);
         addValue(built, array.physical(), value, typmod);
      }
      out[row] = finishLike(built, array);
   });
}

/// The part of each dimension that a slice takes, counted from 0.
struct Cut {
   int64_t first, length;
};

/// Empty: the slice has no elements.
std::vector<Cut> cutsOf(const ArrayView& array, const ArrayView& lower, const ArrayView& upper, int32_t flags) {
   const uint32_t subscripts = lower.size();
   if (array.dimensionCount() < subscripts) return {};
   std::vector<Cut> cuts;
   ArrayView::Cursor from(lower), to(upper);
   for (uint32_t d = 0; d < array.dimensionCount(); ++d) {
      const ArrayDimension dimension = array.dimension(d);
      int64_t first = dimension.lower, last = first + dimension.length - 1;
      if (d < subscripts) {
         from.next();
         to.next();
         if (flags >> (2 * d) & 1) first = std::max<int64_t>(first, from.as<int32_t>());
         if (flags >> (2 * d + 1) & 1) last = std::min<int64_t>(last, to.as<int32_t>());
      }
      if (first > last) return {};
      cuts.push_back({first - dimension.lower, last - first + 1});
   }
   return cuts;
}

void addSlice(ArrayBuilder& built, const ArrayView& array, const std::vector<Cut>& cuts) {
   const std::vector<ArrayDimension> dimensions = array.dimensions();
   for (ArrayView::Cursor at(array); at.next();) {
      checkInterrupted();
      uint32_t rest = at.index();
      bool isTaken = true;
      for (size_t d = dimensions.size(); d-- > 0;) {
         const auto length = static_cast<uint32_t>(dimensions[d].length);
         const int64_t place = rest % length;
         rest /= length;
         isTaken = isTaken && place >= cuts[d].first && place < cuts[d].first + cuts[d].length;
      }
      if (!isTaken) continue;
      if (at.isNull())
         built.addNull();
      else
         built.add(at.stored());
   }
}

void sliceArray(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      const auto arrayAt = [&](size_t arg) { return ArrayView(call.args[arg].value<StringView>(row).view()); };
      const ArrayView array = arrayAt(0), lower = arrayAt(1), upper = arrayAt(2);
      if (lower.hasNulls() || upper.hasNulls()) return result.setNull(row);
      ArrayBuilder built(result.strings(), array.elementType());
      const std::vector<Cut> cuts = cutsOf(array, lower, upper, call.args[3].value<int32_t>(row));
      if (cuts.empty()) {
         out[row] = built.finish();
         return;
      }
      addSlice(built, array, cuts);
      std::vector<ArrayDimension> dimensions;
      for (const Cut& cut : cuts)
         dimensions.push_back({static_cast<int32_t>(cut.length), 1});
      out[row] = built.finish(dimensions);
   });
}

} // namespace

void registerArrayCast() {
   registerKernel("ouzel_array_cast", anyArguments, {castArray, true, false});
   registerKernel("ouzel_array_typmod", anyArguments, {limitArray, true, false});
   registerKernel("ouzel_array_slice", anyArguments, {sliceArray, true, false});
}

} // namespace ouzel::executor
