#include "io/spill/placement.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

using namespace ouzel::io;

namespace {

/// How many of `count` extents each device gets.
std::vector<int> shares(Placement& placement, const std::vector<Placement::Offer>& offers, int count) {
   std::vector<int> out(offers.size());
   for (int i = 0; i < count; ++i)
      ++out[*placement.choose(offers)];
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
      ++out[*placement.choose(offers)];
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
       placement.choose(std::array<Placement::Offer, 3>{{{1, false, true}, {1, true, true}, {1, false, true}}}));
}

CATCH_TEST_CASE("a device that has failed is the last resort, and has no arrears when it is back", "[placement]") {
   Placement placement(2);
   CATCH_CHECK(shares(placement, {{1e6}, {1e6, true}}, 100) == std::vector{100, 0});
   CATCH_CHECK(shares(placement, {{1e6, false, true}, {1e6, true}}, 1) == std::vector{0, 1});
   CATCH_CHECK(shares(placement, {{1e6, false, false}, {1e6, true}}, 1000) == std::vector{1000, 0});
   const std::vector<int> both = shares(placement, {{1e6}, {1e6}}, 100);
   CATCH_CHECK(std::abs(both[0] - 50) <= 1);
}
