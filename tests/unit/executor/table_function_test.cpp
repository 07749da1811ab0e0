#include "executor/function/table/table_function.hpp"

#include <catch2/catch.hpp>

#include "catalog/builtin/builtin.hpp"
#include "common/error/sql_error.hpp"
#include "common/type/text_codec.hpp"
#include "tests/unit/executor/expression_support.hpp"

using namespace ouzel;
using namespace ouzel::executor;
using test::Column;

namespace {

/// Runs a function of built-in types over textual arguments. Fetches at most `step` rows at a time and returns them as
/// text.
std::vector<std::string> run(const char* name, std::vector<Oid> types, std::vector<const char*> args,
                             std::vector<Oid> results, uint32_t step = 3) {
   TableFunctionSignature s;
   for (const catalog::FunctionInfo* f : catalog::builtins().functions(name)) {
      bool fits = f->argTypes.size() == types.size();
      for (size_t i = 0; fits && i < types.size(); ++i)
         fits = f->argTypes[i] == types[i] || f->argTypes[i] == oid::anyarray;
      if (fits && !s.function) s.function = f;
   }
   CATCH_REQUIRE(s.function);
   std::vector<Column> columns;
   std::vector<Vector> vectors;
   for (size_t i = 0; i < types.size(); ++i) {
      const SqlType type{types[i], -1, 0};
      s.argTypes.push_back(type);
      s.argReprs.push_back(storedRepresentation(type));
      const PhysicalType physical = s.argReprs.back().physical;
      columns.push_back(
          Column::flat(physical, {Value::null(physical),
                                  args[i] ? parseText(type, args[i], SessionFormat{}) : Value::null(physical)}));
      vectors.push_back(columns.back().vector());
   }
   for (const Oid result : results) {
      s.resultTypes.push_back({result, -1, 0});
      s.resultReprs.push_back(storedRepresentation(s.resultTypes.back()));
   }
   const std::vector<SqlType> resultTypes = s.resultTypes;
   const auto function = makeTableFunction(std::move(s), test::testContext(), test::testMemory());
   std::vector<std::string> rows;
   for (int repeat = 0; repeat < 2; ++repeat) { // begin() starts over
      rows.clear();
      function->begin(vectors, 1);
      std::vector<Vector> out(results.size());
      while (const uint32_t count = function->next(step, out)) {
         CATCH_REQUIRE(count <= step);
         for (uint32_t i = 0; i < count; ++i) {
            std::string row;
            for (size_t c = 0; c < out.size(); ++c) {
               const Value value = Value::fromVector(out[c], i);
               row += (c ? "|" : "") + (value.isNull ? "NULL" : textOf(resultTypes[c], value, SessionFormat{}));
            }
            rows.push_back(row);
         }
      }
   }
   return rows;
}
using Rows = std::vector<std::string>;

} // namespace

CATCH_TEST_CASE("series count up and down without overflow", "[table_function]") {
   const Oid i4 = oid::int4, i8 = oid::int8, num = oid::numeric;
   CATCH_CHECK(run("generate_series", {i4, i4}, {"1", "5"}, {i4}) == Rows{"1", "2", "3", "4", "5"});
   CATCH_CHECK(run("generate_series", {i4, i4, i4}, {"5", "0", "-2"}, {i4}) == Rows{"5", "3", "1"});
   CATCH_CHECK(run("generate_series", {i4, i4}, {"2", "1"}, {i4}).empty());
   CATCH_CHECK(run("generate_series", {i4, i4}, {nullptr, "1"}, {i4}).empty());
   CATCH_CHECK(run("generate_series", {i4, i4, i4}, {"2147483640", "2147483647", "5"}, {i4}) ==
               Rows{"2147483640", "2147483645"});
   CATCH_CHECK(run("generate_series", {i8, i8, i8}, {"-9223372036854775807", "-9223372036854775808", "-1"}, {i8}) ==
               Rows{"-9223372036854775807", "-9223372036854775808"});
   CATCH_CHECK(run("generate_series", {num, num, num}, {"1", "2", "0.25"}, {num}) ==
               Rows{"1", "1.25", "1.50", "1.75", "2.00"});
   CATCH_CHECK_THROWS_AS(run("generate_series", {i4, i4, i4}, {"1", "2", "0"}, {i4}), SqlError);
   const Oid ts = oid::timestamp;
   CATCH_CHECK(run("generate_series", {ts, ts, oid::interval}, {"2000-01-31", "2000-05-01", "1 month"}, {ts}) ==
               Rows{"2000-01-31 00:00:00", "2000-02-29 00:00:00", "2000-03-29 00:00:00", "2000-04-29 00:00:00"});
   const Rows many = run("generate_series", {i8, i8}, {"1", "5000"}, {i8}, 2048);
   CATCH_CHECK(many.size() == 5000);
   CATCH_CHECK(many.back() == "5000");
}

CATCH_TEST_CASE("arrays and strings become rows", "[table_function]") {
   CATCH_CHECK(run("unnest", {oid::int4Array}, {"{{1,2},{3,NULL}}"}, {oid::int4}) == Rows{"1", "2", "3", "NULL"});
   CATCH_CHECK(run("unnest", {oid::textArray}, {"{}"}, {oid::text}).empty());
   CATCH_CHECK(run("generate_subscripts", {oid::int4Array, oid::int4}, {"[3:5]={7,8,9}", "1"}, {oid::int4}) ==
               Rows{"3", "4", "5"});
   CATCH_CHECK(run("string_to_table", {oid::text, oid::text}, {"a,b,,c", ","}, {oid::text}) == Rows{"a", "b", "", "c"});
   CATCH_CHECK(run("string_to_table", {oid::text, oid::text, oid::text}, {"a,b,x", ",", "x"}, {oid::text}) ==
               Rows{"a", "b", "NULL"});
   CATCH_CHECK(run("regexp_split_to_table", {oid::text, oid::text}, {"the quick  fox", "\\s+"}, {oid::text}) ==
               Rows{"the", "quick", "fox"});
   CATCH_CHECK(run("regexp_matches", {oid::text, oid::text, oid::text}, {"foobarbequebaz", "ba(.)", "g"},
                   {oid::textArray}) == Rows{"{r}", "{z}"});
   CATCH_CHECK(run("pg_get_keywords", {}, {}, {oid::text, oid::character, oid::boolean, oid::text, oid::text})[0] ==
               "abort|U|t|unreserved|can be bare label");
}

CATCH_TEST_CASE("a scalar function in FROM gives one row", "[table_function]") {
   CATCH_CHECK(run("upper", {oid::text}, {"abc"}, {oid::text}) == Rows{"ABC"});
   CATCH_CHECK(run("upper", {oid::text}, {nullptr}, {oid::text}) == Rows{"NULL"});
}
