#include "io/spill/regulator.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

using namespace ouzel::io;

namespace {

/// Rows that compress as `savings` times the table says, an operator that works `workNanos` per byte, a device of such
/// bandwidths: the levels of 200 runs.
std::vector<uint32_t> levelsOf(double bandwidth, double workNanos, double savings = 1) {
   Regulator regulator;
   std::vector<uint32_t> levels;
   for (int run = 0; run < 200; ++run) {
      levels.push_back(regulator.level());
      const SpillLevel& level = spillLevels()[regulator.level()];
      bool isFull = false;
      for (uint32_t page = 0; page < Regulator::runPages; ++page) {
         CATCH_REQUIRE_FALSE(isFull);
         const double bytes = 65536, encode = bytes * level.encodeNanos;
         isFull = regulator.add(65536, static_cast<size_t>(bytes * (1 - savings * (1 - level.ratio))),
                                static_cast<int64_t>(encode + bytes * workNanos), static_cast<int64_t>(encode));
      }
      CATCH_REQUIRE(isFull);
      regulator.decide({bandwidth, bandwidth, 1, workNanos});
   }
   return levels;
}

} // namespace

CATCH_TEST_CASE("the slower the device, the more is compressed, and it stays so") {
   uint32_t before = UINT32_MAX;
   for (const double bandwidth : {20e6, 50e6, 100e6, 200e6, 400e6, 800e6, 4e9, 0.0}) {
      const std::vector<uint32_t> levels = levelsOf(bandwidth, 1);
      const auto [least, most] = std::minmax_element(levels.begin() + 20, levels.end());
      CATCH_CHECK(*most - *least <= 1);
      CATCH_CHECK(*most <= before);
      before = *most;
      for (size_t i = 1; i < levels.size(); ++i)
         CATCH_CHECK(std::max(levels[i], levels[i - 1]) - std::min(levels[i], levels[i - 1]) <= 1);
   }
   CATCH_CHECK(before == 0);
   CATCH_CHECK(levelsOf(20e6, 1).back() >= spillLevels().size() - 2);
}

CATCH_TEST_CASE("what does not compress is not compressed, however slow the device") {
   CATCH_CHECK(levelsOf(20e6, 1, 0.0).back() == 0);
}

CATCH_TEST_CASE("an operator that is slow anyway leaves the device time: next to nothing is compressed") {
   CATCH_CHECK(levelsOf(400e6, 20).back() <= 1);
}
