#include "catalog/builtin/builtin.hpp"
#include "common/type/array.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"

// f(a, VARIADIC array) for the functions that take any number of arguments of any types: concat, format, num_nulls, ...
// The binder calls ouzel_spread_f(a, array) instead. Its kernel calls the kernel of f row by row, with the elements of
// the array as arguments.

namespace ouzel::executor {

namespace {

/// The arguments of one call of f.
class SpreadArguments {
public:
   SpreadArguments(const KernelCall& call, uint32_t row) {
      for (size_t i = 0; i + 1 < call.args.size(); ++i) {
         const Vector& arg = call.args[i];
         const auto* value =
             static_cast<const std::byte*>(arg.data) + size_t{arg.positionOf(row)} * physicalSize(arg.type);
         add(arg.type, value, arg.isNull(row), call.argTypes[i], call.argReprs[i]);
      }
      if (call.args.back().isNull(row)) return;
      const ArrayView array(call.args.back().value<StringView>(row).view());
      elements_.reserve(array.size()); // the vectors point into it
      for (ArrayView::Cursor element(array); element.next();) {
         std::memcpy(elements_.emplace_back().bytes, element.stored(), sizeof(Element));
         add(array.physical(), elements_.back().bytes, element.isNull(), {array.elementType(), -1, 0},
             {array.physical(), 0});
      }
   }

   std::span<const Vector> vectors() const { return vectors_; }
   std::span<const SqlType> types() const { return types_; }
   std::span<const Representation> reprs() const { return reprs_; }

private:
   struct Element {
      alignas(16) std::byte bytes[16];
   };
   void add(PhysicalType physical, const void* value, bool isNull, const SqlType& type, Representation repr) {
      static constexpr ValidityWord nothing = 0;
      vectors_.push_back(Vector::constant(physical, value, isNull ? &nothing : nullptr));
      types_.push_back(type);
      reprs_.push_back(repr);
   }

   std::vector<Element> elements_;
   std::vector<Vector> vectors_;
   std::vector<SqlType> types_;
   std::vector<Representation> reprs_;
};

/// `callsWithoutArray`: a NULL array gives no arguments; else the result is NULL.
template <bool callsWithoutArray>
void spread(const KernelCall& call, ResultVector& result) {
   const catalog::FunctionInfo& twin = *catalog::builtins().function(call.function);
   const std::string_view source = std::string_view(twin.source).substr(twin.source.find(':') + 1);
   const KernelEntry* inner = findKernel(source, {});
   if (!inner) throwNotSupported("function " + std::string(source));
   std::byte* out = static_cast<std::byte*>(result.data());
   const uint32_t width = physicalSize(result.type());
   forEachRow(call.rows, [&](uint32_t row) {
      if (!callsWithoutArray && call.args.back().isNull(row)) return result.setNull(row);
      const SpreadArguments arguments(call, row);
      alignas(16) std::byte value[16] = {};
      ValidityWord validity = ~ValidityWord{0};
      ResultVector one(result.type(), value, &validity, result.strings());
      inner->kernel({arguments.vectors(), Selection::dense(1), 1, call.context, call.resultType, arguments.types(),
                     arguments.reprs(), call.resultRepr, call.function},
                    one);
      if (one.hasNulls() && (validity & 1) == 0) return result.setNull(row);
      std::memcpy(out + size_t{row} * width, value, width);
   });
}

} // namespace

void registerSpread() {
   for (const char* source : {"spread:text_concat", "spread:text_concat_ws", "spread:pg_num_nulls",
                              "spread:pg_num_nonnulls", "spread:json_build_array", "spread:json_build_object",
                              "spread:jsonb_build_array", "spread:jsonb_build_object"})
      registerKernel(source, anyArguments, {spread<false>, false, false});
   registerKernel("spread:text_format", anyArguments, {spread<true>, false, false});
}

} // namespace ouzel::executor
