#include "optimizer/cardinality/aggregates.hpp"

#include <catch2/catch.hpp>

#include "catalog/builtin/builtin.hpp"

using namespace ouzel;
using namespace ouzel::optimizer;

namespace {

constexpr sql::ColumnId quantity{3};

/// The result of an aggregate over a column of 1 to 50, with so many rows in each group.
ColumnEstimate resultOf(const char* name, double rowsOfGroup, bool distinct = false) {
   catalog::FunctionInfo function{};
   function.name = name;
   sql::AggregateCall call;
   call.function = &function;
   call.args.push_back(sql::makeColumn(quantity, SqlType{oid::numeric, -1, 0}));
   call.distinct = distinct;
   RelEstimate input;
   input.rows = 1e6;
   ColumnEstimate& column = input.columns[quantity];
   column.min = 1;
   column.max = 50;
   column.hasBounds = true;
   ColumnEstimate result;
   setSpread(result, call, input, rowsOfGroup);
   return result;
}

} // namespace

CATCH_TEST_CASE("groups with many rows are rarer the more rows they are to have") {
   const ColumnEstimate count = resultOf("count", 4);
   CATCH_CHECK(fractionBelow(count, 1, true) == Approx(0.25));
   CATCH_CHECK(fractionBelow(count, 1, false) == Approx(0.001)); // no group is empty
   CATCH_CHECK(fractionBelow(count, 2, true) == Approx(1 - 0.75 * 0.75));
   CATCH_CHECK(fractionBelow(count, 2.5, false) == fractionBelow(count, 2, true));
   CATCH_CHECK(fractionBelow(count, 1e6, false) == Approx(0.999));
   CATCH_CHECK(fractionBelow(resultOf("count", 1), 1, true) == Approx(0.999)); // keys are all but unique
}

CATCH_TEST_CASE("sums and averages lie around their mean") {
   const ColumnEstimate sum = resultOf("sum", 4), average = resultOf("avg", 4), ofMany = resultOf("avg", 400);
   CATCH_CHECK(fractionBelow(sum, 102, true) == Approx(0.5));
   CATCH_CHECK(fractionBelow(sum, 160, true) == Approx(0.84).margin(0.02)); // a deviation more
   CATCH_CHECK(fractionBelow(sum, 300, true) == Approx(0.999));
   CATCH_CHECK(fractionBelow(average, 25.5, true) == Approx(0.5));
   CATCH_CHECK(fractionBelow(average, 22, true) > 0.2);
   CATCH_CHECK(fractionBelow(ofMany, 22, true) == Approx(0.001));
}

CATCH_TEST_CASE("of other aggregates nothing is known") {
   CATCH_CHECK(resultOf("max", 4).spread == ColumnEstimate::Spread::Unknown);
   CATCH_CHECK(resultOf("sum", 4, true).spread == ColumnEstimate::Spread::Unknown);
}
