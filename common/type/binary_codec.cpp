#include "common/type/binary_codec.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "common/base_type/citext.hpp"
#include "common/base_type/hstore.hpp"
#include "common/base_type/ltree.hpp"
#include "common/base_type/ltree_query.hpp"
#include "common/base_type/ts_query.hpp"
#include "common/base_type/type_form.hpp"
#include "common/base_type/wire.hpp"
#include "common/error/sql_error.hpp"
#include "common/json/jsonb_text.hpp"
#include "common/json/jsonpath.hpp"
#include "common/number/decimal.hpp"
#include "common/text/utf8.hpp"
#include "common/thread/stack.hpp"
#include "common/type/array.hpp"
#include "common/type/date_time.hpp"
#include "common/type/enum_labels.hpp"
#include "common/type/range.hpp"
#include "common/type/row.hpp"
#include "common/type/text_codec.hpp"
#include "common/value/object_names.hpp"
#include "common/xml/declaration.hpp"
#include "common/xml/document.hpp"

namespace ouzel {

namespace {

constexpr uint128 uuidTopBit = static_cast<uint128>(1) << 127;

void appendArray(std::string& out, std::string_view bytes, const UserTypes* types) {
   const ArrayValue array = readArray(bytes);
   const SqlType element{array.elementType, -1, invalidOid};
   bool hasNulls = false;
   for (const Value& v : array.elements)
      hasNulls |= v.isNull;
   appendBig(out, static_cast<int32_t>(array.dimensions.size()));
   appendBig(out, static_cast<int32_t>(hasNulls));
   appendBig(out, array.elementType);
   for (const ArrayDimension& d : array.dimensions) {
      appendBig(out, d.length);
      appendBig(out, d.lower);
   }
   for (const Value& v : array.elements) {
      if (v.isNull) {
         appendBig(out, int32_t{-1});
         continue;
      }
      alignas(16) unsigned char place[16] = {};
      v.store(place);
      const size_t start = out.size();
      appendBig(out, int32_t{0});
      appendBinary(out, element, {v.type, 0}, place, types);
      const int32_t length = swapBytes(static_cast<int32_t>(out.size() - start - 4));
      std::memcpy(out.data() + start, &length, sizeof length);
   }
}

/// parseBinary for an element or field: a numeric is a Decimal even where a column of its type would be scaled.
Value parsePart(const SqlType& type, std::string_view bytes, const UserTypes* types) {
   const bool isNumeric = type.oid == oid::numeric;
   const Oid arrayOfDomain = arrayElementType(type.oid) ? type.domain : invalidOid;
   Value v = parseBinary({type.oid, isNumeric ? -1 : type.typmod, invalidOid, arrayOfDomain}, bytes, types);
   if (isNumeric && type.typmod >= 0) {
      Arena arena;
      v.bytes = std::string(decimal::applyTypmod(StringView(v.bytes), type.typmod, arena).view());
   }
   return v;
}

/// `domain`: of which the elements may be as well; 0: none.
std::string readArrayBinary(std::string_view bytes, Oid elementType, int32_t typmod, const UserTypes* types,
                            Oid domain = invalidOid) {
   WireReader reader(bytes);
   const int32_t dimensions = reader.take<int32_t>();
   const int32_t flags = reader.take<int32_t>();
   const Oid sent = reader.take<Oid>();
   if (dimensions < 0 || dimensions > 6)
      throw SqlError(sqlstate::invalidBinaryRepresentation,
                     "invalid number of dimensions: " + std::to_string(dimensions));
   if (flags != 0 && flags != 1) throw SqlError(sqlstate::invalidBinaryRepresentation, "invalid array flags");
   if (sent != elementType && (domain == invalidOid || sent != domain))
      throw SqlError(sqlstate::datatypeMismatch, "binary data has array element type " + std::to_string(sent) + " (" +
                                                     formatType({sent, -1, invalidOid}) + ") instead of expected " +
                                                     std::to_string(elementType) + " (" +
                                                     formatType({elementType, -1, invalidOid}) + ")");
   ArrayValue array;
   array.elementType = elementType;
   array.physical = arrayElementPhysical(elementType);
   int64_t count = dimensions == 0 ? 0 : 1;
   for (int32_t i = 0; i < dimensions; ++i) {
      const int32_t length = reader.take<int32_t>(), lower = reader.take<int32_t>();
      if (length < 0 || count * length > 134'217'727)
         throw SqlError(sqlstate::programLimitExceeded, "array size exceeds the maximum allowed (134217727)");
      count *= length;
      array.dimensions.push_back({length, lower});
   }
   if (count == 0) array.dimensions.clear();
   for (int64_t i = 0; i < count; ++i) {
      const int32_t length = reader.take<int32_t>();
      if (length == -1) {
         array.elements.push_back(Value::null(array.physical));
         continue;
      }
      if (length < 0) throw SqlError(sqlstate::invalidBinaryRepresentation, "insufficient data left in message");
      array.elements.push_back(
          parsePart({elementType, typmod, invalidOid}, reader.takeBytes(static_cast<size_t>(length)), types));
   }
   reader.finish();
   return makeArray(array);
}

/// Calls `part(type, named, field)` for each column of a row that is not dropped: the type of the field's value, and
/// the column's type, which may be a domain over it. The field of a column that came after the value is NULL.
template <typename Part>
void eachField(const RowView& row, const RowFields& columns, Part&& part) {
   RowView::Cursor field(row);
   while (field.next())
      if (!columns)
         part(field->type, field->type, *field);
      else if (const RowField& column = columnOf(*columns, field.index()); !column.isDropped)
         part(field->type, column.type.named(), *field);
   for (size_t i = row.size(); columns && i < columns->size(); ++i)
      if (!(*columns)[i].isDropped) part((*columns)[i].type.oid, (*columns)[i].type.named(), RowView::Field());
}

RowFields columnsOf(Oid type, const UserTypes* types) {
   if (!types) throwInternal("a value of a row type, and no catalog to look its columns up in");
   return types->rowFields(type);
}

void appendRow(std::string& out, std::string_view bytes, const UserTypes* types) {
   checkStack();
   const RowView row(bytes);
   const RowFields columns = row.type() == oid::record ? nullptr : columnsOf(row.type(), types);
   int32_t count = 0;
   eachField(row, columns, [&](Oid, Oid, const RowView::Field&) { ++count; });
   appendBig(out, count);
   eachField(row, columns, [&](Oid type, Oid named, const RowView::Field& field) {
      appendBig(out, named);
      if (field.isNull) return appendBig(out, int32_t{-1});
      const size_t start = out.size();
      appendBig(out, int32_t{0});
      appendBinary(out, {type, -1, invalidOid}, {field.physical, 0}, field.value, types);
      const int32_t length = swapBytes(static_cast<int32_t>(out.size() - start - 4));
      std::memcpy(out.data() + start, &length, sizeof length);
   });
}

std::string readRowBinary(std::string_view bytes, Oid rowType, const UserTypes* types) {
   checkStack();
   const RowFields columns = columnsOf(rowType, types);
   WireReader reader(bytes);
   const auto live = std::count_if(columns->begin(), columns->end(), [](const RowField& f) { return !f.isDropped; });
   if (const int32_t sent = reader.take<int32_t>(); sent != live)
      throw SqlError(sqlstate::datatypeMismatch,
                     "wrong number of columns: " + std::to_string(sent) + ", expected " + std::to_string(live));
   std::vector<Value> values(columns->size());
   for (size_t i = 0; i < columns->size(); ++i) {
      const RowField& column = (*columns)[i];
      if (column.isDropped) continue;
      const Oid sent = reader.take<Oid>();
      if (sent != column.type.named())
         throw SqlError(sqlstate::datatypeMismatch, "binary data has type " + std::to_string(sent) +
                                                        " instead of expected " + std::to_string(column.type.named()) +
                                                        " in record column " + std::to_string(i + 1));
      const int32_t length = reader.take<int32_t>();
      if (length < -1) throw SqlError(sqlstate::invalidBinaryRepresentation, "insufficient data left in message");
      values[i] = Value::null(rowFieldPhysical(column.type.oid));
      if (length >= 0) values[i] = parsePart(column.type, reader.takeBytes(static_cast<size_t>(length)), types);
      checkDomain(column.type, values[i], types);
   }
   reader.finish();
   return makeRow(rowType, *columns, values);
}

/// As withPrinter of text_codec.cpp.
template <typename Emit>
void withWriter(const SqlType& type, Representation representation, const UserTypes* types, Emit&& emit) {
   const auto fromIntegers = [&](auto write) {
      switch (representation.physical) {
      case PhysicalType::I16: return emit.template operator()<int16_t>(write);
      case PhysicalType::I32: return emit.template operator()<int32_t>(write);
      case PhysicalType::I64: return emit.template operator()<int64_t>(write);
      default: throwInternal("integer in an unexpected representation");
      }
   };
   const auto strings = [&](auto write) { return emit.template operator()<StringView>(write); };
   switch (isObjectName(type.oid) ? oid::oid : type.oid) {
   case oid::boolean:
      return emit.template operator()<uint8_t>(
          [](std::string& out, uint8_t v) { out.push_back(static_cast<char>(v != 0)); });
   case oid::int2: return fromIntegers([](std::string& out, auto v) { appendBig(out, static_cast<int16_t>(v)); });
   case oid::int4:
   case oid::date:
   case oid::oid:
   case oid::xid:
   case oid::cid: return fromIntegers([](std::string& out, auto v) { appendBig(out, static_cast<int32_t>(v)); });
   case oid::int8:
   case oid::xid8:
   case oid::time:
   case oid::timestamp:
   case oid::timestamptz:
      return fromIntegers([](std::string& out, auto v) { appendBig(out, static_cast<int64_t>(v)); });
   case oid::float4:
      return emit.template operator()<float>(
          [](std::string& out, float v) { appendBig(out, std::bit_cast<int32_t>(v)); });
   case oid::float8:
      return emit.template operator()<double>(
          [](std::string& out, double v) { appendBig(out, std::bit_cast<int64_t>(v)); });
   case oid::numeric: {
      if (representation.physical == PhysicalType::Decimal)
         return strings([](std::string& out, StringView v) { decimal::appendBinary(out, v); });
      const int32_t scale = representation.scale;
      if (representation.physical == PhysicalType::I128)
         return emit.template operator()<int128>([scale](std::string& out, int128 v) {
            Arena arena;
            decimal::appendBinary(out, decimal::fromInt128(v, scale, arena));
         });
      return fromIntegers([scale](std::string& out, auto v) { decimal::appendBinaryScaled(out, v, scale); });
   }
   case oid::timetz:
      return strings([](std::string& out, StringView v) {
         const TimeTz t = readTimeTz(v.view());
         appendBig(out, t.micros);
         appendBig(out, t.zone);
      });
   case oid::interval:
      return emit.template operator()<Interval>([](std::string& out, const Interval& v) {
         appendBig(out, v.micros);
         appendBig(out, v.days);
         appendBig(out, v.months);
      });
   case oid::uuid:
      return emit.template operator()<int128>([](std::string& out, int128 v) {
         const uint128 value = static_cast<uint128>(v) ^ uuidTopBit;
         appendBig(out, static_cast<uint64_t>(value >> 64));
         appendBig(out, static_cast<uint64_t>(value));
      });
   case oid::jsonb:
      return strings([](std::string& out, StringView v) {
         out.push_back(1); // version
         json::appendText(out, json::JsonbView(v.view()));
      });
   case oid::jsonpath:
      return strings([](std::string& out, StringView v) {
         out.push_back(1); // version
         json::appendPathText(out, v.view());
      });
   case oid::xml: return strings([](std::string& out, StringView v) { xml::appendForClient(out, v.view()); });
   case oid::bpchar: {
      const SqlType bpchar = type;
      return strings([bpchar](std::string& out, StringView v) {
         appendText(out, bpchar, {PhysicalType::String, 0}, &v, SessionFormat());
      });
   }
   case oid::bytea: return strings([](std::string& out, StringView v) { out.append(v.data(), v.size()); });
   case oid::character:
      return strings([](std::string& out, StringView v) { out.push_back(v.empty() ? '\0' : v.data()[0]); });
   case oid::aclitem: throwNotSupported("binary form of type " + formatType(type));
   default:
      if (const TypeForm* form = findTypeForm(type.oid)) {
         const auto write = [form](std::string& out, auto v) { form->appendBinary(out, &v); };
         if (representation.physical == PhysicalType::I64) return emit.template operator()<int64_t>(write);
         return strings(write);
      }
      if (isEnumType(type.oid)) {
         const EnumLabelsPtr labels = labelsOf(type.oid, types);
         return emit.template operator()<int64_t>(
             [&labels](std::string& out, int64_t v) { out.append(labels->require(v).name); });
      }
      if (arrayElementType(type.oid) != invalidOid || type.oid == oid::int2vector || type.oid == oid::oidvector ||
          type.oid == oid::anyarray)
         return strings([types](std::string& out, StringView v) { appendArray(out, v.view(), types); });
      if (isRowValue(type.oid))
         return strings([types](std::string& out, StringView v) { appendRow(out, v.view(), types); });
      if (findRangeType(type.oid))
         return strings([types](std::string& out, StringView v) { appendRangeBinary(out, v.view(), types); });
      if (findMultirangeType(type.oid))
         return strings([types](std::string& out, StringView v) { appendMultirangeBinary(out, v.view(), types); });
      return strings([](std::string& out, StringView v) { out.append(v.data(), v.size()); });
   }
}

template <typename T>
void put(void* target, T value) {
   std::memcpy(target, &value, sizeof value);
}

int64_t checkedTimestamp(int64_t v) {
   if (!isInfiniteTimestamp(v) && !isValidTimestamp(v))
      throw SqlError(sqlstate::datetimeValueOutOfRange, "timestamp out of range");
   return v;
}

int64_t checkedTime(int64_t v) {
   if (v < 0 || v > microsPerDay) throw SqlError(sqlstate::datetimeValueOutOfRange, "time out of range");
   return v;
}

/// Bytes that are text: as the input function takes them.
void putText(void* target, const SqlType& type, std::string_view bytes, Arena& arena) {
   checkUtf8(bytes);
   parseTextInto(target, type, bytes, SessionFormat(), arena);
}

} // namespace

void appendBinary(std::string& out, const SqlType& type, Representation representation, const void* value,
                  const UserTypes* types) {
   withWriter(type, representation, types, [&]<typename T>(auto write) {
      T v;
      std::memcpy(static_cast<void*>(&v), value, sizeof v);
      write(out, v);
   });
}

void appendBinaryColumn(std::string& bytes, uint32_t* ends, const SqlType& type, Representation representation,
                        const Vector& values, const Selection& selection, const UserTypes* types) {
   withWriter(type, representation, types, [&]<typename T>(auto write) {
      const T* data = values.values<T>();
      forEachRow(selection, [&](uint32_t row) {
         const uint32_t position = values.positionOf(row);
         if (isValidBit(values.validity, position)) write(bytes, data[position]);
         *ends++ = static_cast<uint32_t>(bytes.size());
      });
   });
}

void parseBinaryInto(void* target, const SqlType& type, std::string_view bytes, Arena& arena, const UserTypes* types) {
   switch (isObjectName(type.oid) ? oid::oid : type.oid) {
   case oid::boolean: {
      if (bytes.empty()) throwTooShort();
      if (bytes.size() > 1) throwIncorrect();
      return put(target, static_cast<uint8_t>(bytes[0] != 0));
   }
   case oid::int2: return put(target, readOnly<int16_t>(bytes));
   case oid::int4: return put(target, readOnly<int32_t>(bytes));
   case oid::date: {
      const int32_t v = readOnly<int32_t>(bytes);
      if (!isInfiniteDate(v) && !isValidDate(v)) throw SqlError(sqlstate::datetimeValueOutOfRange, "date out of range");
      return put(target, v);
   }
   case oid::oid:
   case oid::xid:
   case oid::cid: return put(target, static_cast<int64_t>(readOnly<uint32_t>(bytes)));
   case oid::int8:
   case oid::xid8: return put(target, readOnly<int64_t>(bytes));
   case oid::time: return put(target, roundTime(checkedTime(readOnly<int64_t>(bytes)), type.typmod));
   case oid::timestamp:
   case oid::timestamptz: return put(target, roundTimestamp(checkedTimestamp(readOnly<int64_t>(bytes)), type.typmod));
   case oid::timetz: {
      WireReader reader(bytes);
      TimeTz t{};
      t.micros = checkedTime(reader.take<int64_t>());
      t.zone = reader.take<int32_t>();
      reader.finish();
      if (t.zone <= -16 * 3600 || t.zone >= 16 * 3600)
         throw SqlError(sqlstate::invalidTimeZoneDisplacementValue, "time zone displacement out of range");
      t.micros = roundTime(t.micros, type.typmod);
      return put(target, arena.copyString(timeTzBytes(t)));
   }
   case oid::float4: return put(target, readOnly<int32_t>(bytes));
   case oid::float8: return put(target, readOnly<int64_t>(bytes));
   case oid::interval: {
      WireReader reader(bytes);
      Interval v;
      v.micros = reader.take<int64_t>();
      v.days = reader.take<int32_t>();
      v.months = reader.take<int32_t>();
      reader.finish();
      return put(target, applyIntervalTypmod(v, type.typmod));
   }
   case oid::uuid: {
      WireReader reader(bytes);
      const uint64_t high = reader.take<uint64_t>(), low = reader.take<uint64_t>();
      reader.finish();
      return put(target, static_cast<int128>(((static_cast<uint128>(high) << 64) | low) ^ uuidTopBit));
   }
   case oid::numeric: {
      const StringView v = decimal::parseBinary(bytes, arena);
      switch (storedRepresentation(type).physical) {
      case PhysicalType::I64: return put(target, static_cast<int64_t>(decimal::toScaledColumn(v, type.typmod)));
      case PhysicalType::I128: return put(target, decimal::toScaledColumn(v, type.typmod));
      default: return put(target, decimal::applyTypmod(v, type.typmod, arena));
      }
   }
   case oid::bytea: return put(target, arena.copyString(bytes));
   case oid::character: // no character is a zero byte
      return put(target, arena.copyString(bytes.starts_with(std::string_view("\0", 1)) ? "" : bytes.substr(0, 1)));
   case oid::jsonb: {
      if (bytes.empty()) throwTooShort();
      if (bytes[0] != 1)
         throw SqlError(sqlstate::internalError, "unsupported jsonb version number " + std::to_string(bytes[0]));
      return putText(target, type, bytes.substr(1), arena);
   }
   case oid::jsonpath: {
      if (bytes.empty()) throwTooShort();
      if (bytes[0] != 1)
         throw SqlError(sqlstate::internalError, "unsupported jsonpath version number: " + std::to_string(bytes[0]));
      return putText(target, type, bytes.substr(1), arena);
   }
   case oid::xml: {
      const std::string text = xml::received(bytes);
      xml::check(text, xml::Option::Content, arena.reservation());
      return put(target, arena.copyString(text));
   }
   case oid::int2vector: return put(target, arena.copyString(readArrayBinary(bytes, oid::int2, -1, types)));
   case oid::oidvector: return put(target, arena.copyString(readArrayBinary(bytes, oid::oid, -1, types)));
   case oid::aclitem: throwNotSupported("binary form of type " + formatType(type));
   case oid::record:
      throw SqlError(sqlstate::featureNotSupported, "input of anonymous composite types is not implemented");
   default:
      if (const TypeForm* form = findTypeForm(type.oid)) return form->parseBinary(target, bytes, type.typmod, arena);
      if (const Oid element = arrayElementType(type.oid))
         return put(target,
                    arena.copyString(readArrayBinary(bytes, element, type.typmod, types, type.domain & ~userArrayBit)));
      if (isRowValue(type.oid)) return put(target, arena.copyString(readRowBinary(bytes, type.oid, types)));
      if (isEnumType(type.oid)) {
         checkUtf8(bytes);
         return put(target, parseEnum(type, bytes, types));
      }
      if (findRangeType(type.oid)) return put(target, arena.copyString(readRangeBinary(bytes, type.oid, types)));
      if (findMultirangeType(type.oid))
         return put(target, arena.copyString(readMultirangeBinary(bytes, type.oid, types)));
      return putText(target, type, bytes, arena);
   }
}

Value parseBinary(const SqlType& type, std::string_view bytes, const UserTypes* types) {
   alignas(16) unsigned char place[16] = {};
   Arena arena;
   parseBinaryInto(place, type, bytes, arena, types);
   return Value::fromVector(Vector::constant(storedRepresentation(type).physical, place, nullptr), 0);
}

BinaryTexts textsInBinary(Oid type) {
   if (isEnumType(type)) return BinaryTexts::Everywhere;
   if (isRowValue(type) || isUserRange(type) || isUserMultirange(type)) return BinaryTexts::InParts;
   if (const Oid element = arrayElementType(type); element != invalidOid)
      return textsInBinary(element) == BinaryTexts::None ? BinaryTexts::None : BinaryTexts::InParts;
   switch (type) {
   case oid::text:
   case oid::varchar:
   case oid::bpchar:
   case oid::name:
   case oid::json:
   case oid::jsonb: // behind a byte that is ASCII
   case oid::ltree:
   case oid::lquery:
   case oid::ltxtquery:
   case oid::jsonpath:
   case oid::xml:
   case oid::unknown:
   case oid::cstring:
   case oid::refcursor:
   case oid::citext: return BinaryTexts::Everywhere;
   case oid::tsvector:
   case oid::tsquery:
   case oid::hstore: return BinaryTexts::InParts;
   default: return BinaryTexts::None;
   }
}

} // namespace ouzel
