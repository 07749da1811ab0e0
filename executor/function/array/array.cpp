#include "catalog/builtin/builtin.hpp"
#include "executor/function/array/array_operations.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/text/text_search.hpp"
#include "executor/function/text/utf8_text.hpp"
#include "executor/function/value_text.hpp"
#include "executor/kernel/compare.hpp"

// Functions over arrays. Elements are extracted as Values: where speed matters, arrays are small and rare.

namespace ouzel::executor {

int compareElements(const Value& a, const Value& b) {
   alignas(16) std::byte x[16], y[16];
   a.store(x);
   b.store(y);
   return valueOrder(a.type)(x, y);
}

bool equalElements(const Value& a, const Value& b) {
   return compareElements(a, b) == 0;
}

int compareArrays(const ArrayValue& a, const ArrayValue& b) {
   const size_t common = std::min(a.elements.size(), b.elements.size());
   for (size_t i = 0; i < common; ++i) {
      const Value &x = a.elements[i], &y = b.elements[i];
      if (x.isNull && y.isNull) continue;
      if (x.isNull || y.isNull) return x.isNull ? 1 : -1;
      if (const int order = compareElements(x, y); order != 0) return order;
   }
   const auto three = [](auto x, auto y) { return x < y ? -1 : x > y ? 1 : 0; };
   if (const int order = three(a.elements.size(), b.elements.size()); order != 0) return order;
   if (const int order = three(a.dimensions.size(), b.dimensions.size()); order != 0) return order;
   for (size_t d = 0; d < a.dimensions.size(); ++d) {
      if (const int order = three(a.dimensions[d].length, b.dimensions[d].length); order != 0) return order;
      if (const int order = three(a.dimensions[d].lower, b.dimensions[d].lower); order != 0) return order;
   }
   return 0;
}

Oid elementTypeOf(Oid arrayType) {
   const catalog::TypeInfo* info = catalog::builtins().type(arrayType);
   return info && info->isArray() ? info->element : invalidOid;
}

namespace {

ArrayValue arrayAt(const KernelCall& call, size_t arg, uint32_t row) {
   return readArray(call.args[arg].value<StringView>(row).view());
}

/// The array at a row of an argument. NULL gives an empty array with the argument's element type.
ArrayValue arrayOrEmpty(const KernelCall& call, size_t arg, uint32_t row) {
   if (!call.args[arg].isNull(row)) return arrayAt(call, arg, row);
   ArrayValue empty;
   empty.elementType = elementTypeOf(call.resultType.oid);
   if (empty.elementType == invalidOid) empty.elementType = elementTypeOf(call.argTypes[arg].oid);
   empty.physical = arrayElementPhysical(empty.elementType);
   return empty;
}

/// The value as an element of `array`: integers get the width of its elements.
Value asElement(Value value, const ArrayValue& array) {
   if (value.type != array.physical && !isVariableSize(array.physical) && array.physical <= PhysicalType::I64)
      value.type = array.physical;
   return value;
}

void requireOneDimension(const ArrayValue& array, const char* message, SqlState state = sqlstate::dataException) {
   if (array.dimensions.size() > 1) throw SqlError(state, message);
}

/// Write the result of `body(row)` for each row: an array, or nullopt for NULL.
template <typename Body>
void eachArray(const KernelCall& call, ResultVector& result, Body&& body) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      const std::optional<ArrayValue> array = body(row);
      if (!array) return result.setNull(row);
      out[row] = result.strings().copyString(makeArray(*array));
   });
}

// ---- building ----

void appendOne(ArrayValue& array, Value value) {
   if (array.dimensions.empty()) array.dimensions.push_back({0, 1});
   ++array.dimensions[0].length;
   array.elements.push_back(asElement(std::move(value), array));
}

void arrayAppend(const KernelCall& call, ResultVector& result) {
   eachArray(call, result, [&](uint32_t row) -> std::optional<ArrayValue> {
      ArrayValue array = arrayOrEmpty(call, 0, row);
      requireOneDimension(array, "argument must be empty or one-dimensional array");
      appendOne(array, Value::fromVector(call.args[1], row));
      return array;
   });
}

void arrayPrepend(const KernelCall& call, ResultVector& result) {
   eachArray(call, result, [&](uint32_t row) -> std::optional<ArrayValue> {
      ArrayValue array = arrayOrEmpty(call, 1, row);
      requireOneDimension(array, "argument must be empty or one-dimensional array");
      if (array.dimensions.empty()) array.dimensions.push_back({0, 1});
      ++array.dimensions[0].length;
      array.elements.insert(array.elements.begin(), asElement(Value::fromVector(call.args[0], row), array));
      return array;
   });
}

bool sameShape(std::span<const ArrayDimension> a, std::span<const ArrayDimension> b) {
   return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

std::optional<ArrayValue> concatenated(ArrayValue a, ArrayValue b) {
   if (a.dimensions.empty()) return b;
   if (b.dimensions.empty()) return a;
   const auto mismatch = [](const char* detail) {
      throw SqlError(sqlstate::arraySubscriptError, "cannot concatenate incompatible arrays").detail(detail);
   };
   const std::span<const ArrayDimension> da(a.dimensions), db(b.dimensions);
   if (da.size() == db.size()) {
      if (!sameShape(da.subspan(1), db.subspan(1)))
         mismatch("Arrays with differing element dimensions are not compatible for concatenation.");
      a.dimensions[0].length += b.dimensions[0].length;
   } else if (da.size() == db.size() + 1) {
      if (!sameShape(da.subspan(1), db))
         mismatch("Arrays with differing dimensions are not compatible for concatenation.");
      ++a.dimensions[0].length;
   } else if (da.size() + 1 == db.size()) {
      if (!sameShape(da, db.subspan(1)))
         mismatch("Arrays with differing dimensions are not compatible for concatenation.");
      a.dimensions = b.dimensions;
      ++a.dimensions[0].length;
   } else {
      throw SqlError(sqlstate::arraySubscriptError, "cannot concatenate incompatible arrays")
          .detail("Arrays of " + std::to_string(da.size()) + " and " + std::to_string(db.size()) +
                  " dimensions are not compatible for concatenation.");
   }
   for (Value& element : b.elements)
      a.elements.push_back(std::move(element));
   return a;
}

void arrayCat(const KernelCall& call, ResultVector& result) {
   eachArray(call, result, [&](uint32_t row) -> std::optional<ArrayValue> {
      if (call.args[0].isNull(row) && call.args[1].isNull(row)) return std::nullopt;
      if (call.args[0].isNull(row)) return arrayAt(call, 1, row);
      if (call.args[1].isNull(row)) return arrayAt(call, 0, row);
      return concatenated(arrayAt(call, 0, row), arrayAt(call, 1, row));
   });
}

void arrayFill(const KernelCall& call, ResultVector& result) {
   eachArray(call, result, [&](uint32_t row) -> std::optional<ArrayValue> {
      const bool hasLower = call.args.size() == 3;
      if (call.args[1].isNull(row) || (hasLower && call.args[2].isNull(row)))
         throw SqlError(sqlstate::nullValueNotAllowed, "dimension array or low bound array cannot be null");
      const ArrayValue lengths = arrayAt(call, 1, row);
      const ArrayValue lowers = hasLower ? arrayAt(call, 2, row) : ArrayValue{};
      ArrayValue array;
      array.elementType = elementTypeOf(call.resultType.oid);
      array.physical = arrayElementPhysical(array.elementType);
      size_t count = lengths.elements.empty() ? 0 : 1;
      for (size_t i = 0; i < lengths.elements.size(); ++i) {
         if (lengths.elements[i].isNull)
            throw SqlError(sqlstate::nullValueNotAllowed, "dimension values cannot be null");
         const auto length = static_cast<int32_t>(lengths.elements[i].i64);
         if (length < 0 || count * static_cast<size_t>(length) > (1u << 26))
            throw SqlError(sqlstate::programLimitExceeded, "array size exceeds the maximum allowed (134217727)");
         const int32_t lower = i < lowers.elements.size() ? static_cast<int32_t>(lowers.elements[i].i64) : 1;
         array.dimensions.push_back({length, lower});
         count *= static_cast<size_t>(length);
      }
      if (count == 0) array.dimensions.clear();
      array.elements.assign(count, asElement(Value::fromVector(call.args[0], row), array));
      return array;
   });
}

// ---- size and shape ----

std::optional<int32_t> ndims(const StringView& s) {
   const size_t count = readArray(s.view()).dimensions.size();
   return count == 0 ? std::nullopt : std::optional(static_cast<int32_t>(count));
}
int32_t cardinality(const StringView& s) {
   return static_cast<int32_t>(arraySize(s.view()));
}
std::optional<ArrayDimension> dimension(const StringView& s, int32_t n) {
   const ArrayValue array = readArray(s.view());
   if (n < 1 || static_cast<size_t>(n) > array.dimensions.size()) return std::nullopt;
   return array.dimensions[static_cast<size_t>(n - 1)];
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
   const ArrayValue array = readArray(s.view());
   if (array.dimensions.empty()) return std::nullopt;
   std::string text;
   for (const ArrayDimension& d : array.dimensions)
      text += "[" + std::to_string(d.lower) + ":" + std::to_string(d.lower + d.length - 1) + "]";
   return env.copy(text);
}

// ---- search and change ----

/// Call `found` with the subscript of every element that is not distinct from the value.
template <typename Found>
void findAll(const ArrayValue& array, const Value& value, Found&& found) {
   const int32_t lowerBound = array.dimensions.empty() ? 1 : array.dimensions[0].lower;
   for (size_t i = 0; i < array.elements.size(); ++i) {
      const Value& element = array.elements[i];
      const bool same = element.isNull || value.isNull ? element.isNull && value.isNull : equalElements(element, value);
      if (same && !found(static_cast<int32_t>(i) + lowerBound)) return;
   }
}

void arrayPosition(const KernelCall& call, ResultVector& result) {
   int32_t* out = result.values<int32_t>();
   forEachRow(call.rows, [&](uint32_t row) {
      if (call.args[0].isNull(row)) return result.setNull(row);
      const ArrayValue array = arrayAt(call, 0, row);
      requireOneDimension(array, "searching for elements in multidimensional arrays is not supported",
                          sqlstate::featureNotSupported);
      int32_t start = INT32_MIN;
      if (call.args.size() == 3) {
         if (call.args[2].isNull(row))
            throw SqlError(sqlstate::nullValueNotAllowed, "initial position must not be null");
         start = call.args[2].value<int32_t>(row);
      }
      bool isFound = false;
      findAll(array, asElement(Value::fromVector(call.args[1], row), array), [&](int32_t place) {
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
      const ArrayValue array = arrayAt(call, 0, row);
      requireOneDimension(array, "searching for elements in multidimensional arrays is not supported",
                          sqlstate::featureNotSupported);
      std::vector<Value> places;
      findAll(array, asElement(Value::fromVector(call.args[1], row), array), [&](int32_t place) {
         places.push_back(Value::integer(PhysicalType::I32, place));
         return true;
      });
      out[row] = result.strings().copyString(makeArray(oid::int4, places));
   });
}

void arrayRemove(const KernelCall& call, ResultVector& result) {
   eachArray(call, result, [&](uint32_t row) -> std::optional<ArrayValue> {
      if (call.args[0].isNull(row)) return std::nullopt;
      ArrayValue array = arrayAt(call, 0, row);
      if (array.dimensions.size() > 1) throwNotSupported("removing elements from multidimensional arrays");
      const Value value = asElement(Value::fromVector(call.args[1], row), array);
      std::erase_if(array.elements, [&](const Value& element) {
         return element.isNull || value.isNull ? element.isNull && value.isNull : equalElements(element, value);
      });
      if (array.elements.empty()) {
         array.dimensions.clear();
      } else {
         array.dimensions[0].length = static_cast<int32_t>(array.elements.size());
      }
      return array;
   });
}

void arrayReplace(const KernelCall& call, ResultVector& result) {
   eachArray(call, result, [&](uint32_t row) -> std::optional<ArrayValue> {
      if (call.args[0].isNull(row)) return std::nullopt;
      ArrayValue array = arrayAt(call, 0, row);
      const Value from = asElement(Value::fromVector(call.args[1], row), array),
                  to = asElement(Value::fromVector(call.args[2], row), array);
      for (Value& element : array.elements)
         if (element.isNull || from.isNull ? element.isNull && from.isNull : equalElements(element, from)) element = to;
      return array;
   });
}

void trimArray(const KernelCall& call, ResultVector& result) {
   eachArray(call, result, [&](uint32_t row) -> std::optional<ArrayValue> {
      ArrayValue array = arrayAt(call, 0, row);
      const int32_t n = call.args[1].value<int32_t>(row);
      const int32_t present = array.dimensions.empty() ? 0 : array.dimensions[0].length;
      if (n < 0 || n > present)
         throw SqlError(sqlstate::arrayElementError,
                        "number of elements to trim must be between 0 and " + std::to_string(present));
      if (present == 0) return array;
      const size_t perRow = array.elements.size() / static_cast<size_t>(present);
      array.dimensions[0].length -= n;
      array.elements.resize(perRow * static_cast<size_t>(array.dimensions[0].length));
      if (array.elements.empty()) array.dimensions.clear();
      return array;
   });
}

// ---- comparison and containment ----

int order(const StringView& a, const StringView& b) {
   return compareArrays(readArray(a.view()), readArray(b.view()));
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

bool hasElement(const ArrayValue& array, const Value& value) {
   if (value.isNull) return false;
   for (const Value& element : array.elements)
      if (!element.isNull && equalElements(element, value)) return true;
   return false;
}
bool contains(const StringView& a, const StringView& b) {
   const ArrayValue outer = readArray(a.view()), inner = readArray(b.view());
   return std::all_of(inner.elements.begin(), inner.elements.end(),
                      [&](const Value& value) { return hasElement(outer, value); });
}
bool isContained(const StringView& a, const StringView& b) {
   return contains(b, a);
}
bool overlaps(const StringView& a, const StringView& b) {
   const ArrayValue x = readArray(a.view()), y = readArray(b.view());
   return std::any_of(x.elements.begin(), x.elements.end(), [&](const Value& value) { return hasElement(y, value); });
}

// ---- text ----

void arrayToText(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   const bool hasNullText = call.args.size() == 3;
   forEachRow(call.rows, [&](uint32_t row) {
      if (call.args[0].isNull(row) || call.args[1].isNull(row)) return result.setNull(row);
      const ArrayValue array = arrayAt(call, 0, row);
      const std::string_view delimiter = call.args[1].value<StringView>(row).view();
      std::string text;
      bool isFirst = true;
      for (const Value& element : array.elements) {
         if (element.isNull && (!hasNullText || call.args[2].isNull(row))) continue;
         if (!isFirst) text.append(delimiter);
         isFirst = false;
         if (element.isNull) {
            text.append(call.args[2].value<StringView>(row).view());
         } else {
            alignas(16) std::byte bytes[16];
            element.store(bytes);
            appendValueText(text, call.context, {array.elementType, -1, 0}, {array.physical, 0}, bytes);
         }
      }
      out[row] = result.strings().copyString(text);
   });
}

void textToArray(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      if (call.args[0].isNull(row)) return result.setNull(row);
      std::string_view text = call.args[0].value<StringView>(row).view();
      const bool hasNullText = call.args.size() == 3 && !call.args[2].isNull(row);
      const std::string_view nullText = hasNullText ? call.args[2].value<StringView>(row).view() : std::string_view();
      std::vector<Value> elements;
      const auto add = [&](std::string_view field) {
         elements.push_back(hasNullText && field == nullText ? Value::null(PhysicalType::String)
                                                             : Value::string(std::string(field)));
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
      out[row] = result.strings().copyString(makeArray(oid::text, elements));
   });
}

void widthBucket(const KernelCall& call, ResultVector& result) {
   int32_t* out = result.values<int32_t>();
   forEachRow(call.rows, [&](uint32_t row) {
      const ArrayValue thresholds = arrayAt(call, 1, row);
      requireOneDimension(thresholds, "thresholds must be one-dimensional array");
      const Value operand = asElement(Value::fromVector(call.args[0], row), thresholds);
      int32_t bucket = 0;
      for (const Value& threshold : thresholds.elements) {
         if (threshold.isNull) throw SqlError(sqlstate::nullValueNotAllowed, "thresholds array must not contain NULLs");
         bucket += compareElements(operand, threshold) >= 0 ? 1 : 0;
      }
      out[row] = bucket;
   });
}

} // namespace

void registerArray() {
   const auto addAny = [](std::string_view name, ScalarKernel kernel, bool strict = false) {
      registerKernel(name, anyArguments, {kernel, strict, false});
   };
   addAny("array_append", arrayAppend);
   addAny("array_prepend", arrayPrepend);
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
