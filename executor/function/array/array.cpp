#include "catalog/builtin/builtin.hpp"
#include "common/thread/interruption.hpp"
#include "common/type/blanks.hpp"
#include "executor/function/array/array_operations.hpp"
#include "executor/function/array_builder.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/text/text_search.hpp"
#include "executor/function/text/utf8_text.hpp"
#include "executor/function/value_builder.hpp"
#include "executor/function/value_text.hpp"
#include "executor/kernel/array_order.hpp"
#include "executor/kernel/compare.hpp"

// Functions over arrays. They read arrays in place, and write them into the arena of the result.

namespace ouzel::executor {

Oid elementTypeOf(Oid arrayType) {
   if (arrayType >= firstUserOid) return arrayElementType(arrayType);
   const catalog::TypeInfo* info = catalog::builtins().type(arrayType);
   return info && info->isArray() ? info->element : invalidOid;
}

namespace {

ArrayView arrayAt(const KernelCall& call, size_t arg, uint32_t row) {
   return ArrayView(call.args[arg].value<StringView>(row).view());
}

/// The element type of an array that may be NULL: the argument's.
Oid elementTypeAt(const KernelCall& call, size_t arg, uint32_t row) {
   if (!call.args[arg].isNull(row)) return arrayAt(call, arg, row).elementType();
   const Oid type = elementTypeOf(call.resultType.oid);
   return type != invalidOid ? type : elementTypeOf(call.argTypes[arg].oid);
}

/// A value to compare with elements, as it would lie among them: integers get the width of the elements.
class Probe {
public:
   Probe(const Vector& vector, uint32_t row, const ArrayView& array)
      : isNull_(vector.isNull(row)), order_(elementOrder(array.elementType(), array.physical())) {
      if (isNull_) return;
      const PhysicalType elements = array.physical();
      Value value = Value::fromVector(vector, row);
      if (value.type != elements && !isVariableSize(elements) && elements <= PhysicalType::I64) value.type = elements;
      bytes_ = std::move(value.bytes);
      if (array.elementType() == oid::bpchar) bytes_.resize(trimTrailingBlanks(bytes_).size());
      if (isVariableSize(elements)) {
         const StringView text(bytes_);
         std::memcpy(place_, static_cast<const void*>(&text), sizeof text);
      } else {
         value.store(place_);
      }
   }
   bool isNull() const { return isNull_; }
   int compare(const void* element) const { return order_(place_, element); }
   /// Whether the element is not distinct from the value.
   bool equals(const ArrayView::Cursor& element) const {
      return isNull_ || element.isNull() ? isNull_ && element.isNull() : compare(element.value()) == 0;
   }

private:
   const bool isNull_;
   const ValueOrder order_;
   std::string bytes_;
   alignas(16) std::byte place_[16] = {};
};

void requireOneDimension(const ArrayView& array, const char* message, SqlState state = sqlstate::dataException) {
   if (array.dimensionCount() > 1) throw SqlError(state, message);
}

// ---- building ----

int32_t firstSubscript(const ArrayView& array) {
   return array.dimensionCount() == 0 ? 1 : array.dimension(0).lower;
}

/// array || element and element || array; `arrayArg` is the number of the array.
template <size_t arrayArg>
void addElement(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      ArrayBuilder builder(result.strings(), elementTypeAt(call, arrayArg, row));
      std::optional<ArrayView> array;
      if (!call.args[arrayArg].isNull(row)) array = arrayAt(call, arrayArg, row);
      if (array) requireOneDimension(*array, "argument must be empty or one-dimensional array");
      if (arrayArg == 1) builder.add(call.args[0], row, call.argTypes[0].typmod);
      if (array) builder.addAll(*array);
      if (arrayArg == 0) builder.add(call.args[1], row, call.argTypes[1].typmod);
      out[row] = builder.finish(array ? firstSubscript(*array) : 1);
   });
}

bool sameShape(std::span<const ArrayDimension> a, std::span<const ArrayDimension> b) {
   return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

/// The dimensions of a || b, neither of which is empty.
std::vector<ArrayDimension> concatenatedShape(const ArrayView& a, const ArrayView& b) {
   const std::vector<ArrayDimension> da = a.dimensions(), db = b.dimensions();
   std::vector<ArrayDimension> shape = da;
   const auto mismatch = [](const char* detail) {
      throw SqlError(sqlstate::arraySubscriptError, "cannot concatenate incompatible arrays").detail(detail);
   };
   if (da.size() == db.size()) {
      if (!sameShape(std::span(da).subspan(1), std::span(db).subspan(1)))
         mismatch("Arrays with differing element dimensions are not compatible for concatenation.");
      shape[0].length += db[0].length;
   } else if (da.size() == db.size() + 1) {
      if (!sameShape(std::span(da).subspan(1), db))
         mismatch("Arrays with differing dimensions are not compatible for concatenation.");
      ++shape[0].length;
   } else if (da.size() + 1 == db.size()) {
      if (!sameShape(da, std::span(db).subspan(1)))
         mismatch("Arrays with differing dimensions are not compatible for concatenation.");
      shape = db;
      ++shape[0].length;
   } else {
      throw SqlError(sqlstate::arraySubscriptError, "cannot concatenate incompatible arrays")
          .detail("Arrays of " + std::to_string(da.size()) + " and " + std::to_string(db.size()) +
                  " dimensions are not compatible for concatenation.");
   }
   return shape;
}

void arrayCat(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      const bool isNullA = call.args[0].isNull(row), isNullB = call.args[1].isNull(row);
      if (isNullA && isNullB) return result.setNull(row);
      if (isNullA || arrayAt(call, 0, row).size() == 0) {
         out[row] = isNullB ? call.args[0].value<StringView>(row) : call.args[1].value<StringView>(row);
         return;
      }
      if (isNullB || arrayAt(call, 1, row).size() == 0) {
         out[row] = call.args[0].value<StringView>(row);
         return;
      }
      const ArrayView a = arrayAt(call, 0, row), b = arrayAt(call, 1, row);
      const std::vector<ArrayDimension> shape = concatenatedShape(a, b);
      ArrayBuilder builder(result.strings(), a.elementType());
      builder.addAll(a);
      builder.addAll(b);
      out[row] = builder.finish(shape);
   });
}

void arrayFill(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      const bool hasLower = call.args.size() == 3;
      if (call.args[1].isNull(row) || (hasLower && call.args[2].isNull(row)))
         throw SqlError(sqlstate::nullValueNotAllowed, "dimension array or low bound array cannot be null");
      const ArrayView lengths = arrayAt(call, 1, row);
      const auto refuse = [](const char* detail) {
         throw SqlError(sqlstate::arraySubscriptError, "wrong number of array subscripts").detail(detail);
      };
      if (lengths.dimensionCount() > 1) refuse("Dimension array must be one dimensional.");
      std::vector<int32_t> lowers;
      if (hasLower) {
         const ArrayView given = arrayAt(call, 2, row);
         if (given.dimensionCount() > 1) refuse("Low bound array must be one dimensional.");
         if (given.size() != lengths.size()) refuse("Low bound array has different size than dimensions array.");
         for (ArrayView::Cursor lower(given); lower.next();)
            lowers.push_back(lower.as<int32_t>());
      }
      std::vector<ArrayDimension> shape;
      uint64_t count = lengths.size() == 0 ? 0 : 1;
      for (ArrayView::Cursor length(lengths); length.next();) {
         if (length.isNull()) throw SqlError(sqlstate::nullValueNotAllowed, "dimension values cannot be null");
         const auto wanted = length.as<int32_t>();
         if (wanted < 0 || count * static_cast<uint32_t>(wanted) > arrayElementsMax)
            throw SqlError(sqlstate::programLimitExceeded, "array size exceeds the maximum allowed (134217727)");
         shape.push_back({wanted, shape.size() < lowers.size() ? lowers[shape.size()] : 1});
         count *= static_cast<uint32_t>(wanted);
      }
      if (count == 0) shape.clear();
      ArrayBuilder builder(result.strings(), elementTypeOf(call.resultType.oid));
      for (uint64_t i = 0; i < count; ++i)
         builder.add(call.args[0], row, call.argTypes[0].typmod);
      out[row] = builder.finish(shape);
   });
}

// ---- size and shape ----

std::optional<int32_t> ndims(const StringView& s) {
   const uint32_t count = ArrayView(s.view()).dimensionCount();
   return count == 0 ? std::nullopt : std::optional(static_cast<int32_t>(count));
}
int32_t cardinality(const StringView& s) {
   return static_cast<int32_t>(ArrayView(s.view()).size());
}
std::optional<ArrayDimension> dimension(const StringView& s, int32_t n) {
   const ArrayView array(s.view());
   if (n < 1 || static_cast<uint32_t>(n) > array.dimensionCount()) return std::nullopt;
   return array.dimension(static_cast<uint32_t>(n - 1));
}
std::optional<int32_t> length(const StringView& s, int32_t n) {
   const std::optional<ArrayDimension> d = dimension(s, n);
   return d ? std::optional(d->length) : std::nullopt;
}
std::optional<int32_t> lower(const StringView& s, int32_t n) {
   const std::optional<ArrayDimension> d = dimension(s, n);
   return d ? std::optional(d->lower) : std::nullopt;
}
std::optional<int32_t> upper(const StringView& s, int32_t n) {
   const std::optional<ArrayDimension> d = dimension(s, n);
   return d ? std::optional(d->lower + d->length - 1) : std::nullopt;
}
std::optional<StringView> dims(const StringView& s, KernelEnv& env) {
   const ArrayView array(s.view());
   if (array.dimensionCount() == 0) return std::nullopt;
   std::string text;
   for (const ArrayDimension& d : array.dimensions())
      text += "[" + std::to_string(d.lower) + ":" + std::to_string(d.lower + d.length - 1) + "]";
   return env.copy(text);
}

// ---- search and change ----

/// Calls `found` with the subscript of every element that is not distinct from the value, while it returns true.
template <typename Found>
void findAll(const ArrayView& array, const Probe& value, Found&& found) {
   requireOneDimension(array, "searching for elements in multidimensional arrays is not supported",
                       sqlstate::featureNotSupported);
   for (ArrayView::Cursor element(array); element.next();)
      if (value.equals(element) && !found(static_cast<int32_t>(element.index()) + firstSubscript(array))) return;
}

void arrayPosition(const KernelCall& call, ResultVector& result) {
   int32_t* out = result.values<int32_t>();
   forEachRow(call.rows, [&](uint32_t row) {
      if (call.args[0].isNull(row)) return result.setNull(row);
      const ArrayView array = arrayAt(call, 0, row);
      int32_t start = INT32_MIN;
      if (call.args.size() == 3) {
         if (call.args[2].isNull(row))
            throw SqlError(sqlstate::nullValueNotAllowed, "initial position must not be null");
         start = call.args[2].value<int32_t>(row);
      }
      bool isFound = false;
      findAll(array, Probe(call.args[1], row, array), [&](int32_t place) {
         if (place < start) return true;
         out[row] = place;
         isFound = true;
         return false;
      });
      if (!isFound) result.setNull(row);
   });
}

void arrayPositions(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      if (call.args[0].isNull(row)) return result.setNull(row);
      const ArrayView array = arrayAt(call, 0, row);
      ArrayBuilder places(result.strings(), oid::int4);
      findAll(array, Probe(call.args[1], row, array), [&](int32_t place) {
         places.add(&place);
         return true;
      });
      out[row] = places.finish();
   });
}

void arrayRemove(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      if (call.args[0].isNull(row)) return result.setNull(row);
      const ArrayView array = arrayAt(call, 0, row);
      if (array.dimensionCount() > 1) throwNotSupported("removing elements from multidimensional arrays");
      const Probe value(call.args[1], row, array);
      ArrayBuilder kept(result.strings(), array.elementType());
      for (ArrayView::Cursor element(array); element.next();) {
         if (value.equals(element)) continue;
         if (element.isNull())
            kept.addNull();
         else
            kept.add(element.stored());
      }
      out[row] = kept.finish(firstSubscript(array));
   });
}

void arrayReplace(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      if (call.args[0].isNull(row)) return result.setNull(row);
      const ArrayView array = arrayAt(call, 0, row);
      const Probe from(call.args[1], row, array);
      ArrayBuilder changed(result.strings(), array.elementType());
      for (ArrayView::Cursor element(array); element.next();)
         if (from.equals(element))
            changed.add(call.args[2], row, call.argTypes[2].typmod);
         else if (element.isNull())
            changed.addNull();
         else
            changed.add(element.stored());
      out[row] = changed.finish(array.dimensions());
   });
}

/// The array without its last n slices of the first dimension. Lower bounds become 1, as those of every slice.
void trimArray(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      const ArrayView array = arrayAt(call, 0, row);
      const int32_t n = call.args[1].value<int32_t>(row);
      std::vector<ArrayDimension> shape = array.dimensions();
      const int32_t present = shape.empty() ? 0 : shape[0].length;
      if (n < 0 || n > present)
         throw SqlError(sqlstate::arrayElementError,
                        "number of elements to trim must be between 0 and " + std::to_string(present));
      ArrayBuilder kept(result.strings(), array.elementType());
      if (n < present) {
         const uint32_t keep = array.size() / static_cast<uint32_t>(present) * static_cast<uint32_t>(present - n);
         shape[0].length -= n;
         for (ArrayDimension& dimension : shape)
            dimension.lower = 1;
         for (ArrayView::Cursor element(array); kept.size() < keep && element.next();)
            if (element.isNull())
               kept.addNull();
            else
               kept.add(element.stored());
      } else {
         shape.clear();
      }
      out[row] = kept.finish(shape);
   });
}

// ---- comparison and containment ----

int order(const StringView& a, const StringView& b) {
   return compareArrays(ArrayView(a.view()), ArrayView(b.view()));
}
bool isEqual(const StringView& a, const StringView& b) {
   return a == b || order(a, b) == 0;
}
bool isNotEqual(const StringView& a, const StringView& b) {
   return !isEqual(a, b);
}
bool isLess(const StringView& a, const StringView& b) {
   return order(a, b) < 0;
}
bool isLessOrEqual(const StringView& a, const StringView& b) {
   return order(a, b) <= 0;
}
bool isGreater(const StringView& a, const StringView& b) {
   return order(a, b) > 0;
}
bool isGreaterOrEqual(const StringView& a, const StringView& b) {
   return order(a, b) >= 0;
}
int32_t compare(const StringView& a, const StringView& b) {
   return order(a, b);
}
StringView larger(const StringView& a, const StringView& b) {
   return order(a, b) > 0 ? a : b;
}
StringView smaller(const StringView& a, const StringView& b) {
   return order(a, b) < 0 ? a : b;
}

/// Whether the array has an element equal to the present one of `wanted`, which is not NULL.
bool hasElement(const ArrayView& array, const ArrayView::Cursor& wanted) {
   checkInterrupted();
   const ValueOrder order = elementOrder(array.elementType(), array.physical());
   for (ArrayView::Cursor element(array); element.next();)
      if (!element.isNull() && order(element.value(), wanted.value()) == 0) return true;
   return false;
}
bool contains(const StringView& a, const StringView& b) {
   const ArrayView outer(a.view()), inner(b.view());
   for (ArrayView::Cursor element(inner); element.next();)
      if (element.isNull() || !hasElement(outer, element)) return false;
   return true;
}
bool isContained(const StringView& a, const StringView& b) {
   return contains(b, a);
}
bool overlaps(const StringView& a, const StringView& b) {
   const ArrayView x(a.view()), y(b.view());
   for (ArrayView::Cursor element(x); element.next();)
      if (!element.isNull() && hasElement(y, element)) return true;
   return false;
}

// ---- text ----

void arrayToText(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   const bool hasNullText = call.args.size() == 3;
   forEachRow(call.rows, [&](uint32_t row) {
      if (call.args[0].isNull(row) || call.args[1].isNull(row)) return result.setNull(row);
      const ArrayView array = arrayAt(call, 0, row);
      const std::string_view delimiter = call.args[1].value<StringView>(row).view();
      ValueBuilder text(result.strings());
      std::string piece;
      bool isFirst = true;
      for (ArrayView::Cursor element(array); element.next();) {
         if (element.isNull() && (!hasNullText || call.args[2].isNull(row))) continue;
         if (!isFirst) text.append(delimiter);
         isFirst = false;
         if (element.isNull()) {
            text.append(call.args[2].value<StringView>(row).view());
            continue;
         }
         piece.clear();
         appendValueText(piece, call.context, {array.elementType(), -1, 0}, {array.physical(), 0}, element.stored());
         text.append(piece);
      }
      out[row] = text.finish();
   });
}

void textToArray(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      if (call.args[0].isNull(row)) return result.setNull(row);
      std::string_view text = call.args[0].value<StringView>(row).view();
      const bool hasNullText = call.args.size() == 3 && !call.args[2].isNull(row);
      const std::string_view nullText = hasNullText ? call.args[2].value<StringView>(row).view() : std::string_view();
      ArrayBuilder elements(result.strings(), oid::text);
      const auto add = [&](std::string_view field) {
         if (hasNullText && field == nullText)
            elements.addNull();
         else
            elements.addText(field);
      };
      if (call.args[1].isNull(row)) { // no separator: one element per character
         for (; !text.empty(); text.remove_prefix(characterBytes(text[0])))
            add(text.substr(0, characterBytes(text[0])));
      } else if (!text.empty()) {
         const std::string_view separator = call.args[1].value<StringView>(row).view();
         size_t found;
         while (!separator.empty() && (found = findBytes(text, separator)) != std::string_view::npos) {
            add(text.substr(0, found));
            text.remove_prefix(found + separator.size());
         }
         add(text);
      }
      out[row] = elements.finish();
   });
}

void widthBucket(const KernelCall& call, ResultVector& result) {
   int32_t* out = result.values<int32_t>();
   forEachRow(call.rows, [&](uint32_t row) {
      const ArrayView thresholds = arrayAt(call, 1, row);
      requireOneDimension(thresholds, "thresholds must be one-dimensional array");
      const Probe operand(call.args[0], row, thresholds);
      int32_t bucket = 0;
      for (ArrayView::Cursor threshold(thresholds); threshold.next();) {
         if (threshold.isNull())
            throw SqlError(sqlstate::nullValueNotAllowed, "thresholds array must not contain NULLs");
         bucket += operand.compare(threshold.value()) >= 0 ? 1 : 0;
      }
      out[row] = bucket;
   });
}

} // namespace

void registerArray() {
   const auto addAny = [](std::string_view name, ScalarKernel kernel, bool strict = false) {
      registerKernel(name, anyArguments, {kernel, strict, false});
   };
   addAny("array_append", addElement<0>);
   addAny("array_prepend", addElement<1>);
   addAny("array_cat", arrayCat);
   addAny("array_fill", arrayFill);
   addAny("array_fill_with_lower_bounds", arrayFill);
   addAny("array_position", arrayPosition);
   addAny("array_position_start", arrayPosition);
   addAny("array_positions", arrayPositions);
   addAny("array_remove", arrayRemove);
   addAny("array_replace", arrayReplace);
   addAny("trim_array", trimArray, true);
   addAny("array_to_text", arrayToText);
   addAny("array_to_text_null", arrayToText);
   addAny("text_to_array", textToArray);
   addAny("text_to_array_null", textToArray);
   addAny("width_bucket_array", widthBucket, true);
   // Not total: the empty string at a NULL position is not a valid array.
   addKernel<ndims>("array_ndims");
   addKernel<cardinality>("array_cardinality");
   addKernel<length>("array_length");
   addKernel<lower>("array_lower");
   addKernel<upper>("array_upper");
   addKernel<dims>("array_dims");
   addKernel<isEqual>("array_eq");
   addKernel<isNotEqual>("array_ne");
   addKernel<isLess>("array_lt");
   addKernel<isLessOrEqual>("array_le");
   addKernel<isGreater>("array_gt");
   addKernel<isGreaterOrEqual>("array_ge");
   addKernel<compare>("btarraycmp");
   addKernel<larger>("array_larger");
   addKernel<smaller>("array_smaller");
   addKernel<contains>("arraycontains");
   addKernel<isContained>("arraycontained");
   addKernel<overlaps>("arrayoverlap");
}

} // namespace ouzel::executor
