#include "common/type/order_key.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/base_type/citext.hpp"
#include "common/base_type/cube.hpp"
#include "common/base_type/ts_query.hpp"
#include "common/json/jsonb.hpp"
#include "common/number/decimal.hpp"
#include "common/text/ascii.hpp"
#include "common/thread/stack.hpp"
#include "common/type/array.hpp"
#include "common/type/blanks.hpp"
#include "common/type/date_time_math.hpp"
#include "common/type/range.hpp"
#include "common/type/row.hpp"

namespace ouzel {

namespace {

template <typename T>
void appendBigEndian(std::string& out, T value) {
   for (size_t i = 0; i < sizeof(T); ++i)
      out.push_back(static_cast<char>(value >> (8 * (sizeof(T) - 1 - i))));
}

template <typename Signed, typename Unsigned>
void appendInteger(std::string& out, Signed value) {
   appendBigEndian(out, static_cast<Unsigned>(value) ^ (Unsigned{1} << (8 * sizeof(Unsigned) - 1)));
}

/// Negative numbers turn round. All NaNs are the largest value, and both zeros are equal.
template <typename Float, typename Bits>
void appendFloat(std::string& out, Float value) {
   constexpr Bits signBit = Bits{1} << (8 * sizeof(Bits) - 1);
   Bits bits = std::bit_cast<Bits>(value == 0 ? Float{0} : value);
   if (value != value) bits = ~signBit;
   appendBigEndian(out, (bits & signBit) != 0 ? static_cast<Bits>(~bits) : static_cast<Bits>(bits | signBit));
}

void appendText(std::string& out, std::string_view text) {
   for (size_t zero; (zero = text.find('\0')) != std::string_view::npos; text.remove_prefix(zero + 1)) {
      out.append(text.substr(0, zero + 1));
      out.push_back(1);
   }
   out.append(text).append(2, '\0');
}

/// `isWhole`: the value is no part of another one.
void appendJsonb(std::string& out, const json::JsonbView& value, bool isWhole) {
   const auto type = [&](char rank) { out.push_back(rank); };
   switch (value.kind()) {
   case json::Kind::Null: return type(1);
   case json::Kind::String: type(2); return appendText(out, value.string());
   case json::Kind::Number: type(3); return decimal::appendSortKey(out, value.number());
   case json::Kind::Boolean: type(4); return type(value.boolean());
   case json::Kind::Array: type(isWhole && value.size() == 0 ? 0 : 5); break;
   case json::Kind::Object: type(6); break;
   }
   checkStack();
   appendBigEndian(out, value.size());
   for (uint32_t i = 0; i < value.size(); ++i) {
      if (value.kind() == json::Kind::Object) appendText(out, value.key(i));
      appendJsonb(out, value.element(i), false);
   }
}

/// The key of an element of an array or a field of a row; `element` gives its value as as<T>().
template <typename Element>
void appendPart(std::string& out, Oid elementType, PhysicalType type, const Element& element) {
   if (elementType == oid::bpchar) return appendText(out, trimTrailingBlanks(element.template as<StringView>().view()));
   if (elementType == oid::citext) return appendText(out, lowerCase(element.template as<StringView>().view()));
   if (hasOrderKey({elementType, -1, invalidOid}))
      return appendOrderKey(out, {elementType, -1, invalidOid}, element.template as<StringView>().view());
   switch (type) {
   case PhysicalType::Bool: out.push_back(static_cast<char>(element.template as<uint8_t>())); return;
   case PhysicalType::I16: return appendInteger<int16_t, uint16_t>(out, element.template as<int16_t>());
   case PhysicalType::I32: return appendInteger<int32_t, uint32_t>(out, element.template as<int32_t>());
   case PhysicalType::I64: return appendInteger<int64_t, uint64_t>(out, element.template as<int64_t>());
   case PhysicalType::I128: return appendInteger<int128, uint128>(out, element.template as<int128>());
   case PhysicalType::F32: return appendFloat<float, uint32_t>(out, element.template as<float>());
   case PhysicalType::F64: return appendFloat<double, uint64_t>(out, element.template as<double>());
   case PhysicalType::Interval:
      return appendInteger<int128, uint128>(out, intervalSpan(element.template as<Interval>()));
   case PhysicalType::String: return appendText(out, element.template as<StringView>().view());
   case PhysicalType::Decimal: decimal::appendSortKey(out, element.template as<StringView>()); return;
   }
}

void appendBound(std::string& out, const RangeKind& kind, const RangeBound& bound) {
   if (bound.isInfinite) return out.push_back(bound.isLower ? 0 : 2);
   out.push_back(1);
   appendPart(out, kind.subtype(), kind.physical(), bound);
   out.push_back(bound.isInclusive == bound.isLower ? 0 : 1);
}

void appendRangeParts(std::string& out, const RangeKind& kind, const Range& range) {
   out.push_back(range.isEmpty ? 0 : 1);
   if (range.isEmpty) return;
   appendBound(out, kind, range.lower);
   appendBound(out, kind, range.upper);
}

} // namespace

void appendArrayKey(std::string& out, std::string_view bytes) {
   const ArrayView array(bytes);
   for (ArrayView::Cursor element(array); element.next();) {
      out.push_back(element.isNull() ? 2 : 1);
      if (!element.isNull()) appendPart(out, array.elementType(), array.physical(), element);
   }
   out.push_back(0);
   out.push_back(static_cast<char>(array.dimensionCount()));
   for (const ArrayDimension& dimension : array.dimensions()) {
      appendInteger<int32_t, uint32_t>(out, dimension.length);
      appendInteger<int32_t, uint32_t>(out, dimension.lower);
   }
}

void appendRowKey(std::string& out, std::string_view bytes, uint32_t fields) {
   checkStack();
   const RowView row(bytes);
   for (RowView::Cursor field(row); fields > 0 && field.next(); --fields) {
      out.push_back(field->isNull ? 2 : 1);
      if (!field->isNull) appendPart(out, field->type, field->physical, *field);
   }
}

void appendRangeKey(std::string& out, std::string_view bytes) {
   RangeReader reader(bytes);
   appendRangeParts(out, reader.kind(), reader.next());
}

void appendMultirangeKey(std::string& out, std::string_view bytes) {
   RangeReader reader(bytes);
   const uint32_t count = reader.nextCount();
   for (uint32_t i = 0; i < count; ++i)
      appendRangeParts(out, reader.kind(), reader.next());
   out.push_back(0);
}

void appendJsonbKey(std::string& out, std::string_view value) {
   appendJsonb(out, json::JsonbView(value), true);
}

namespace {

/// One bound of all dimensions, in lexicographic order. Missing dimensions are 0, so each number is preceded by the
/// sign of the next one that is not 0: 0 for negative, 2 for positive; 1: there is none, and the list ends.
template <typename Bound>
void appendBounds(std::string& out, uint32_t dimensions, const Bound& bound) {
   uint32_t next = 0; // index of the next number that is not 0
   for (uint32_t i = 0; i < dimensions; ++i) {
      for (next = std::max(next, i); next < dimensions && bound(next) == 0;)
         ++next;
      if (next == dimensions) break;
      out.push_back(bound(next) < 0 ? 0 : 2);
      appendFloat<double, uint64_t>(out, bound(i));
   }
   out.push_back(1);
}

} // namespace

void appendCubeKey(std::string& out, std::string_view bytes) {
   const CubeView cube(bytes);
   appendBounds(out, cube.dimensions(), [&](uint32_t i) { return cube.low(i); });
   appendBounds(out, cube.dimensions(), [&](uint32_t i) { return cube.high(i); });
   out.push_back(static_cast<char>(cube.dimensions()));
}

namespace {

/// Shorter ones come first.
void appendOidVectorKey(std::string& out, std::string_view value) {
   const uint32_t size = __builtin_bswap32(ArrayView(value).size());
   out.append(reinterpret_cast<const char*>(&size), sizeof size);
   appendArrayKey(out, value);
}

} // namespace

bool hasOrderKey(const SqlType& type) {
   return type.oid == oid::jsonb || type.oid == oid::citext || type.oid == oid::cube || type.oid == oid::tsquery ||
          keepsBlanks(type) || isRowValue(type.oid) || findRangeType(type.oid) || findMultirangeType(type.oid) ||
          arrayElementType(type.oid) != invalidOid || type.oid == oid::int2vector || type.oid == oid::oidvector;
}

void appendOrderKey(std::string& out, const SqlType& type, std::string_view value) {
   DCHECK(hasOrderKey(type));
   if (keepsBlanks(type))
      out.append(trimTrailingBlanks(value));
   else if (type.oid == oid::citext)
      out += lowerCase(value);
   else if (type.oid == oid::jsonb)
      appendJsonbKey(out, value);
   else if (type.oid == oid::cube)
      appendCubeKey(out, value);
   else if (type.oid == oid::tsquery)
      out += tsQueryKey(value);
   else if (isRowValue(type.oid))
      appendRowKey(out, value);
   else if (findRangeType(type.oid))
      appendRangeKey(out, value);
   else if (findMultirangeType(type.oid))
      appendMultirangeKey(out, value);
   else if (type.oid == oid::oidvector)
      appendOidVectorKey(out, value);
   else
      appendArrayKey(out, value);
}

namespace {

/// A value as appendPart() reads it.
struct WholeValue {
   const std::byte* place;
   template <typename T>
   T as() const {
      T value;
      std::memcpy(&value, place, sizeof(T));
      return value;
   }
};

} // namespace

void appendValueKey(std::string& out, const SqlType& type, const Value& value) {
   DCHECK(!value.isNull);
   if (value.type == PhysicalType::I16 || value.type == PhysicalType::I32 || value.type == PhysicalType::I64)
      return appendInteger<int64_t, uint64_t>(out, value.i64); // an int8 is compared with an int2
   alignas(16) std::byte place[16];
   value.store(place);
   appendPart(out, type.oid, value.type, WholeValue{place});
}

Vector orderKeys(const SqlType& type, const Vector& values, uint32_t count, Arena& arena) {
   DCHECK(hasOrderKey(type));
   auto* keys = arena.allocateArray<StringView>(count);
   auto* validity = arena.allocateArray<ValidityWord>(validityWords(count));
   std::string key;
   for (uint32_t row = 0; row < count; ++row) {
      const bool isNull = values.isNull(row);
      setValidBit(validity, row, !isNull);
      keys[row] = StringView();
      if (isNull) continue;
      const std::string_view value = values.value<StringView>(row).view();
      if (keepsBlanks(type)) {
         keys[row] = StringView(trimTrailingBlanks(value));
         continue;
      }
      key.clear();
      appendOrderKey(key, type, value);
      keys[row] = arena.copyString(key);
   }
   return Vector::flat(PhysicalType::String, keys, values.mayHaveNulls() ? validity : nullptr);
}

} // namespace ouzel
