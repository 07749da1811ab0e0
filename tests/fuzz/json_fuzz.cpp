#include <cstdio>
#include <cstdlib>

#include "common/error/sql_error.hpp"
#include "common/json/json_input.hpp"
#include "common/json/jsonb_text.hpp"
#include "common/type/order_key.hpp"
#include "tests/fuzz/target.hpp"

// Input: after its first byte, JSON text if that is even, and the bytes of a jsonb value, as a damaged page would give
// them, if it is odd. Text that is accepted prints as text that is accepted and prints alike; bytes never lead outside
// of them.

namespace ouzel::fuzz {

bool isText() {
   return false;
}

bool isWellFormed(const std::string&) {
   return true;
}

namespace {

constexpr const char* documents[] = {
    R"({"a":[1,2.50,-3e2,true,false,null],"bb":{"c":"x\u0041\n","":[]},"a":"longer than twelve bytes"})",
    R"([[[{"k":{"k":{"k":"\ud83d\ude00"}}}]]," ",0.0,"\\\"",{}])",
    "\"text\"",
    " 12345678901234567890123456789 ",
    "1e400",
    "[31,32,-1,100000,1.10,0.00]"};

void require(bool holds, const char* what) {
   if (holds) return;
   std::fprintf(stderr, "broken: %s\n", what);
   std::abort();
}

std::string printed(std::string_view bytes) {
   std::string text;
   json::appendText(text, json::JsonbView(bytes));
   return text;
}

void readText(std::string_view text) {
   Arena arena;
   bool isJson = true;
   try {
      json::checkJson(text);
   } catch (const SqlError&) {
      isJson = false;
   }
   const StringView bytes = json::parseJsonb(text, arena);
   require(isJson, "what jsonb accepts is JSON");
   const std::string first = printed(bytes.view());
   const StringView again = json::parseJsonb(first, arena);
   require(bytes == again, "a value's text gives the value");
   require(json::equal(json::JsonbView(bytes.view()), json::JsonbView(again.view())), "a value is equal to itself");
}

void readBytes(std::string_view bytes) {
   const json::JsonbView view(bytes);
   std::string out;
   json::appendPretty(out, view);
   appendJsonbKey(out, bytes);
   json::compare(view, view);
   json::contains(view, view);
}

} // namespace

std::vector<std::string> seeds() {
   std::vector<std::string> all;
   for (const char* document : documents) {
      all.push_back(std::string(1, '\0') + document);
      Arena arena;
      all.push_back('\1' + std::string(json::parseJsonb(document, arena).view()));
   }
   return all;
}

} // namespace ouzel::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
   if (size == 0) return 0;
   const std::string_view input(reinterpret_cast<const char*>(data + 1), size - 1);
   try {
      if ((data[0] & 1) == 0)
         ouzel::fuzz::readText(input);
      else
         ouzel::fuzz::readBytes(input);
   } catch (const ouzel::SqlError&) { // refused input
   }
   return 0;
}
