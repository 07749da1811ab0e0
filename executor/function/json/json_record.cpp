#include "executor/function/json/json_record.hpp"

#include <cstring>

#include "common/error/sql_error.hpp"
#include "common/json/json_input.hpp"
#include "common/json/jsonb_text.hpp"
#include "common/number/decimal.hpp"
#include "common/thread/stack.hpp"
#include "common/type/array.hpp"
#include "common/type/blanks.hpp"
#include "executor/function/json/json_items.hpp"
#include "executor/function/value_text.hpp"

namespace ouzel::executor {

namespace {

json::Token tokenOf(std::string_view text) {
   json::Lexer lexer(text, false);
   lexer.next();
   return lexer.token();
}

bool isArray(const JsonField& field) {
   if (field.isJsonb) return json::JsonbView(field.bytes).kind() == json::Kind::Array;
   return tokenOf(field.bytes) == json::Token::ArrayStart;
}

std::string plainText(const JsonField& field) {
   std::string text;
   if (field.isJsonb) {
      json::appendPlain(text, json::JsonbView(field.bytes));
   } else if (field.isString()) {
      json::Lexer lexer(field.bytes, true);
      lexer.next();
      text = lexer.string();
   } else {
      text = field.bytes;
   }
   return text;
}

/// The elements of an array.
std::vector<JsonField> elementsOf(const JsonField& field) {
   std::vector<JsonField> elements;
   if (field.isJsonb) {
      const json::JsonbView array(field.bytes);
      for (uint32_t i = 0; i < array.size(); ++i)
         elements.push_back({true, array.element(i).bytes(), field.key});
      return elements;
   }
   const JsonItems items(field.bytes);
   for (const JsonItem& item : items.items())
      elements.push_back({false, item.raw, field.key});
   return elements;
}

/// Makes an array out of a JSON array, whose inner arrays are further dimensions as long as all elements are arrays.
class ArrayOfFields {
public:
   ArrayOfFields(const FunctionContext& context, const SqlType& element) : context_(context), element_(element) {
      array_.elementType = element.oid;
      array_.physical = arrayElementPhysical(element.oid);
   }

   std::string make(const JsonField& field) {
      add(elementsOf(field), 0);
      if (!array_.elements.empty())
         for (const int32_t length : lengths_)
            array_.dimensions.push_back({length, 1});
      return makeArray(array_);
   }

private:
   [[noreturn]] static void throwMalformed() {
      throw SqlError(sqlstate::invalidTextRepresentation, "malformed JSON array")
          .detail("Multidimensional arrays must have sub-arrays with matching dimensions.");
   }

   void add(const std::vector<JsonField>& elements, size_t depth) {
      checkStack();
      if (depth >= ArrayView::dimensionsMax)
         throw SqlError(sqlstate::programLimitExceeded,
                        "number of array dimensions (7) exceeds the maximum allowed (6)");
      if (lengths_.size() <= depth) lengths_.resize(depth + 1, -1);
      if (lengths_[depth] != -1 && lengths_[depth] != static_cast<int32_t>(elements.size())) throwMalformed();
      lengths_[depth] = static_cast<int32_t>(elements.size());
      for (const JsonField& element : elements) {
         // The first element that is no array decides how many dimensions there are.
         if (isArray(element) && (!leafDepth_ || *leafDepth_ > depth)) {
            add(elementsOf(element), depth + 1);
            continue;
         }
         if (!leafDepth_) {
            if (lengths_.size() > depth + 1) throwMalformed();
            leafDepth_ = depth;
         }
         if (*leafDepth_ != depth) throwMalformed();
         addElement(element);
      }
   }

   void addElement(const JsonField& field) {
      if (field.isNull()) {
         array_.elements.push_back(Value::null(array_.physical));
         return;
      }
      alignas(16) std::byte place[16] = {};
      Arena strings;
      putField(place, context_, element_, {array_.physical, 0}, field, strings);
      Value value = Value::fromVector(Vector::flat(array_.physical, place, nullptr), 0);
      if (element_.oid == oid::bpchar) { // an array has the blanks of character(n)
         std::string padded;
         appendWithBlanks(padded, value.bytes, element_.typmod);
         value.bytes = std::move(padded);
      }
      array_.elements.push_back(std::move(value));
   }

   const FunctionContext& context_;
   const SqlType element_;
   ArrayValue array_;
   std::vector<int32_t> lengths_; ///< of the dimensions that were met
   std::optional<size_t> leafDepth_;
};

template <typename T>
void put(void* target, const T& value) {
   std::memcpy(target, static_cast<const void*>(&value), sizeof value);
}

} // namespace

bool JsonField::isNull() const {
   if (isJsonb) return json::JsonbView(bytes).kind() == json::Kind::Null;
   return tokenOf(bytes) == json::Token::Null;
}

bool JsonField::isString() const {
   if (isJsonb) return json::JsonbView(bytes).kind() == json::Kind::String;
   return tokenOf(bytes) == json::Token::String;
}

std::vector<std::optional<JsonField>> fieldsOf(std::string_view value, bool isJsonb,
                                               const std::vector<std::string>& keys, const char* scalarError,
                                               const char* arrayError) {
   std::vector<std::optional<JsonField>> fields(keys.size());
   const auto require = [&](bool isObject, bool isContainer) {
      if (!isObject) throw SqlError(sqlstate::invalidParameterValue, isContainer ? arrayError : scalarError);
   };
   if (isJsonb) {
      const json::JsonbView object(value);
      require(object.kind() == json::Kind::Object, !object.isScalar());
      for (size_t i = 0; i < keys.size(); ++i)
         if (const auto member = object.find(keys[i])) fields[i] = {true, member->bytes(), keys[i]};
      return fields;
   }
   const JsonItems items(value);
   require(items.isObject(), items.isArray());
   for (size_t i = 0; i < keys.size(); ++i)
      if (const JsonItem* member = items.find(keys[i])) fields[i] = {false, member->raw, keys[i]};
   return fields;
}

void putField(void* target, const FunctionContext& context, const SqlType& type, Representation repr,
              const JsonField& field, Arena& arena) {
   if (type.oid == oid::jsonb)
      return put(target, field.isJsonb ? arena.copyString(field.bytes) : json::parseJsonb(field.bytes, arena));
   if (type.oid == oid::json) {
      std::string text;
      if (field.isJsonb) {
         json::appendText(text, json::JsonbView(field.bytes));
      } else if (field.isString()) {
         json::appendQuoted(text, plainText(field));
      } else {
         text = field.bytes;
      }
      return put(target, arena.copyString(text));
   }
   const Oid element = arrayElementType(type.oid);
   if (element != invalidOid && !field.isString()) {
      if (!isArray(field))
         throw SqlError(sqlstate::invalidTextRepresentation, "expected JSON array")
             .hint("See the value of key \"" + field.key + "\".");
      return put(target, arena.copyString(ArrayOfFields(context, {element, type.typmod, invalidOid}).make(field)));
   }
   if (isRowValue(type.oid) && !field.isString())
      return put(target, arena.copyString(populateRow(context, type.oid, std::nullopt, field)));
   const std::string text = plainText(field);
   if (type.oid == oid::numeric && repr.physical == PhysicalType::Decimal)
      return put(target, decimal::applyTypmod(decimal::parse(text, arena), type.typmod, arena));
   parseValueText(target, context, type, text, arena);
}

} // namespace ouzel::executor
