#include "executor/materialize/majority_vote.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>

using namespace ouzel::executor;

CATCH_TEST_CASE("a vote finds the hash of most rows, and promises no more rows than have it", "[spill]") {
   std::mt19937_64 random(11);
   for (int round = 0; round < 200; ++round) {
      const uint64_t heavyPercent = random() % 101, others = 1 + random() % 50;
      MajorityVote vote;
      std::map<uint64_t, uint64_t> rowsOf;
      constexpr uint64_t rows = 5000;
      for (uint64_t row = 0; row < rows; ++row) {
         const uint64_t hash = random() % 100 < heavyPercent ? 7 : 100 + random() % others;
         vote.add(hash);
         ++rowsOf[hash];
      }
      CATCH_CHECK(vote.lead() <= rowsOf[vote.hash()]);
      for (const auto& [hash, count] : rowsOf) {
         if (count > rows / 2) CATCH_CHECK(vote.hash() == hash);
         if (count >= rows / 4 * 3) CATCH_CHECK(vote.lead() >= rows / 2);
      }
   }
   CATCH_CHECK(MajorityVote().lead() == 0);
}
