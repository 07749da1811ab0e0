#include "common/json/jsonpath.hpp"

#include <catch2/catch.hpp>
#include <functional>

#include "common/error/sql_error.hpp"
#include "common/json/json_input.hpp"
#include "common/json/jsonb_text.hpp"
#include "common/thread/interruption.hpp"
#include "common/type/time_zone.hpp"
#include "executor/function/jsonpath/path_query.hpp"
#include "executor/function/registry.hpp"
#include "tests/unit/recorded_cases.hpp"

using namespace ouzel;
using namespace ouzel::executor;

namespace {

std::string jsonb(std::string_view text) {
   Arena arena;
   return std::string(json::parseJsonb(text, arena).view());
}

std::string printed(StringView value) {
   std::string text;
   json::appendText(text, json::JsonbView(value.view()));
   return text;
}

std::string truthText(std::optional<bool> truth) {
   return !truth ? "NULL" : *truth ? "true" : "false";
}

std::string matchText(const PathItems& found, bool isSilent) {
   if (found.size() == 1 && found[0].kind() == PathItem::Kind::Boolean) return truthText(found[0].boolean());
   if ((found.size() == 1 && found[0].kind() == PathItem::Kind::Null) || isSilent) return "NULL";
   throw SqlError(sqlstate::singletonSqlJsonItemRequired, "single boolean result is expected");
}

/// Arguments: document, path, variables, silent, time zone (empty: of the functions that know none).
std::string evaluate(const test::RecordedCase& c) {
   if (c.operation == "parse") {
      std::string text;
      json::appendPathText(text, json::pathFromText(c.arguments[0]));
      return text;
   }
   const std::string document = jsonb(c.arguments[0]), path = json::pathFromText(c.arguments[1]);
   const std::string variables = jsonb(c.arguments[2]), &zone = c.arguments[4];
   SessionFormat format;
   format.zone = zone.empty() ? nullptr : findTimeZone(zone);
   FunctionContext context;
   context.format = &format;
   PathQuery query(context, !zone.empty(), nullptr);
   const PathQuery::Row row{document, path, variables, c.arguments[3] == "true"};
   Arena arena;
   if (c.operation == "exists") return truthText(query.exists(row));
   return query.find(row, [&](const PathItems& found) -> std::string {
      if (c.operation == "match") return matchText(found, row.isSilent);
      if (c.operation == "query_array") return printed(query.array(found, arena));
      return found.size() > 0 ? printed(query.value(found[0], arena)) : "NULL";
   });
}

} // namespace

CATCH_TEST_CASE("paths find what they find in PostgreSQL", "[jsonpath]") {
   registerAllKernels(); // sets the check of patterns
   test::checkRecordedCases("jsonpath", evaluate);
}

CATCH_TEST_CASE("a path over a large document notices a cancel", "[jsonpath]") {
   std::string text = "[0";
   for (int i = 1; i < 20000; ++i)
      text += ", " + std::to_string(i);
   text += "]";
   const std::string document = jsonb(text), path = json::pathFromText("$[*] ? ($[*] < -1)"); // 4 * 10^8 elements
   int checks = 0;
   const std::function<void()> check = [&checks] {
      if (++checks > 3) throw SqlError(sqlstate::queryCanceled, "canceled");
   };
   const Interruptible interruptible(check);
   const FunctionContext context;
   PathQuery query(context, false, nullptr);
   CATCH_CHECK_THROWS_AS(query.exists({document, path, std::nullopt, true}), SqlError);
   CATCH_CHECK(checks == 4);
}

CATCH_TEST_CASE("a long chain of items needs no stack", "[jsonpath]") {
   const FunctionContext context;
   PathQuery query(context, false, nullptr);
   std::string path = "$";
   for (int i = 0; i < 200000; ++i)
      path += " ? (@ == 1)";
   const std::string bytes = json::pathFromText(path), document = jsonb("1");
   CATCH_CHECK(query.exists({document, bytes, std::nullopt, true}) == true);
}
