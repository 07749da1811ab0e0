#include "executor/function/text_search/ts_json.hpp"

#include "common/error/sql_error.hpp"
#include "common/json/json_parser.hpp"
#include "common/json/jsonb.hpp"
#include "common/number/decimal.hpp"
#include "common/text/ascii.hpp"
#include "common/thread/stack.hpp"

namespace ouzel::executor {

namespace {

constexpr const char* partsHint = R"(Possible values are: "string", "numeric", "boolean", "key", and "all".)";

uint8_t partNamed(std::string_view name) {
   const std::string lower = lowerCase(name);
   if (lower == "all") return ts_part::all;
   if (lower == "key") return ts_part::key;
   if (lower == "string") return ts_part::string;
   if (lower == "numeric") return ts_part::number;
   if (lower == "boolean") return ts_part::boolean;
   throw SqlError(sqlstate::invalidParameterValue, "wrong flag in flag array: \"" + std::string(name) + '"')
       .hint(partsHint);
}
uint8_t partOf(const json::JsonbView& name) {
   if (name.kind() != json::Kind::String)
      throw SqlError(sqlstate::invalidParameterValue, "flag array element is not a string").hint(partsHint);
   return partNamed(name.string());
}

void visit(const json::JsonbView& value, uint8_t parts, const TakeText& take) {
   checkStack();
   switch (value.kind()) {
   case json::Kind::Null: return;
   case json::Kind::Boolean:
      if ((parts & ts_part::boolean) != 0) take(value.boolean() ? "true" : "false");
      return;
   case json::Kind::Number:
      if ((parts & ts_part::number) != 0) take(decimal::toString(value.number()));
      return;
   case json::Kind::String:
      if ((parts & ts_part::string) != 0) take(value.string());
      return;
   case json::Kind::Array:
   case json::Kind::Object: break;
   }
   for (uint32_t i = 0; i < value.size(); ++i) {
      if (value.kind() == json::Kind::Object && (parts & ts_part::key) != 0) take(value.key(i));
      visit(value.element(i), parts, take);
   }
}

struct TextHandler {
   static constexpr bool decodesStrings = true;
   uint8_t parts;
   const TakeText& take;

   void beginObject(size_t) {}
   void endObject(size_t) {}
   void beginArray(size_t) {}
   void endArray(size_t) {}
   void key(std::string_view text) {
      if ((parts & ts_part::key) != 0) take(text);
   }
   void scalar(json::Token token, std::string_view text, size_t, size_t) {
      const bool isTaken = token == json::Token::String   ? (parts & ts_part::string) != 0
                           : token == json::Token::Number ? (parts & ts_part::number) != 0
                           : token == json::Token::Null   ? false
                                                          : (parts & ts_part::boolean) != 0;
      if (isTaken) take(text);
   }
};

} // namespace

uint8_t tsPartsOf(std::string_view bytes) {
   const json::JsonbView names(bytes);
   if (names.kind() == json::Kind::Object)
      throw SqlError(sqlstate::invalidParameterValue, "wrong flag type, only arrays and scalars are allowed");
   if (names.isScalar()) return partOf(names);
   uint8_t parts = 0;
   for (uint32_t i = 0; i < names.size(); ++i)
      parts = static_cast<uint8_t>(parts | partOf(names.element(i)));
   return parts;
}

void forEachTextOfJsonb(std::string_view document, uint8_t parts, const TakeText& take) {
   visit(json::JsonbView(document), parts, take);
}

void forEachTextOfJson(std::string_view document, uint8_t parts, const TakeText& take) {
   TextHandler handler{parts, take};
   json::parse(document, handler);
}

} // namespace ouzel::executor
