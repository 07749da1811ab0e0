#include "executor/function/hstore_json.hpp"

#include "common/json/jsonb_text.hpp"
#include "common/number/decimal.hpp"

namespace ouzel::executor {

namespace {

/// Whether the text is a number as JSON writes them.
bool isJsonNumber(std::string_view text) {
   size_t at = 0;
   const auto digits = [&] {
      const size_t begin = at;
      while (at < text.size() && text[at] >= '0' && text[at] <= '9')
         ++at;
      return at - begin;
   };
   const auto take = [&](std::string_view letters) {
      if (at == text.size() || letters.find(text[at]) == std::string_view::npos) return false;
      ++at;
      return true;
   };
   take("-");
   const size_t begin = at, count = digits();
   if (count == 0 || (count > 1 && text[begin] == '0')) return false;
   if (take(".") && digits() == 0) return false;
   if (take("eE")) {
      take("+-");
      if (digits() == 0) return false;
   }
   return at == text.size();
}

bool isBoolean(std::string_view text) {
   return text == "t" || text == "f";
}

} // namespace

void appendHstoreJson(std::string& out, const HstoreView& map, bool isLoose) {
   out += '{';
   for (uint32_t i = 0; i < map.size(); ++i) {
      if (i > 0) out += ", ";
      json::appendQuoted(out, map.key(i));
      out += ": ";
      const auto value = map.value(i);
      if (!value)
         out += "null";
      else if (isLoose && isBoolean(*value))
         out += *value == "t" ? "true" : "false";
      else if (isLoose && isJsonNumber(*value))
         out += *value;
      else
         json::appendQuoted(out, *value);
   }
   out += '}';
}

void writeHstoreJson(json::JsonbWriter& writer, const HstoreView& map, bool isLoose) {
   Arena numbers;
   writer.beginObject();
   for (uint32_t i = 0; i < map.size(); ++i) {
      writer.key(map.key(i));
      const auto value = map.value(i);
      if (!value)
         writer.null();
      else if (isLoose && isBoolean(*value))
         writer.boolean(*value == "t");
      else if (isLoose && isJsonNumber(*value))
         writer.number(decimal::parse(*value, numbers));
      else
         writer.string(*value);
   }
   writer.endObject();
}

} // namespace ouzel::executor
