#include "common/error/sql_error.hpp"
#include "common/thread/interruption.hpp"
#include "common/type/array.hpp"
#include "common/type/blanks.hpp"
#include "executor/expression/scratch.hpp"
#include "executor/function/array_builder.hpp"
#include "executor/kernel/compare.hpp"
#include "executor/kernel/select.hpp"
#include "executor/kernel/validity.hpp"

// ARRAY[...], array[i], and op ANY/ALL (array). Evaluated row by row: arrays are rare in hot paths.

namespace ouzel::executor {

namespace {

using Scratch = ExpressionState::Scratch;

std::vector<Vector> evaluateArgs(Scratch& s, const Node& node, const Rows& rows) {
   std::vector<Vector> args;
   for (const uint32_t arg : node.args)
      args.push_back(evaluateNode(s, arg, rows));
   return args;
}

/// ARRAY[a, b] of arrays: one array with one more dimension.
StringView stackArrays(Arena& arena, Oid elementType, const std::vector<Vector>& args, uint32_t row) {
   ArrayBuilder stacked(arena, elementType);
   std::vector<ArrayDimension> inner;
   for (size_t i = 0; i < args.size(); ++i) {
      std::vector<ArrayDimension> dimensions;
      if (!args[i].isNull(row)) {
         const ArrayView array(args[i].value<StringView>(row).view());
         dimensions = array.dimensions();
         stacked.addAll(array);
      }
      if (i == 0) inner = dimensions;
      if (dimensions != inner)
         throw SqlError(sqlstate::arraySubscriptError,
                        "multidimensional arrays must have array expressions with matching dimensions");
   }
   if (stacked.size() == 0) return stacked.finish(); // arrays of empty arrays are empty
   inner.insert(inner.begin(), {static_cast<int32_t>(args.size()), 1});
   return stacked.finish(inner);
}

/// The elements of an array as vectors of up to batchRowsMax rows.
class ElementVector {
public:
   /// `type`: the physical type of the vectors; the elements' type or, for integers, a wider type.
   ElementVector(const ArrayView& array, PhysicalType type)
      : elements_(array), elementType_(array.physical()), type_(type), width_(physicalSize(type)) {
      data_.resize(std::min(array.size(), batchRowsMax));
   }
   /// A vector of the next `count` elements.
   Vector load(uint32_t count) {
      fillValid(validity_, count);
      bool hasNulls = false;
      for (uint32_t i = 0; i < count && elements_.next(); ++i) {
         std::byte* target = reinterpret_cast<std::byte*>(data_.data()) + size_t{i} * width_;
         if (elements_.isNull()) {
            setValidBit(validity_, i, false);
            hasNulls = true;
            std::memset(target, 0, width_);
         } else if (elementType_ != type_) {
            Value value = Value::fromVector(Vector::flat(elementType_, elements_.value(), nullptr), 0);
            value.type = type_; // integers of all widths use the same member of Value
            value.store(target);
         } else {
            std::memcpy(target, elements_.value(), width_);
         }
      }
      return Vector::flat(type_, data_.data(), hasNulls ? validity_ : nullptr);
   }

private:
   ArrayView::Cursor elements_;
   PhysicalType elementType_, type_;
   uint32_t width_;
   std::vector<uint128> data_; // as wide as the widest value, and aligned for it
   ValidityWord validity_[validityWords(batchRowsMax)];
};

enum class Tristate : uint8_t { False, True, Unknown };

/// Fold `lhs op element` over the elements: ANY is an OR, ALL an AND.
Tristate overElements(Scratch& s, const Node& node, const Vector& lhs, const ArrayView& array) {
   const Tristate deciding = node.negated ? Tristate::False : Tristate::True;
   Tristate result = node.negated ? Tristate::True : Tristate::False;
   if (array.size() == 0) return result;
   if (lhs.isNull(0)) return Tristate::Unknown;
   ElementVector elements(array, lhs.type);
   const uint32_t total = array.size();
   FlagLoan scratch(s), flags(s);
   ValidityWord validity[validityWords(batchRowsMax)];
   for (uint32_t begin = 0; begin < total; begin += batchRowsMax) {
      checkInterrupted();
      const uint32_t count = std::min(batchRowsMax, total - begin);
      const std::array<Vector, 2> args = {lhs, elements.load(count)};
      Selection rows = Selection::dense(count);
      fillValid(validity, count);
      bool hasNulls = combineValidity(args, rows, count, validity);
      if (node.kernel.kernel) {
         ListLoan list(s);
         const Vector valid = Vector::flat(PhysicalType::Bool, nullptr, validity);
         if (hasNulls) rows = narrowed(rows, list, selectNotNull(valid, rows, list));
         ResultVector out(PhysicalType::Bool, flags.data(), validity, *s.strings);
         const std::array<SqlType, 2> types = {node.argTypes[0], {array.elementType(), -1, 0}};
         const std::array<Representation, 2> reprs = {node.argReprs[0], Representation{lhs.type, 0}};
         node.kernel.kernel({args, rows, count, s.context, node.type, types, reprs, node.repr, node.function}, out);
         hasNulls |= out.hasNulls();
      } else {
         compareValues(node.compare, args[0], args[1], rows, scratch, flags);
      }
      for (uint32_t i = 0; i < count; ++i) {
         const Tristate one = hasNulls && !isValidBit(validity, i) ? Tristate::Unknown
                              : flags.data()[i] != 0               ? Tristate::True
                                                                   : Tristate::False;
         if (one == deciding) return deciding;
         if (one == Tristate::Unknown) result = Tristate::Unknown;
      }
   }
   return result;
}

} // namespace

Vector evaluateArray(Scratch& s, const Node& node, const Rows& rows) {
   const std::vector<Vector> args = evaluateArgs(s, node, rows);
   Scratch::Buffer& buffer = s.buffer(node);
   StringView* out = static_cast<StringView*>(buffer.data);
   bool nested = false;
   for (const uint32_t arg : node.args)
      nested |= s.code.nodes[arg]->type.oid == node.type.oid;
   const Oid element = node.elementType;
   forEachRow(rows.selection, [&](uint32_t row) {
      if (nested) {
         out[row] = stackArrays(*s.strings, element, args, row);
         return;
      }
      ArrayBuilder array(*s.strings, element);
      for (size_t i = 0; i < args.size(); ++i)
         array.add(args[i], row, s.code.nodes[node.args[i]]->type.typmod);
      out[row] = array.finish();
   });
   return Vector::flat(PhysicalType::String, out, nullptr);
}

Vector evaluateSubscript(Scratch& s, const Node& node, const Rows& rows) {
   const std::vector<Vector> args = evaluateArgs(s, node, rows);
   Scratch::Buffer& buffer = s.buffer(node);
   fillValid(buffer.validity, s.rowCount);
   const uint32_t width = physicalSize(node.repr.physical);
   forEachRow(rows.selection, [&](uint32_t row) {
      std::byte* target = static_cast<std::byte*>(buffer.data) + size_t{row} * width;
      std::memset(target, 0, width);
      setValidBit(buffer.validity, row, false);
      for (const Vector& arg : args)
         if (arg.isNull(row)) return;
      const ArrayView array(args[0].value<StringView>(row).view());
      if (array.dimensionCount() != args.size() - 1) return;
      uint32_t index = 0;
      for (uint32_t d = 0; d < array.dimensionCount(); ++d) {
         const ArrayDimension dimension = array.dimension(d);
         const int64_t offset = int64_t{args[d + 1].value<int32_t>(row)} - dimension.lower;
         if (offset < 0 || offset >= dimension.length) return;
         index = index * static_cast<uint32_t>(dimension.length) + static_cast<uint32_t>(offset);
      }
      if (array.isNull(index)) return;
      ArrayView::Cursor element(array);
      element.moveTo(index);
      element.next();
      setValidBit(buffer.validity, row, true);
      // A text lies in the array, which lives as long.
      std::memcpy(target, keepsBlanks(node.type) ? element.stored() : element.value(), width);
   });
   return Vector::flat(node.repr.physical, buffer.data, buffer.validity);
}

Vector evaluateAnyArray(Scratch& s, const Node& node, const Rows& rows) {
   const std::vector<Vector> args = evaluateArgs(s, node, rows);
   Scratch::Buffer& buffer = s.buffer(node);
   fillValid(buffer.validity, s.rowCount);
   uint8_t* out = static_cast<uint8_t*>(buffer.data);
   bool hasNulls = false;
   const uint32_t width = physicalSize(args[0].type);
   forEachRow(rows.selection, [&](uint32_t row) {
      Tristate result = Tristate::Unknown;
      if (!args[1].isNull(row)) {
         const ArrayView array(args[1].value<StringView>(row).view());
         static constexpr ValidityWord nothing = 0;
         const Vector lhs = Vector::constant(
             args[0].type, static_cast<const std::byte*>(args[0].data) + size_t{args[0].positionOf(row)} * width,
             args[0].isNull(row) ? &nothing : nullptr);
         result = overElements(s, node, lhs, array);
      }
      out[row] = result == Tristate::True;
      if (result == Tristate::Unknown) {
         setValidBit(buffer.validity, row, false);
         hasNulls = true;
      }
   });
   return Vector::flat(PhysicalType::Bool, out, hasNulls ? buffer.validity : nullptr);
}

} // namespace ouzel::executor
