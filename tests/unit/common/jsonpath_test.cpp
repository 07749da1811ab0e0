#include "common/json/jsonpath.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "common/error/sql_error.hpp"
#include "tests/unit/recorded_cases.hpp"

using namespace ouzel;

namespace {

std::string printed(std::string_view bytes) {
   std::string text;
   json::appendPathText(text, bytes);
   return text;
}

/// The paths of the recorded cases that PostgreSQL accepts.
std::vector<std::string> goodPaths() {
   std::vector<std::string> paths;
   for (const test::RecordedCase& c : test::readRecordedCases("jsonpath"))
      if (c.operation == "parse" && !c.expected.starts_with('!')) paths.push_back(c.arguments[0]);
   return paths;
}

} // namespace

CATCH_TEST_CASE("paths are read, refused and printed as by PostgreSQL", "[jsonpath]") {
   test::checkRecordedCases(
       "jsonpath",
       [](const test::RecordedCase& c) {
          return c.operation == "parse" ? printed(json::pathFromText(c.arguments[0])) : c.expected;
       },
       // Whether a pattern is well formed is known to the executor only.
       [](const test::RecordedCase& c) { return c.expected.starts_with("!2201B"); });
}

CATCH_TEST_CASE("equal paths have equal bytes", "[jsonpath]") {
   const std::vector<std::string> paths = goodPaths();
   size_t unreadable = 0; // PostgreSQL leaves out parentheses that an accessor behind a predicate needs
   for (const std::string& text : paths) {
      const std::string bytes = json::pathFromText(text);
      CATCH_INFO(text);
      try {
         const std::string again = json::pathFromText(printed(bytes));
         CATCH_CHECK(again == bytes);
      } catch (const SqlError&) {
         ++unreadable;
      }
   }
   CATCH_CHECK(unreadable * 20 < paths.size());
}

CATCH_TEST_CASE("damaged bytes of paths are refused", "[jsonpath]") {
   std::mt19937_64 random(1);
   size_t refused = 0;
   for (const std::string& text : goodPaths()) {
      const std::string bytes = json::pathFromText(text);
      for (size_t size = 0; size < bytes.size(); ++size)
         CATCH_CHECK_THROWS_AS(printed(std::string_view(bytes).substr(0, size)), SqlError);
      for (int i = 0; i < 20; ++i) {
         std::string damaged = bytes;
         damaged[random() % damaged.size()] = static_cast<char>(random());
         try {
            printed(damaged);
         } catch (const SqlError&) {
            ++refused;
         }
      }
   }
   CATCH_CHECK(refused > 0);
}

CATCH_TEST_CASE("paths that nest too deeply end in an error", "[jsonpath]") {
   constexpr size_t depth = 1'000'000;
   CATCH_CHECK_THROWS_AS(json::pathFromText(std::string(depth, '(')), SqlError);
   CATCH_CHECK_THROWS_AS(json::pathFromText(std::string(depth, '-') + "$"), SqlError);
   std::string filters = "$";
   for (size_t i = 0; i < depth; ++i)
      filters += "?(@";
   CATCH_CHECK_THROWS_AS(json::pathFromText(filters), SqlError);
   std::string chain = "$";
   for (size_t i = 0; i < depth; ++i)
      chain += ".a";
   CATCH_CHECK(printed(json::pathFromText(chain)).size() == 1 + 4 * depth);
}
