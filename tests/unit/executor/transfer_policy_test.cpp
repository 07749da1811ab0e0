#include "executor/policy/transfer_policy.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

// The plans are compared with the tables and the worked examples of REMOP, which are about divisible numbers of passes
// and blocks: with very large inputs the difference vanishes, with small ones the plans must be at least as good.

using namespace ouzel;
using namespace ouzel::executor;
using Catch::Detail::Approx;

namespace {

/// Rounds of buffers with these loads and parts.
double roundsOf(std::span<const double> loads, std::span<const double> parts) {
   double rounds = 0;
   for (size_t i = 0; i < loads.size(); ++i)
      if (loads[i] > 0) rounds += loads[i] / parts[i];
   return rounds;
}

/// REMOP's cost of a merge pass per doubling of the runs' length, whose minimum over k is table IV.
double mergeCost(double k, double alpha) {
   return (2 + std::pow(std::sqrt(k) + 1, 2) / alpha) / std::log2(k);
}

} // namespace

CATCH_TEST_CASE("transfer policy: nested loops of REMOP's table III", "[policy]") {
   // The part of the memory for both inputs, by f * M and M / tau.
   const double alphas[] = {0.01, 0.1, 1, 10, 100, 1e3, 1e4};
   const struct {
      double beta, inputs[7];
   } table[] = {{0.01, {.966, .967, .970, .980, .991, .997, .999}},
                {0.1, {.904, .905, .912, .940, .973, .991, .997}},
                {1, {.764, .765, .778, .836, .921, .971, .990}},
                {10, {.547, .549, .560, .633, .789, .913, .970}},
                {100, {.330, .331, .337, .384, .549, .769, .910}}};
   for (const auto& row : table)
      for (size_t column = 0; column < 7; ++column) {
         NestedLoopSizes sizes;
         sizes.memory = 1e6;
         sizes.left = sizes.right = 1e13;
         sizes.out = row.beta / sizes.memory * sizes.left * sizes.right;
         const double tau = sizes.memory / alphas[column];
         const NestedLoopPlan plan = planNestedLoop(sizes, tau);
         CATCH_CAPTURE(row.beta, alphas[column]);
         const double inputs = plan.leftPart + plan.rightPart;
         CATCH_CHECK(inputs / sizes.memory == Approx(row.inputs[column]).margin(0.004));
         CATCH_CHECK(plan.leftPart + plan.rightPart + plan.outPart == Approx(sizes.memory));
         // Property 4: the inputs' parts are as sqrt(1 + inputs / tau) to 1.
         CATCH_CHECK(plan.leftPart / plan.rightPart == Approx(std::sqrt(1 + inputs / tau)).epsilon(0.02));
      }
}

CATCH_TEST_CASE("transfer policy: whole blocks of a nested loop", "[policy]") {
   // The example: 500 pages with 1,000 pages in 101 pages of memory, one of them for results.
   NestedLoopSizes sizes{.left = 500, .right = 1000, .memory = 100, .rightMin = 1};
   const NestedLoopPlan conventional = planNestedLoop(sizes, 0, 0.99);
   CATCH_CHECK(conventional.predicted.volume == 6500);
   CATCH_CHECK(conventional.predicted.rounds == 6006);
   const NestedLoopPlan equal = planNestedLoop(sizes, 0, 0.5);
   CATCH_CHECK(equal.predicted.volume == 10'500);
   CATCH_CHECK(equal.predicted.rounds == 210);
   // The least volume needs six blocks; what they leave of the memory saves 94 % of the rounds.
   const NestedLoopPlan disk = planNestedLoop(sizes, 1e-6);
   CATCH_CHECK(disk.blocks == 6);
   CATCH_CHECK(disk.predicted.volume == 6500);
   CATCH_CHECK(disk.predicted.rounds <= 384);
   for (const double tau : {0.0, 0.01, 0.2, 1.0, 10.0, 100.0, 1e4}) {
      const double best = planNestedLoop(sizes, tau).predicted.cost(tau);
      for (double share = 0.02; share < 1; share += 0.01)
         CATCH_REQUIRE(best <= planNestedLoop(sizes, tau, share).predicted.cost(tau) * 1.0001);
   }
   // A buffer of the right side that cannot be filled is not made.
   NestedLoopSizes narrow = sizes;
   narrow.rightMax = 8;
   CATCH_CHECK(planNestedLoop(narrow, 100).rightPart == 8);
   CATCH_CHECK(planNestedLoop(narrow, 100).blocks < planNestedLoop(sizes, 100).blocks);
   // A left side that fits makes one block, whatever rounds cost.
   CATCH_CHECK(planNestedLoop({.left = 10, .right = 1000, .memory = 100, .rightMin = 1}, 0.2).blocks == 1);
   CATCH_CHECK(planNestedLoop({.left = 0, .right = 1000, .memory = 100, .rightMin = 1}, 0.2).blocks == 1);
}

CATCH_TEST_CASE("transfer policy: merges of REMOP's table IV", "[policy]") {
   const struct {
      double alpha, fanIn;
   } table[] = {{1e-9, 4}, {1, 5}, {4, 8}, {16, 17}, {64, 43}, {256, 126}, {1024, 396}};
   for (const auto& [alpha, fanIn] : table) {
      // The cost of a pass is the table's, so that its fan-in is the best for divisible passes.
      for (double k = 2; k < 4096; ++k)
         CATCH_REQUIRE(mergeCost(fanIn, alpha) <= mergeCost(k, alpha) * (1 + 1e-9));
      const double memory = 1000, tau = memory / alpha, pages = 1e6;
      // One pass more, by any fan-in, costs what the table minimises.
      for (const uint32_t k : {2u, 3u, static_cast<uint32_t>(fanIn), static_cast<uint32_t>(fanIn) + 1}) {
         const double three = planMerge(k * k * k, pages, memory, tau, k, k).predicted.cost(tau);
         const double two = planMerge(k * k, pages, memory, tau, k, k).predicted.cost(tau);
         CATCH_CHECK((three - two) / pages == Approx(mergeCost(k, alpha) * std::log2(k)));
      }
      for (const uint32_t runs : {10u, 128u, 1000u, 50'000u}) {
         const MergePlan best = planMerge(runs, pages, memory, tau, runs);
         for (const uint32_t k : {2u, 3u, static_cast<uint32_t>(fanIn), 999u, runs}) {
            CATCH_CAPTURE(alpha, runs, k);
            CATCH_REQUIRE(best.predicted.cost(tau) <= planMerge(runs, pages, memory, tau, runs, k).predicted.cost(tau));
         }
      }
   }
}

CATCH_TEST_CASE("transfer policy: whole passes of a merge", "[policy]") {
   CATCH_CHECK(planMerge(1, 10, 10, 1, 10).passes == 0);
   CATCH_CHECK(planMerge(100, 1000, 1e6, 0.25, 100).fanIn == 100); // rounds cost nothing: one pass
   CATCH_CHECK(planMerge(100, 1000, 1e6, 0.25, 100).passes == 1);
   CATCH_CHECK(planMerge(100, 1000, 40, 0.25, 20).passes == 2);   // more runs do not fit
   CATCH_CHECK(planMerge(1000, 10'000, 10, 100, 200).fanIn < 16); // rounds are dear: few runs at once
   CATCH_CHECK(planMerge(1000, 10'000, 10, 100, 200, 50).fanIn == 50);
   // 128 runs of 13,000 pages in 101 pages: with cheap rounds two passes. REMOP's fan-in of four needs four.
   const MergePlan two = planMerge(128, 13'000, 101, 0.5, 50);
   CATCH_CHECK(two.passes == 2);
   CATCH_CHECK(two.predicted.volume == 3 * 13'000);
   CATCH_CHECK(two.predicted.cost(0.5) < planMerge(128, 13'000, 101, 0.5, 50, 4).predicted.cost(0.5));
}

CATCH_TEST_CASE("transfer policy: buffers of REMOP's table VI", "[policy]") {
   const double build = 3000, probe = 20'000, out = 500, memory = 640;
   for (const double spilled : {0.1, 0.5, 1.0})
      for (const double partitions : {16.0, 256.0}) {
         const double root = spilled * std::sqrt(partitions), resident = (1 - spilled) * out;
         const double building[] = {build, spilled * spilled * partitions * build};
         const double probing[] = {probe, spilled * spilled * partitions * probe, resident};
         const double joining[] = {spilled * (build + probe), spilled * out};
         CATCH_CHECK(roundsOf(building, splitByLoads(building, memory)) ==
                     Approx(build * std::pow(1 + root, 2) / memory));
         CATCH_CHECK(roundsOf(probing, splitByLoads(probing, memory)) ==
                     Approx(std::pow(std::sqrt(probe) * (1 + root) + std::sqrt(resident), 2) / memory));
         CATCH_CHECK(roundsOf(joining, splitByLoads(joining, memory)) ==
                     Approx(spilled * std::pow(std::sqrt(build + probe) + std::sqrt(out), 2) / memory));
         const std::vector<double> parts = splitByLoads(building, memory);
         CATCH_CHECK(parts[1] / parts[0] == Approx(root));
         CATCH_CHECK(std::accumulate(parts.begin(), parts.end(), 0.0) == Approx(memory));
      }
}

CATCH_TEST_CASE("transfer policy: reading ahead", "[policy]") {
   const io::TransferCost disk{1, 2, 125'000}, remote{4, 4, 10'000'000};
   CATCH_CHECK(readAheadBytes(disk, 2 << 20, 64 << 20) == 2 << 20);
   const size_t bytes = readAheadBytes(remote, 2 << 20, 64 << 20);
   CATCH_CHECK(bytes > 10 << 20);
   // Half of it takes four times as long as a round.
   CATCH_CHECK(static_cast<double>(bytes) / 2 * remote.readNanosPerByte == Approx(4 * remote.roundNanos));
   CATCH_CHECK(readAheadBytes(remote, 2 << 20, 5 << 20) == 5 << 20);
   CATCH_CHECK(readAheadBytes(remote, 2 << 20, 1 << 20) == 2 << 20);
   CATCH_CHECK(readAheadBytes({}, 2 << 20, 64 << 20) == 2 << 20);
   CATCH_CHECK(reading(0, 0, 100).rounds == 0);
   CATCH_CHECK(reading(100, 1000, 0).rounds == 100); // a page at a time
   CATCH_CHECK(reading(100, 1000, 20).rounds == 99); // two, then one whenever one is left
   CATCH_CHECK(reading(100, 1000, 200).rounds == 9); // 20 pages, then 10 whenever 10 are left
   CATCH_CHECK(reading(30, 300, 1000).rounds == 1);
   CATCH_CHECK(reading(100, 1000, 1000).rounds == 6); // 32 pages, then 16
   CATCH_CHECK(reading(100, 1000, 200).volume == 1000);
}
