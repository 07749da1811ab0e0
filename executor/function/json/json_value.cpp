#include "executor/function/json/json_value.hpp"

#include <algorithm>
#include <optional>

#include "common/json/json_input.hpp"
#include "common/json/jsonb_text.hpp"
#include "common/number/decimal.hpp"
#include "common/thread/stack.hpp"
#include "common/type/array.hpp"
#include "common/type/row.hpp"
#include "common/type/row_text.hpp"
#include "common/type/session_format.hpp"
#include "executor/function/hstore_json.hpp"
#include "executor/function/iso_time.hpp"
#include "executor/function/value_text.hpp"

namespace ouzel::executor {

namespace {

enum class Category : uint8_t { Boolean, Number, Time, Json, Jsonb, Hstore, Array, Record, Other };

Category categoryOf(Oid type) {
   switch (type) {
   case oid::boolean: return Category::Boolean;
   case oid::int2:
   case oid::int4:
   case oid::int8:
   case oid::float4:
   case oid::float8:
   case oid::numeric: return Category::Number;
   case oid::date:
   case oid::timestamp:
   case oid::timestamptz: return Category::Time;
   case oid::json: return Category::Json;
   case oid::jsonb: return Category::Jsonb;
   case oid::hstore: return Category::Hstore;
   default:
      if (isRowValue(type)) return Category::Record;
      return arrayElementType(type) != invalidOid || type == oid::int2vector || type == oid::oidvector
                 ? Category::Array
                 : Category::Other;
   }
}

std::string_view stringAt(const SqlValue& value) {
   return static_cast<const StringView*>(value.value)->view();
}

std::string textOf(const SqlValue& value) {
   std::string text;
   appendValueText(text, value.context, value.type, value.repr, value.value);
   return text;
}

std::string timeText(const SqlValue& value) {
   return isoTimeText(value.context, value.type, value.repr, value.value);
}

/// Whether the text of a number is JSON's.
bool isJsonNumber(std::string_view text) {
   return !text.empty() && text.back() >= '0' && text.back() <= '9';
}

std::optional<int64_t> integerOf(const SqlValue& value) {
   if (value.repr.scale != 0) return std::nullopt;
   const auto read = [&]<typename T>(T place) -> int64_t {
      std::memcpy(&place, value.value, sizeof place);
      return place;
   };
   switch (value.repr.physical) {
   case PhysicalType::I16: return read(int16_t{});
   case PhysicalType::I32: return read(int32_t{});
   case PhysicalType::I64: return read(int64_t{});
   default: return std::nullopt;
   }
}

/// Calls member(name, value) for each field of a row; `value` is null for NULL.
template <typename Member>
void eachField(const SqlValue& row, Member&& member) {
   checkStack();
   const RowView view(stringAt(row));
   const RowFields columns = view.type() == oid::record ? nullptr : rowFields(view.type(), sessionFormat(row.context));
   std::string numbered;
   for (RowView::Cursor field(view); field.next();) {
      const uint32_t i = field.index();
      if (columns && columnOf(*columns, i).isDropped) continue;
      if (!columns && !view.hasNames()) numbered = "f" + std::to_string(i + 1);
      const std::string_view name = columns ? (*columns)[i].name : view.hasNames() ? field->name : numbered;
      const SqlValue value{row.context, {field->type, -1, invalidOid}, {field->physical, 0}, field->value};
      member(name, field->isNull ? nullptr : &value);
   }
   for (size_t i = view.size(); columns && i < columns->size(); ++i)
      if (!(*columns)[i].isDropped) member((*columns)[i].name, nullptr);
}

/// Goes over the elements of an array with brackets for its dimensions: begin(), end(), element(value), null().
template <typename Out>
void walkArray(const SqlValue& value, Out& out) {
   const ArrayView array(stringAt(value));
   const SqlType type{array.elementType(), -1, invalidOid};
   const uint32_t dimensions = array.dimensionCount();
   if (array.size() == 0) {
      out.begin();
      return out.end();
   }
   ArrayView::Cursor element(array);
   const auto level = [&](auto&& self, uint32_t dimension) -> void {
      out.begin();
      for (int32_t i = 0; i < array.dimension(dimension).length; ++i) {
         if (dimension + 1 < dimensions) {
            self(self, dimension + 1);
            continue;
         }
         element.next();
         if (element.isNull())
            out.null();
         else
            out.element({value.context, type, {array.physical(), 0}, element.stored()});
      }
      out.end();
   };
   level(level, 0);
}

/// The text of an array: [1,2].
class ArrayText {
public:
   ArrayText(std::string& out, bool isPretty) : out_(out), isPretty_(isPretty) {}
   void begin() {
      separate();
      out_.push_back('[');
      isFirst_ = true;
      ++depth_;
   }
   void end() {
      out_.push_back(']');
      isFirst_ = false;
      --depth_;
   }
   void null() {
      separate();
      out_.append("null");
   }
   void element(const SqlValue& value) {
      separate();
      appendJson(out_, value);
   }

private:
   void separate() {
      if (depth_ > 0 && !isFirst_) out_.append(isPretty_ && depth_ == 1 ? ",\n " : ",");
      isFirst_ = false;
   }
   std::string& out_;
   const bool isPretty_;
   bool isFirst_ = true;
   uint32_t depth_ = 0;
};

class ArrayWriter {
public:
   explicit ArrayWriter(json::JsonbWriter& writer) : writer_(writer) {}
   void begin() { writer_.beginArray(); }
   void end() { writer_.endArray(); }
   void null() { writer_.null(); }
   void element(const SqlValue& value) { writeJsonb(writer_, value, false); }

   static void writeJsonb(json::JsonbWriter& writer, const SqlValue& value, bool stays);

private:
   json::JsonbWriter& writer_;
};

/// Tells a writer about a jsonb value part by part, which copies it.
void copyJsonb(json::JsonbWriter& writer, const json::JsonbView& value) {
   switch (value.kind()) {
   case json::Kind::Null: return writer.null();
   case json::Kind::Boolean: return writer.boolean(value.boolean());
   case json::Kind::Number: return writer.number(value.number());
   case json::Kind::String: return writer.string(value.string());
   default: break;
   }
   checkStack();
   const bool isObject = value.kind() == json::Kind::Object;
   isObject ? writer.beginObject() : writer.beginArray();
   for (uint32_t i = 0; i < value.size(); ++i) {
      if (isObject) writer.key(value.key(i));
      copyJsonb(writer, value.element(i));
   }
   isObject ? writer.endObject() : writer.endArray();
}

/// `stays`: the bytes of the value stay until the writer's finish().
void ArrayWriter::writeJsonb(json::JsonbWriter& writer, const SqlValue& value, bool stays) {
   switch (categoryOf(value.type.oid)) {
   case Category::Boolean: {
      uint8_t isTrue;
      std::memcpy(&isTrue, value.value, sizeof isTrue);
      return writer.boolean(isTrue != 0);
   }
   case Category::Number: {
      if (const std::optional<int64_t> integer = integerOf(value)) return writer.number(decimal::fromInt64(*integer));
      const std::string text = textOf(value);
      if (!isJsonNumber(text)) return writer.string(text);
      Arena digits;
      return writer.number(decimal::parse(text, digits));
   }
   case Category::Time: return writer.string(timeText(value));
   case Category::Json: return json::writeParsed(writer, stringAt(value));
   case Category::Record:
      writer.beginObject();
      eachField(value, [&](std::string_view name, const SqlValue* field) {
         writer.key(name);
         if (field)
            writeJsonb(writer, *field, false);
         else
            writer.null();
      });
      return writer.endObject();
   case Category::Jsonb: {
      const json::JsonbView view(stringAt(value));
      return stays ? writer.value(view) : copyJsonb(writer, view);
   }
   case Category::Hstore: return writeHstoreJson(writer, HstoreView(stringAt(value)), false);
   case Category::Array: {
      ArrayWriter elements(writer);
      return walkArray(value, elements);
   }
   case Category::Other: return writer.string(textOf(value));
   }
}

} // namespace

SqlValue valueAt(const FunctionContext& context, const SqlType& type, Representation repr, const Vector& vector,
                 uint32_t row) {
   const auto* values = static_cast<const std::byte*>(vector.data);
   return {context, type, repr, values + size_t{vector.positionOf(row)} * physicalSize(vector.type)};
}

void appendJson(std::string& out, const SqlValue& value, bool isPretty) {
   switch (categoryOf(value.type.oid)) {
   case Category::Boolean: {
      uint8_t isTrue;
      std::memcpy(&isTrue, value.value, sizeof isTrue);
      out.append(isTrue != 0 ? "true" : "false");
      return;
   }
   case Category::Number: {
      const size_t start = out.size();
      appendValueText(out, value.context, value.type, value.repr, value.value);
      if (isJsonNumber(std::string_view(out).substr(start))) return;
      const std::string text = out.substr(start);
      out.resize(start);
      return json::appendQuoted(out, text);
   }
   case Category::Time: return json::appendQuoted(out, timeText(value));
   case Category::Json: out.append(stringAt(value)); return;
   case Category::Jsonb: return json::appendText(out, json::JsonbView(stringAt(value)));
   case Category::Hstore: return appendHstoreJson(out, HstoreView(stringAt(value)), false);
   case Category::Array: {
      ArrayText text(out, isPretty);
      return walkArray(value, text);
   }
   case Category::Record: {
      out.push_back('{');
      bool isFirst = true;
      eachField(value, [&](std::string_view name, const SqlValue* field) {
         if (!isFirst) out.append(isPretty ? ",\n " : ",");
         isFirst = false;
         json::appendQuoted(out, name);
         out.push_back(':');
         if (field)
            appendJson(out, *field);
         else
            out.append("null");
      });
      out.push_back('}');
      return;
   }
   case Category::Other: {
      const bool isItsText = value.type.oid == oid::text || value.type.oid == oid::varchar;
      return isItsText ? json::appendQuoted(out, stringAt(value)) : json::appendQuoted(out, textOf(value));
   }
   }
}

void writeJsonb(json::JsonbWriter& writer, const SqlValue& value) {
   ArrayWriter::writeJsonb(writer, value, true);
}

std::string keyText(const SqlValue& value) {
   switch (categoryOf(value.type.oid)) {
   case Category::Array:
   case Category::Record:
   case Category::Json:
   case Category::Jsonb:
   case Category::Hstore:
      throw SqlError(sqlstate::invalidParameterValue, "key value must be scalar, not array, composite, or json");
   case Category::Boolean: {
      uint8_t isTrue;
      std::memcpy(&isTrue, value.value, sizeof isTrue);
      return isTrue != 0 ? "true" : "false";
   }
   case Category::Time: return timeText(value);
   default: return textOf(value);
   }
}

bool isComposite(Oid type) {
   const Category category = categoryOf(type);
   return category == Category::Array || category == Category::Record;
}

} // namespace ouzel::executor
