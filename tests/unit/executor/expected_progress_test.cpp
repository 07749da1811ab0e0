#include "executor/schedule/expected_progress.hpp"

#include <catch2/catch.hpp>

namespace ouzel::executor {

namespace {

using sql::plan::HashJoin;
using sql::plan::Node;
using sql::plan::TableScan;

std::unique_ptr<Node> scanOf(double rows) {
   auto scan = std::make_unique<Node>(TableScan{});
   scan->estimatedRows = rows;
   scan->estimatedCost = rows;
   return scan;
}

/// Costs of the probe's scan and of the join, where the join keeps `kept` of a million rows.
std::pair<double, double> probeCosts(double kept, bool filters) {
   Node join{HashJoin{}};
   join.children.push_back(scanOf(1e6));
   join.children.push_back(scanOf(1000));
   join.estimatedRows = kept;
   join.estimatedCost = 3e6;
   if (filters) {
      join.as<HashJoin>().runtimeFilterSources.push_back({7, 0});
      join.children[0]->as<TableScan>().runtimeFilters.push_back({7, sql::noColumn});
   }
   Pipeline probe;
   probe.stages.emplace_back();
   probe.stages[0].sourceProfile = 1;
   probe.stages[0].operatorProfiles = {0};
   const auto stages = expectedStages(probe, nodesByProfile(join));
   CATCH_REQUIRE((stages.size() == 1 && stages[0].works.size() == 3));
   return {stages[0].works[1].cost, stages[0].works[2].cost};
}

} // namespace

CATCH_TEST_CASE("expected progress: the filter of a join drops rows before they cost anything") {
   const auto [scan, join] = probeCosts(2e5, false);
   CATCH_CHECK(probeCosts(2e5, true).first == Approx(0.2 * scan));
   CATCH_CHECK(probeCosts(2e5, true).second == Approx(0.2 * join));
   CATCH_CHECK(probeCosts(10, true).first == Approx(0.1 * scan)); // which is read all the same
   CATCH_CHECK(probeCosts(5e6, true).first == Approx(scan));
   CATCH_CHECK(probeCosts(5e6, true).second == Approx(join));
}

} // namespace ouzel::executor
