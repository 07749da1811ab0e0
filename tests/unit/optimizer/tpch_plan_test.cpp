#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "optimizer/optimizer.hpp"
#include "sql/plan/verify.hpp"
#include "tests/unit/optimizer/plan_interpreter.hpp"
#include "tests/unit/sql/bind/test_catalog.hpp"

// The plans of TPC-H under the statistics of scale factor 1: shapes that decide whether a query is fast. With PLANS=all
// or PLANS=<number> in the environment the plans are printed.

using namespace ouzel;
using namespace ouzel::sql;

namespace {

std::string readFile(const std::string& path) {
   std::ifstream file(std::string(OUZEL_SOURCE_DIR) + "/" + path);
   std::stringstream text;
   text << file.rdbuf();
   return text.str();
}

using Parameters = std::map<std::string, std::string>;

/// The parameters of the specification's validation runs.
const Parameters& parameters(int number) {
   static const std::map<int, Parameters> all = {
       {1, {{"delta", "90"}}},
       {2, {{"size", "15"}, {"type", "BRASS"}, {"region", "EUROPE"}}},
       {3, {{"segment", "BUILDING"}, {"date", "1995-03-15"}}},
       {4, {{"date", "1993-07-01"}}},
       {5, {{"region", "ASIA"}, {"date", "1994-01-01"}}},
       {6, {{"date", "1994-01-01"}, {"discount", "0.06"}, {"quantity", "24"}}},
       {7, {{"nation1", "FRANCE"}, {"nation2", "GERMANY"}}},
       {8, {{"nation", "BRAZIL"}, {"region", "AMERICA"}, {"type", "ECONOMY ANODIZED STEEL"}}},
       {9, {{"color", "green"}}},
       {10, {{"date", "1993-10-01"}}},
       {11, {{"nation", "GERMANY"}, {"fraction", "0.0001"}}},
       {12, {{"mode1", "MAIL"}, {"mode2", "SHIP"}, {"date", "1994-01-01"}}},
       {13, {{"word1", "special"}, {"word2", "requests"}}},
       {14, {{"date", "1995-09-01"}}},
       {15, {{"date", "1996-01-01"}}},
       {16, {{"brand", "Brand#45"}, {"type", "MEDIUM POLISHED"}, {"sizes", "49, 14, 23, 45, 19, 3, 36, 9"}}},
       {17, {{"brand", "Brand#23"}, {"container", "MED BOX"}}},
       {18, {{"quantity", "300"}}},
       {19,
        {{"brand1", "Brand#12"},
         {"brand2", "Brand#23"},
         {"brand3", "Brand#34"},
         {"quantity1", "1"},
         {"quantity2", "10"},
         {"quantity3", "20"}}},
       {20, {{"color", "forest"}, {"date", "1994-01-01"}, {"nation", "CANADA"}}},
       {21, {{"nation", "SAUDI ARABIA"}}},
       {22, {{"codes", "'13', '31', '23', '29', '30', '18', '17'"}}},
   };
   return all.at(number);
}

std::string queryText(int number) {
   std::string text =
       readFile("bench/tpch/queries/q" + std::string(number < 10 ? "0" : "") + std::to_string(number) + ".sql");
   for (const auto& [name, value] : parameters(number))
      for (size_t at = text.find("{" + name + "}"); at != std::string::npos; at = text.find("{" + name + "}"))
         text.replace(at, name.size() + 2, value);
   return text;
}

/// Row counts, distinct counts and bounds as at scale factor 1.
class Statistics : public optimizer::StatisticsProvider {
public:
   explicit Statistics(const catalog::Snapshot& snapshot) : snapshot_(snapshot) {}

   std::shared_ptr<const storage::TableStatistics> statistics(const TableRef& table) override {
      static const std::map<std::string, uint64_t> rows = {
          {"region", 5},     {"nation", 25},        {"supplier", 10'000},  {"customer", 150'000},
          {"part", 200'000}, {"partsupp", 800'000}, {"orders", 1'500'000}, {"lineitem", 6'001'215}};
      struct Column {
         double distinct;
         std::optional<int64_t> low, high;
      };
      static const std::map<std::string, Column> known = {{"regionkey", {5, 0, 4}},
                                                          {"nationkey", {25, 0, 24}},
                                                          {"suppkey", {10'000, 1, 10'000}},
                                                          {"custkey", {150'000, 1, 150'000}},
                                                          {"partkey", {200'000, 1, 200'000}},
                                                          {"orderkey", {1'500'000, 1, 6'000'000}},
                                                          {"quantity", {50, 100, 5000}},
                                                          {"extendedprice", {900'000, 90'000, 10'500'000}},
                                                          {"discount", {11, 0, 10}},
                                                          {"tax", {9, 0, 8}},
                                                          {"shipdate", {2526, -2921, -396}},
                                                          {"orderdate", {2406, -2922, -516}},
                                                          {"commitdate", {2466, -2892, -426}},
                                                          {"receiptdate", {2554, -2919, -366}},
                                                          {"returnflag", {3, {}, {}}},
                                                          {"linestatus", {2, {}, {}}},
                                                          {"shipmode", {7, {}, {}}},
                                                          {"shipinstruct", {4, {}, {}}},
                                                          {"size", {50, 1, 50}},
                                                          {"brand", {25, {}, {}}},
                                                          {"type", {150, {}, {}}},
                                                          {"container", {40, {}, {}}},
                                                          {"mktsegment", {5, {}, {}}},
                                                          {"orderstatus", {3, {}, {}}},
                                                          {"orderpriority", {5, {}, {}}},
                                                          {"acctbal", {140'000, -99'999, 999'999}},
                                                          {"availqty", {9999, 1, 9999}},
                                                          {"supplycost", {100'000, 100, 100'000}},
                                                          {"totalprice", {1'400'000, 85'000, 60'000'000}},
                                                          {"linenumber", {7, 1, 7}}};
      const auto relation = snapshot_.relation(table.relation);
      auto result = std::make_shared<storage::TableStatistics>();
      result->rowCount = rows.at(table.name);
      for (const auto& attribute : relation->columns) {
         storage::ColumnStatistics column;
         std::string name(attribute.name);
         name = name.substr(name.find('_') + 1);
         const auto it = known.find(name);
         column.distinct =
             std::min(static_cast<double>(result->rowCount), it == known.end() ? 1e9 : it->second.distinct);
         if (it != known.end() && it->second.low) {
            const PhysicalType physical = storedRepresentation(attribute.type).physical;
            column.min = Value::integer(physical, *it->second.low);
            column.max = Value::integer(physical, *it->second.high);
         }
         column.averageWidth = 10;
         result->columns.push_back(column);
      }
      return result;
   }

private:
   const catalog::Snapshot& snapshot_;
};

TestCatalog& tpch() {
   static TestCatalog catalog;
   static const bool made = [] {
      catalog.run(readFile("bench/tpch/schema.sql"));
      return true;
   }();
   (void)made;
   return catalog;
}

std::unique_ptr<plan::Plan> planOf(int number) {
   Statistics statistics(tpch().snapshot());
   optimizer::OptimizerContext context;
   context.statistics = &statistics;
   auto result = optimizer::optimize(tpch().bind(queryText(number)), context);
   sql::plan::verify(*result);
   const char* wanted = std::getenv("PLANS");
   if (wanted && (wanted == std::string("all") || wanted == std::to_string(number)))
      std::cout << "---- Q" << number << "\n" << plan::toString(*result);
   return result;
}

void forEachNode(const plan::Node& node, const std::function<void(const plan::Node&)>& visit) {
   visit(node);
   for (const plan::NodePtr& child : node.children)
      forEachNode(*child, visit);
   for (const plan::CtePlan& cte : node.ctes())
      forEachNode(*cte.plan, visit);
}

} // namespace

CATCH_TEST_CASE("all TPC-H queries get plans without large cross products") {
   for (int number = 1; number <= 22; ++number) {
      CATCH_INFO("Q" << number);
      const auto result = planOf(number);
      forEachNode(*result->root, [](const plan::Node& node) {
         // Nested loops only over one row: scalar subqueries.
         if (node.kind == plan::NodeKind::NestedLoopJoin) CATCH_CHECK(node.children[1]->estimatedRows <= 1);
      });
   }
}

CATCH_TEST_CASE("planning is quick", "[.time]") {
   for (int number = 1; number <= 22; ++number) {
      Statistics statistics(tpch().snapshot());
      optimizer::OptimizerContext context;
      context.statistics = &statistics;
      BoundQuery query = tpch().bind(queryText(number));
      const auto start = std::chrono::steady_clock::now();
      const auto result = optimizer::optimize(std::move(query), context);
      const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
      CATCH_WARN("Q" << number << ": " << ms << " ms");
   }
}
