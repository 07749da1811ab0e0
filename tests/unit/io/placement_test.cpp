#include "io/spill/placement.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "io/spill/directory_device.hpp"
#include "io/spill/flow.hpp"
#include "io/spill/memory_device.hpp"
#include "io/spill/spill_state.hpp"
#include "tests/unit/io/spill_support.hpp"

using namespace ouzel::io;
using namespace ouzel::io::test;

namespace {

/// How many of `count` extents each device gets.
std::vector<int> shares(Placement& placement, const std::vector<Placement::Offer>& offers, int count, int64_t now = 0) {
   std::vector<int> out(offers.size());
   for (int i = 0; i < count; ++i)
      ++out[*placement.choose(offers, now)];
   return out;
}

} // namespace

CATCH_TEST_CASE("equal devices get equally many extents, though their measurements vary", "[placement]") {
   Placement placement(3);
   std::mt19937 random(1);
   std::vector<int> out(3);
   for (int i = 0; i < 3000; ++i) {
      std::vector<Placement::Offer> offers(3);
      for (auto& offer : offers)
         offer.cost = 1e6 * (1 + static_cast<double>(random() % 200) / 1000);
      ++out[*placement.choose(offers, 0)];
   }
   for (const int share : out)
      CATCH_CHECK(std::abs(share - 1000) <= 10);
}

CATCH_TEST_CASE("devices get extents in proportion to their speed", "[placement]") {
   Placement placement(3);
   const std::vector<int> out = shares(placement, {{1e6}, {3e6}, {6e6}}, 9000);
   CATCH_CHECK(std::abs(out[0] - 6000) <= 3);
   CATCH_CHECK(std::abs(out[1] - 2000) <= 3);
   CATCH_CHECK(std::abs(out[2] - 1000) <= 3);
}

CATCH_TEST_CASE("a device that is much dearer is for what the others have no room for", "[placement]") {
   Placement placement(3);
   CATCH_CHECK(shares(placement, {{1e6}, {2e6}, {20e6}}, 300) == std::vector{200, 100, 0});
   CATCH_CHECK(shares(placement, {{1e6, false, true}, {2e6}, {20e6}}, 10) == std::vector{0, 10, 0});
   CATCH_CHECK(shares(placement, {{1e6, false, true}, {2e6, false, true}, {20e6}}, 10) == std::vector{0, 0, 10});
   CATCH_CHECK_FALSE(
       placement.choose(std::array<Placement::Offer, 3>{{{1, false, true}, {1, true, true}, {1, false, true}}}, 0));
}

CATCH_TEST_CASE("a device that has failed is the last resort, and has no arrears when it is back", "[placement]") {
   Placement placement(2);
   CATCH_CHECK(shares(placement, {{1e6}, {1e6, true}}, 100) == std::vector{100, 0});
   CATCH_CHECK(shares(placement, {{1e6, false, true}, {1e6, true}}, 1) == std::vector{0, 1});
   CATCH_CHECK(shares(placement, {{1e6, false, false}, {1e6, true}}, 1000) == std::vector{1000, 0});
   const std::vector<int> both = shares(placement, {{1e6}, {1e6}}, 100);
   CATCH_CHECK(std::abs(both[0] - 50) <= 1);
}

CATCH_TEST_CASE("a device that is dearer than its kind is measured again every few seconds", "[placement]") {
   Placement placement(3);
   constexpr int64_t second = 1'000'000'000, begin = 100 * second;
   // The third is a bucket: it is always as dear.
   const std::vector<Placement::Offer> offers = {
       {1e6, false, false, 2e6}, {50e6, false, false, 2e6}, {50e6, false, false, 50e6}};
   CATCH_CHECK(shares(placement, offers, 100, begin) == std::vector{99, 1, 0});
   CATCH_CHECK(shares(placement, offers, 100, begin + second) == std::vector{100, 0, 0});
   CATCH_CHECK(shares(placement, offers, 100, begin + Placement::remeasureNanos) == std::vector{99, 1, 0});
   // Not while it is avoided, and it takes its share as soon as it is fast.
   const int64_t later = begin + 10 * second;
   CATCH_CHECK(shares(placement, {{1e6}, {50e6, true, false, 2e6}, {50e6}}, 100, later) == std::vector{100, 0, 0});
   const std::vector<int> both = shares(placement, {{1e6}, {1e6, false, false, 2e6}, {50e6}}, 100, later);
   CATCH_CHECK(std::abs(both[0] - 50) <= 1);
}

CATCH_TEST_CASE("an average follows a device that is measured again after a pause", "[placement]") {
   constexpr int64_t second = 1'000'000'000;
   constexpr uint64_t bytes = 250'000;
   Flow flow;
   int64_t now = 100 * second;
   const auto transfer = [&](double nanosPerByte, bool isExact = true) {
      const uint64_t begin = flow.begin();
      const int64_t begun = now;
      now += static_cast<int64_t>(nanosPerByte * bytes);
      flow.finish(begin, begun, now, bytes, isExact);
   };
   for (int i = 0; i < 200; ++i)
      transfer(100);
   CATCH_CHECK(flow.nanosPerByte() == Approx(100));
   transfer(2);
   CATCH_CHECK(flow.nanosPerByte() > 95); // one sample of many
   transfer(2, false);
   CATCH_CHECK(flow.nanosPerByte() > 95);
   const bool isExact = GENERATE(false, true);
   for (int extent = 0; extent < 4; ++extent) {
      now += 3 * second;
      for (int area = 0; area < 4; ++area)
         transfer(2, isExact);
   }
   CATCH_CHECK(flow.nanosPerByte() < 10);
   now += 3 * second;
   transfer(100, false); // it may have ended earlier
   CATCH_CHECK(flow.nanosPerByte() < 10);
}

CATCH_TEST_CASE("the smallest round counts, and a busy disk is no far one", "[placement]") {
   SpillDirectories directories;
   DirectoryDevice disk(directories.options.targets[0]);
   MemoryDevice server(MemoryAddress::parse("memory://127.0.0.1:1"));
   for (SpillDevice* device : {static_cast<SpillDevice*>(&disk), static_cast<SpillDevice*>(&server)}) {
      CATCH_CHECK(device->roundNanos() == 0);
      device->noteRound(9'842'000);
      CATCH_CHECK(device->roundNanos() == (device == &disk ? 500e3 : 9842e3));
      device->noteRound(40'000);
      device->noteRound(300'000);
      CATCH_CHECK(device->roundNanos() == 40e3);
   }
}

CATCH_TEST_CASE("directories on one disk share equally whatever their first rounds", "[placement]") {
   SpillDirectories directories(2);
   SpillManager::State manager(directories.options);
   manager.devices[0]->noteRound(9'842'000);
   manager.devices[1]->noteRound(50'000);
   SpillSpace::State space(manager, {});
   std::vector<int> out(2);
   for (int i = 0; i < 100; ++i)
      ++out[*manager.place(space, 0, 1 << 20)];
   CATCH_CHECK(std::abs(out[0] - 50) <= 1);
}
