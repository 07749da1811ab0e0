#include "io/spill/regulator.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

using namespace ouzel::io;

namespace {

/// The levels of 200 runs: rows whose compression saves `savings` times the table's bytes, an operator that works
/// `workNanos` per byte, a device with bandwidth `bandwidth`.
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

/// Simulates one run of pages at the regulator's level. All work takes `busy` times as long as on an idle machine.
void run(Regulator& regulator, double bandwidth, double workNanos, double savings, double busy) {
   const SpillLevel& level = spillLevels()[regulator.level()];
   constexpr double bytes = 65536;
   const double encode = bytes * level.encodeNanos * busy;
   for (uint32_t page = 0; page < Regulator::runPages; ++page)
      regulator.add(65536, static_cast<size_t>(bytes * (1 - savings * (1 - level.ratio))),
                    static_cast<int64_t>(encode + bytes * workNanos * busy), static_cast<int64_t>(encode));
   regulator.decide({bandwidth, 2 * bandwidth, 1, workNanos * busy});
}

/// Nanoseconds per byte to write to the device and read back, when CPU and device work in parallel.
double costOf(uint32_t number, double bandwidth, double workNanos, double busy) {
   const SpillLevel& level = spillLevels()[number];
   return std::max((workNanos + level.encodeNanos) * busy, level.ratio * 1e9 / bandwidth) +
          std::max((workNanos + level.decodeNanos) * busy, level.ratio * 1e9 / (2 * bandwidth));
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

CATCH_TEST_CASE("measurements may be off: the levels chosen are nearly as fast as the best one") {
   // One core of two, used by other work at times; the paper's SSDs, half of each for one lane.
   for (const double factor : {1.0, 2.0, 4.0, 6.0, 8.0})
      for (const uint64_t seed : {1, 2, 3, 4, 5}) {
         std::mt19937_64 chance(seed);
         std::uniform_real_distribution<double> noise(0.8, 1.6), part(0.0, 1.0);
         const double bandwidth = factor * 95e6 / 2, workNanos = 2;
         Regulator regulator;
         double chosen = 0, busy = 1;
         std::vector<double> fixed(spillLevels().size());
         for (int i = 0; i < 600; ++i) {
            if (part(chance) < 0.02) busy = busy > 1 ? 1 : 2;
            const double meanNoise = 1.2;
            chosen += costOf(regulator.level(), bandwidth, workNanos, busy * meanNoise);
            for (uint32_t level = 0; level < fixed.size(); ++level)
               fixed[level] += costOf(level, bandwidth, workNanos, busy * meanNoise);
            run(regulator, bandwidth * (0.8 + 0.4 * part(chance)), workNanos, 1, busy * noise(chance));
         }
         CATCH_INFO("factor " << factor << ", seed " << seed);
         CATCH_CHECK(*std::min_element(fixed.begin(), fixed.end()) / chosen >= 0.97);
      }
}

CATCH_TEST_CASE("others that were busy for a while leave nothing behind") {
   Regulator regulator;
   constexpr double bandwidth = 100e6, workNanos = 1;
   for (int i = 0; i < 100; ++i)
      run(regulator, bandwidth, workNanos, 1, 1);
   const uint32_t before = regulator.level();
   for (int i = 0; i < 60; ++i)
      run(regulator, bandwidth, workNanos, 1, 8);
   CATCH_CHECK(regulator.level() < before);
   for (int i = 0; i < 60; ++i)
      run(regulator, bandwidth, workNanos, 1, 1);
   CATCH_CHECK(std::max(regulator.level(), before) - std::min(regulator.level(), before) <= 1);
}

CATCH_TEST_CASE("after data that do not compress come others that do") {
   Regulator regulator;
   for (int i = 0; i < 100; ++i)
      run(regulator, 50e6, 1, 0.0, 1);
   CATCH_CHECK(regulator.level() == 0);
   int runs = 0;
   for (; runs < 400 && regulator.level() < 3; ++runs)
      run(regulator, 50e6, 1, 1, 1);
   CATCH_CHECK(runs < 200);
}
