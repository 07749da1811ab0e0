#include "common/json/json_input.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <thread>

#include "common/error/sql_error.hpp"
#include "common/json/jsonb_text.hpp"
#include "common/thread/stack.hpp"

using namespace ouzel;

namespace {

std::string jsonbText(std::string_view text) {
   Arena arena;
   const StringView bytes = json::parseJsonb(text, arena);
   std::string out;
   json::appendText(out, json::JsonbView(bytes.view()));
   return out;
}

struct Failure {
   std::string state, message, detail, context;
};

template <typename Parse>
Failure failureOf(Parse&& parse) {
   try {
      parse();
   } catch (const SqlError& error) {
      return {std::string(error.state().text()), error.what(), error.detailText(), error.contextText()};
   }
   return {};
}

Failure jsonFailure(std::string_view text) {
   return failureOf([&] { json::checkJson(text); });
}
Failure jsonbFailure(std::string_view text) {
   return failureOf([&] {
      Arena arena;
      json::parseJsonb(text, arena);
   });
}

} // namespace

CATCH_TEST_CASE("JSON texts that are accepted, and what jsonb makes of them") {
   const std::pair<const char*, const char*> cases[] = {
       {"null", "null"},
       {" true ", "true"},
       {"false", "false"},
       {"0", "0"},
       {"-0", "0"},
       {"-0.0", "0.0"},
       {"1E2", "100"},
       {"1e+2", "100"},
       {"12.50e-1", "1.250"},
       {"31", "31"},
       {"32", "32"},
       {"123456789012345678901234567890.1234567890", "123456789012345678901234567890.1234567890"},
       {"\"\"", "\"\""},
       {R"("\"\\\/\b\f\n\r\t")", R"("\"\\/\b\f\n\r\t")"},
       {R"("\u0041\u00e4\u20AC\ud83d\ude00")", R"("Aä€😀")"},
       {"\"\x7f\"", "\"\x7f\""},
       {"[]", "[]"},
       {"[ ]", "[]"},
       {"{}", "{}"},
       {"[1,[2,{\"a\":[]}],\"x\"]", "[1, [2, {\"a\": []}], \"x\"]"},
       {"\t{\r\n\"b\":1,\"a\":2,\"aa\":3,\"a\":4}", "{\"a\": 4, \"b\": 1, \"aa\": 3}"},
       {"{\"\":{\"\":null}}", "{\"\": {\"\": null}}"},
   };
   for (const auto& [text, printed] : cases) {
      CATCH_INFO(text);
      json::checkJson(text);
      CATCH_CHECK(jsonbText(text) == printed);
      CATCH_CHECK(jsonbText(printed) == printed);
   }
}

CATCH_TEST_CASE("JSON texts that are refused") {
   const char* texts[] = {
       "",
       " ",
       "nul",
       "nulls",
       "True",
       "TRUE",
       "tru e",
       "undefined",
       "NaN",
       "Infinity",
       "-",
       "--1",
       "+1",
       "01",
       "-01",
       "1.",
       ".5",
       "1.e2",
       "1e",
       "1e+",
       "0x10",
       "1_000",
       "1a",
       "1 2",
       "\"",
       "\"a",
       "'a'",
       "\"\\\"",
       "\"\\x41\"",
       "\"\\u12\"",
       "\"\\uD8\"",
       "\"\\u 041\"",
       "\"\t\"",
       "\"\n\"",
       "\"\x01\"",
       "[",
       "]",
       "[1",
       "[1,",
       "[1,]",
       "[,1]",
       "[1 2]",
       "[1:2]",
       "[1}",
       "[[]",
       "{",
       "}",
       "{\"a\"",
       "{\"a\":",
       "{\"a\":1",
       "{\"a\":1,",
       "{\"a\":1,}",
       "{,}",
       "{\"a\" 1}",
       "{\"a\",1}",
       "{a:1}",
       "{'a':1}",
       "{1:1}",
       "{null:1}",
       "{\"a\":1]",
       "{}{}",
       "[]1",
       "// x\n1",
       "/* */1",
       "\xEF\xBB\xBF"
       "1",
       "\f1",
       "1\v",
       "\xC2\xA0"
       "1",
   };
   for (const char* text : texts) {
      CATCH_INFO(text);
      CATCH_CHECK(jsonFailure(text).state == "22P02");
      CATCH_CHECK(jsonbFailure(text).state == "22P02");
   }
   CATCH_CHECK(jsonFailure(R"("\u0000")").state.empty());
   CATCH_CHECK(jsonbFailure(R"("\u0000")").state == "22P05");
   for (const char* text : {R"("\ud83d")", R"("\ude00")", R"("\ud83d\ud83d")", R"("\ud83dx")", R"("\ud83d\n\ude00")"}) {
      CATCH_CHECK(jsonFailure(text).state.empty());
      CATCH_CHECK(jsonbFailure(text).state == "22P02");
   }
   CATCH_CHECK(jsonFailure("1e400000").state.empty());
   CATCH_CHECK(jsonbFailure("1e400000").state == "22003");
   CATCH_CHECK(jsonbFailure("[1e400000 x").state == "22P02"); // the next token is read before the number is made
}

CATCH_TEST_CASE("errors of JSON tell what was expected, and where") {
   const auto check = [](const char* text, const char* detail, const char* context) {
      const Failure failure = jsonbFailure(text);
      CATCH_INFO(text);
      CATCH_CHECK(failure.message == (std::string_view(detail).starts_with("\\u0000")
                                          ? "unsupported Unicode escape sequence"
                                          : "invalid input syntax for type json"));
      CATCH_CHECK(failure.detail == detail);
      CATCH_CHECK(failure.context == std::string("JSON data, line ") + context);
   };
   check(R"({"a": "\ud83dx"})", "Unicode low surrogate must follow a high surrogate.", R"(1: {"a": "\ud83dx...)");
   check("{\"a\":\n \"\\ude00\"}", "Unicode low surrogate must follow a high surrogate.", R"(2:  "\ude00...)");
   check(R"({"a": "\ud83d\ud83d"})", "Unicode high surrogate must not follow a high surrogate.",
         R"(1: {"a": "\ud83d\ud83d...)");
   check(R"("\ud83d")", "Unicode low surrogate must follow a high surrogate.", R"(1: "\ud83d")");
   check(R"({"a": "x\u0000y", "b":1})", "\\u0000 cannot be converted to text.", R"(1: {"a": "x\u0000...)");
   check(R"({"a": "x\u00zy"})", "\"\\u\" must be followed by four hexadecimal digits.", R"(1: {"a": "x\u00z...)");
   check(R"({"a": "x\äy"})", "Escape sequence \"\\ä\" is invalid.", R"(1: {"a": "x\ä...)");
   check("{\"a\"", "The input string ended unexpectedly.", "1: {\"a\"");
   check("{\"a\": \"x\ty\"}", "Character with value 0x09 must be escaped.", "1: {\"a\": \"x...");
   check("{\"a\":1,}", "Expected string, but found \"}\".", "1: {\"a\":1,}");
   check("{1:1}", "Expected string or \"}\", but found \"1\".", "1: {1...");
   check("[1,]", "Expected JSON value, but found \"]\".", "1: [1,]");
   check("", "The input string ended unexpectedly.", "1: ");
   check("1 2", "Expected end of input, but found \"2\".", "1: 1 2");
   check("{\"a\" 1}", "Expected \":\", but found \"1\".", "1: {\"a\" 1...");
   check("{\"a\":1 \"b\":1}", "Expected \",\" or \"}\", but found \"\"b\"\".", "1: {\"a\":1 \"b\"...");
   check("[1 2]", "Expected \",\" or \"]\", but found \"2\".", "1: [1 2...");
   check(".5", "Token \".\" is invalid.", "1: ....");
   check("1a_ä+", "Token \"1a_ä\" is invalid.", "1: 1a_ä...");
   check("{\"a\":1,\n\"b\":2,\n\n \"c\": tru}", "Token \"tru\" is invalid.", "4:  \"c\": tru...");
   const std::string longLine = "{\"" + std::string(82, 'a') + "\":x, \"b\":1}";
   check(longLine.c_str(), "Token \"x\" is invalid.", ("1: ..." + std::string(46, 'a') + "\":x...").c_str());
}

CATCH_TEST_CASE("JSON nests to a limit, and texts beyond it are 54001") {
   const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
   setStackOfThreads(); // that of the main thread may be smaller
   std::string printed;
   std::thread thread([&] { printed = jsonbText(nested(8000)); });
   thread.join();
   CATCH_CHECK(printed == nested(8000));
   CATCH_CHECK(jsonFailure(nested(8000)).state.empty());
   CATCH_CHECK(jsonFailure(nested(8001)).state == "54001");
   CATCH_CHECK(jsonbFailure(nested(20000)).state == "54001");
   CATCH_CHECK(jsonbFailure(std::string(1000000, '[')).state == "54001");
}

CATCH_TEST_CASE("changed JSON texts are refused or print as jsonb that prints alike") {
   std::mt19937_64 random(11);
   const std::string seeds[] = {
       R"({"a":[1,2.50,-3e2,true,false,null],"bb":{"c":"x\u0041\n","":[]},"a":"longer than twelve bytes"})",
       R"([[[{"k":{"k":{"k":"\ud83d\ude00"}}}]]," ",0.0,"\\\"",{}])", "\"text\"", " 12345678901234567890123456789 "};
   constexpr std::string_view bytes = "{}[],:\"\\ \n0123456789.eE+-tfnu/xä";
   for (uint32_t round = 0; round < 20000; ++round) {
      std::string text = seeds[random() % std::size(seeds)];
      for (uint64_t n = random() % 4; n-- > 0;) {
         const size_t at = random() % text.size();
         switch (random() % 3) {
         case 0: text[at] = bytes[random() % (bytes.size() - 2)]; break;
         case 1: text.insert(at, 1, bytes[random() % (bytes.size() - 2)]); break;
         default: text.erase(at, 1 + random() % 3); break;
         }
         if (text.empty()) break;
      }
      CATCH_INFO(text);
      const Failure json = jsonFailure(text), jsonb = jsonbFailure(text);
      if (!json.state.empty()) CATCH_REQUIRE(!jsonb.state.empty());
      if (!jsonb.state.empty()) continue;
      const std::string printed = jsonbText(text);
      CATCH_REQUIRE(jsonbText(printed) == printed);
      CATCH_REQUIRE(jsonFailure(printed).state.empty());
   }
}
