#include "common/type/text_codec.hpp"

#include <cstring>
#include <type_traits>

#include "common/base_type/type_form.hpp"
#include "common/error/sql_error.hpp"
#include "common/json/json_input.hpp"
#include "common/json/jsonb_text.hpp"
#include "common/json/jsonpath.hpp"
#include "common/number/decimal.hpp"
#include "common/text/number_text.hpp"
#include "common/text/utf8.hpp"
#include "common/type/array_text.hpp"
#include "common/type/blanks.hpp"
#include "common/type/date_time.hpp"
#include "common/type/enum_labels.hpp"
#include "common/type/range.hpp"
#include "common/type/row_text.hpp"
#include "common/value/object_names.hpp"
#include "common/xml/declaration.hpp"
#include "common/xml/document.hpp"

namespace ouzel {

namespace {

/// Call `emit.operator()<T>(print)` with the C++ type of the values and a printer (out, value) for the SQL type.
template <typename Emit>
void withPrinter(const SqlType& type, Representation representation, const SessionFormat& format, Emit&& emit) {
   const auto integers = [&](auto print) {
      switch (representation.physical) {
      case PhysicalType::I16: return emit.template operator()<int16_t>(print);
      case PhysicalType::I32: return emit.template operator()<int32_t>(print);
      case PhysicalType::I64: return emit.template operator()<int64_t>(print);
      default: throwInternal("integer in an unexpected representation");
      }
   };
   const auto strings = [&](auto print) { return emit.template operator()<StringView>(print); };
   if (isObjectName(type.oid))
      return integers([&format, oid = type.oid](std::string& out, auto v) {
         if (v == 0)
            out.push_back('-');
         else if (format.types)
            out.append(format.types->objectName(oid, static_cast<Oid>(v)));
         else
            appendInteger(out, static_cast<int64_t>(v));
      });
   if (isEnumType(type.oid)) {
      const EnumLabelsPtr labels = labelsOf(type.oid, format.types);
      return emit.template operator()<int64_t>(
          [&labels](std::string& out, int64_t v) { out.append(labels->require(v).name); });
   }
   switch (type.oid) {
   case oid::boolean:
      return emit.template operator()<uint8_t>([](std::string& out, uint8_t v) { out.push_back(v ? 't' : 'f'); });
   case oid::int2:
   case oid::int4:
   case oid::int8: return integers([](std::string& out, auto v) { appendInteger(out, static_cast<int64_t>(v)); });
   case oid::oid:
   case oid::xid:
   case oid::cid:
   case oid::xid8:
      return integers([](std::string& out, auto v) {
         char buffer[24];
         out.append(buffer, static_cast<size_t>(writeUnsigned(buffer, static_cast<uint64_t>(v)) - buffer));
      });
   case oid::float4:
      return emit.template operator()<float>(
          [&format](std::string& out, float v) { appendFloat(out, v, format.extraFloatDigits); });
   case oid::float8:
      return emit.template operator()<double>(
          [&format](std::string& out, double v) { appendDouble(out, v, format.extraFloatDigits); });
   case oid::numeric: {
      if (representation.physical == PhysicalType::Decimal)
         return strings([](std::string& out, StringView v) { decimal::append(out, v); });
      const int32_t scale = representation.scale;
      const auto print = [scale](std::string& out, auto v) { decimal::appendScaled(out, v, scale); };
      if (representation.physical == PhysicalType::I128) return emit.template operator()<int128>(print);
      return integers(print);
   }
   case oid::date:
      return emit.template operator()<int32_t>([&format](std::string& out, int32_t v) { appendDate(out, v, format); });
   case oid::time: return emit.template operator()<int64_t>([](std::string& out, int64_t v) { appendTime(out, v); });
   case oid::timestamp:
      return emit.template operator()<int64_t>(
          [&format](std::string& out, int64_t v) { appendTimestamp(out, v, format); });
   case oid::timestamptz:
      return emit.template operator()<int64_t>(
          [&format](std::string& out, int64_t v) { appendTimestampTz(out, v, format); });
   case oid::timetz: return strings([](std::string& out, StringView v) { appendTimeTz(out, readTimeTz(v.view())); });
   case oid::interval:
      return emit.template operator()<Interval>(
          [&format](std::string& out, const Interval& v) { appendInterval(out, v, format); });
   case oid::uuid: return emit.template operator()<int128>([](std::string& out, int128 v) { appendUuid(out, v); });
   case oid::character: return strings([](std::string& out, StringView v) { appendChar(out, v.view()); });
   case oid::bytea:
      return strings([&format](std::string& out, StringView v) { appendBytea(out, v.view(), format.byteaOutput); });
   case oid::bpchar: {
      const int32_t typmod = type.typmod;
      return strings([typmod](std::string& out, StringView v) { appendWithBlanks(out, v.view(), typmod); });
   }
   case oid::int2vector:
   case oid::oidvector:
      return strings([&format](std::string& out, StringView v) { appendVectorText(out, v.view(), format); });
   case oid::jsonb:
      return strings([](std::string& out, StringView v) { json::appendText(out, json::JsonbView(v.view())); });
   case oid::jsonpath: return strings([](std::string& out, StringView v) { json::appendPathText(out, v.view()); });
   case oid::xml: return strings([](std::string& out, StringView v) { xml::appendForClient(out, v.view()); });
   case oid::voidType: return strings([](std::string&, StringView) {});
   default:
      if (const TypeForm* form = findTypeForm(type.oid)) {
         const auto print = [form, &format](std::string& out, auto v) {
            form->appendRounded ? form->appendRounded(out, &v, format.extraFloatDigits) : form->appendText(out, &v);
         };
         if (representation.physical == PhysicalType::I64) return emit.template operator()<int64_t>(print);
         return strings(print);
      }
      if (arrayElementType(type.oid) != invalidOid || type.oid == oid::anyarray)
         return strings([&format, element = arrayElementType(type.oid)](std::string& out, StringView v) {
            appendArrayText(out, v.view(), element, format);
         });
      if (isRowValue(type.oid))
         return strings([&format](std::string& out, StringView v) { appendRowText(out, v.view(), format); });
      if (findRangeType(type.oid))
         return strings([&format](std::string& out, StringView v) { appendRangeText(out, v.view(), format); });
      if (findMultirangeType(type.oid))
         return strings([&format](std::string& out, StringView v) { appendMultirangeText(out, v.view(), format); });
      return strings([](std::string& out, StringView v) { out.append(v.data(), v.size()); });
   }
}

template <typename T>
void put(void* target, T value) {
   std::memcpy(target, &value, sizeof value);
}

/// Check a status and store the value.
template <typename Stored, typename T>
void putParsed(void* target, ParseStatus status, T value, const char* typeName, std::string_view text) {
   if (status == ParseStatus::Malformed) throwInvalidSyntax(typeName, text);
   if (status == ParseStatus::OutOfRange) throwValueOutOfRange(typeName, text);
   put(target, static_cast<Stored>(value));
}

template <typename T>
void putInteger(void* target, std::string_view text, const char* typeName) {
   T value{};
   const ParseStatus status = parseInteger(text, value);
   putParsed<T>(target, status, value, typeName, text);
}

template <typename T, typename Parse>
void putFloat(void* target, std::string_view text, const char* typeName, Parse&& parse) {
   T value{};
   const ParseStatus status = parse(text, value);
   if (status == ParseStatus::OutOfRange)
      throw SqlError(sqlstate::numericValueOutOfRange,
                     '"' + std::string(trimBlanks(text)) + "\" is out of range for type " + typeName);
   putParsed<T>(target, status, value, typeName, text);
}

void putUnsigned32(void* target, std::string_view text, const char* typeName) {
   uint32_t value = 0;
   if (text == "-" && std::string_view(typeName) != "oid") return put(target, int64_t{0});
   const ParseStatus status = parseUnsigned32(text, value);
   putParsed<int64_t>(target, status, value, typeName, text);
}

/// The OID of an object, by its number or, where the catalog is known, by its name.
void putObject(void* target, Oid type, std::string_view text, const SessionFormat& format) {
   const bool isNumber = text.find_first_not_of("0123456789") == std::string_view::npos || text == "-";
   if (isNumber || !format.types) return putUnsigned32(target, text, formatType({type, -1, invalidOid}).c_str());
   put(target, static_cast<int64_t>(format.types->objectNamed(type, text)));
}

void putNumeric(void* target, const SqlType& type, std::string_view text, Arena& arena) {
   const Representation stored = storedRepresentation(type);
   if (stored.physical == PhysicalType::I64) {
      int64_t plain;
      const NumericModifier m = numericModifier(type.typmod);
      if (parseScaled(text, m.precision, m.scale, plain)) return put(target, plain);
   }
   const StringView v = decimal::parse(text, arena);
   if (stored.physical == PhysicalType::I64)
      return put(target, static_cast<int64_t>(decimal::toScaledColumn(v, type.typmod)));
   if (stored.physical == PhysicalType::I128) return put(target, decimal::toScaledColumn(v, type.typmod));
   put(target, decimal::applyTypmod(v, type.typmod, arena));
}

} // namespace

void appendText(std::string& out, const SqlType& type, Representation representation, const void* value,
                const SessionFormat& format) {
   withPrinter(type, representation, format, [&]<typename T>(auto print) {
      T v;
      std::memcpy(static_cast<void*>(&v), value, sizeof v);
      print(out, v);
   });
}

void appendTextColumn(std::string& bytes, uint32_t* ends, const SqlType& type, Representation representation,
                      const Vector& values, const Selection& selection, const SessionFormat& format) {
   withPrinter(type, representation, format, [&]<typename T>(auto print) {
      const T* data = values.values<T>();
      forEachRow(selection, [&](uint32_t row) {
         const uint32_t position = values.positionOf(row);
         if (isValidBit(values.validity, position)) print(bytes, data[position]);
         *ends++ = static_cast<uint32_t>(bytes.size());
      });
   });
}

void parseTextInto(void* target, const SqlType& type, std::string_view text, const SessionFormat& format,
                   Arena& arena) {
   if (isObjectName(type.oid)) return putObject(target, type.oid, text, format);
   if (isEnumType(type.oid)) return put(target, parseEnum(type, text, format.types));
   switch (type.oid) {
   case oid::boolean: {
      bool value = false;
      const ParseStatus status = parseBoolean(text, value);
      return putParsed<uint8_t>(target, status, value, "boolean", text);
   }
   case oid::int2: return putInteger<int16_t>(target, text, "smallint");
   case oid::int4: return putInteger<int32_t>(target, text, "integer");
   case oid::int8: return putInteger<int64_t>(target, text, "bigint");
   case oid::oid: return putUnsigned32(target, text, "oid");
   case oid::xid: return putUnsigned32(target, text, "xid");
   case oid::cid: return putUnsigned32(target, text, "cid");
   case oid::xid8: {
      uint64_t value = 0;
      const ParseStatus status = parseUnsigned64(text, value);
      return putParsed<int64_t>(target, status, value, "xid8", text);
   }
   case oid::float4: return putFloat<float>(target, text, "real", parseFloat);
   case oid::float8: return putFloat<double>(target, text, "double precision", parseDouble);
   case oid::numeric: return putNumeric(target, type, text, arena);
   case oid::date: return put(target, parseDate(text, format));
   case oid::time: return put(target, parseTime(text, format, type.typmod));
   case oid::timestamp: return put(target, parseTimestamp(text, format, type.typmod));
   case oid::timestamptz: return put(target, parseTimestampTz(text, format, type.typmod));
   case oid::timetz: return put(target, arena.copyString(timeTzBytes(parseTimeTz(text, format, type.typmod))));
   case oid::interval: return put(target, parseInterval(text, format, type.typmod));
   case oid::uuid: {
      int128 value = 0;
      if (!parseUuid(text, value)) throwInvalidSyntax("uuid", text);
      return put(target, value);
   }
   case oid::json: json::checkJson(text); return put(target, arena.copyString(text));
   case oid::jsonb: return put(target, json::parseJsonb(text, arena));
   case oid::xml:
      xml::check(text, format.readsXmlDocuments ? xml::Option::Document : xml::Option::Content, arena.reservation());
      return put(target, arena.copyString(text));
   case oid::bytea: return put(target, arena.copyString(parseBytea(text)));
   case oid::varchar: return put(target, arena.copyString(applyVarcharTypmod(text, type.typmod, false)));
   case oid::bpchar: return put(target, arena.copyString(applyBpcharTypmod(text, type.typmod, false)));
   case oid::name: return put(target, arena.copyString(truncateName(text)));
   case oid::character: {
      char byte;
      return put(target, arena.copyString(parseChar(text, byte)));
   }
   case oid::jsonpath: return put(target, arena.copyString(json::pathFromText(text, arena.reservation())));
   case oid::int2vector: return put(target, arena.copyString(parseVectorText(text, oid::int2, format)));
   case oid::oidvector: return put(target, arena.copyString(parseVectorText(text, oid::oid, format)));
   case oid::record:
      throw SqlError(sqlstate::featureNotSupported, "input of anonymous composite types is not implemented");
   default:
      if (const TypeForm* form = findTypeForm(type.oid)) return form->parseText(target, text, type.typmod, arena);
      if (const Oid element = arrayElementType(type.oid))
         return put(target, arena.copyString(parseArrayText(text, {element, type.typmod, invalidOid}, format)));
      if (isRowValue(type.oid)) return put(target, arena.copyString(parseRowText(text, type.oid, format)));
      if (findRangeType(type.oid)) return put(target, arena.copyString(parseRangeText(text, type.oid, format)));
      if (findMultirangeType(type.oid))
         return put(target, arena.copyString(parseMultirangeText(text, type.oid, format)));
      return put(target, arena.copyString(text));
   }
}

Value parseText(const SqlType& type, std::string_view text, const SessionFormat& format) {
   alignas(16) unsigned char bytes[16] = {};
   Arena arena;
   parseTextInto(bytes, type, text, format, arena);
   return Value::fromVector(Vector::constant(storedRepresentation(type).physical, bytes, nullptr), 0);
}

Value parsePart(const SqlType& type, std::string_view text, const SessionFormat& format) {
   if (type.oid == oid::bpchar) {
      std::string padded;
      appendWithBlanks(padded, applyBpcharTypmod(text, type.typmod, false), type.typmod);
      return Value::string(padded);
   }
   if (type.oid != oid::numeric || type.typmod < 0) return parseText(type, text, format);
   Arena arena;
   Value value = parseText({oid::numeric, -1, invalidOid}, text, format);
   value.bytes = std::string(decimal::applyTypmod(StringView(value.bytes), type.typmod, arena).view());
   return value;
}

std::string textOf(const SqlType& type, const Value& value, const SessionFormat& format) {
   std::string out;
   if (value.isNull) return out;
   alignas(16) unsigned char bytes[16] = {};
   value.store(bytes);
   Representation representation = storedRepresentation(type);
   // A numeric with a typmod may still lie as a Decimal.
   if (representation.physical != value.type) representation = {value.type, 0};
   appendText(out, type, representation, bytes, format);
   return out;
}

} // namespace ouzel
