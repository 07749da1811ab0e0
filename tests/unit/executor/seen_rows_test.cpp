#include "executor/operator/flow/seen_rows.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "tests/unit/io/spill_support.hpp"

// Compares the places found with a multimap's, in memory and on disk.

using namespace ouzel;
using namespace ouzel::executor;

namespace {

using Places = std::multimap<uint64_t, uint64_t>;

uint64_t numberOf(SeenRows::Place place) {
   return uint64_t{place.batch} << 32 | place.row;
}

/// Adds rows in rounds and asks before each. `hashBits`: few of them make many rows with one hash. Returns whether
/// entries went to disk.
bool compareWithMap(size_t limit, MemoryPolicy policy, uint32_t rows, uint32_t hashBits, bool canSpill = true) {
   MemoryLedger ledger{size_t{1} << 30};
   Reservation memory{ledger};
   io::test::SpillDirectories directories;
   io::SpillManager manager{directories.options};
   io::SpillSpace space{manager, io::test::atLevel(0)};
   QueryBudget budget(memory, limit, nullptr, policy);
   SeenRows seen(budget, canSpill ? &space : nullptr, [] {});
   Places expected;
   std::mt19937_64 random(7);
   const uint64_t mask = hashBits == 64 ? ~uint64_t{0} : (uint64_t{1} << hashBits) - 1;
   for (uint32_t row = 0; row < rows;) {
      std::vector<SeenRows::Probe> probes;
      std::vector<uint64_t> hashes;
      for (uint32_t i = 0; i < 1000; ++i) {
         // Every third hash was added before.
         const auto known = i % 3 == 0 ? expected.lower_bound(random() & mask) : expected.end();
         hashes.push_back(known != expected.end() ? known->first : random() & mask);
         probes.push_back({hashes.back(), i});
      }
      std::vector<Places> found(probes.size());
      seen.find(probes, [&](const SeenRows::Probe& probe, SeenRows::Place place) {
         CATCH_REQUIRE(hashes[probe.row] == probe.hash);
         found[probe.row].emplace(probe.hash, numberOf(place));
      });
      uint64_t wrong = 0;
      for (uint32_t i = 0; i < hashes.size(); ++i) {
         const auto [begin, end] = expected.equal_range(hashes[i]);
         std::vector<uint64_t> wanted, got;
         for (auto it = begin; it != end; ++it)
            wanted.push_back(it->second);
         for (const auto& [hash, number] : found[i])
            got.push_back(number);
         std::sort(wanted.begin(), wanted.end());
         std::sort(got.begin(), got.end());
         wrong += wanted != got;
      }
      CATCH_REQUIRE(wrong == 0);
      for (uint32_t i = 0; i < 1000; ++i, ++row) {
         seen.add(hashes[i], {row / 512, row % 512});
         expected.emplace(hashes[i], numberOf({row / 512, row % 512}));
      }
   }
   CATCH_CHECK(memory.used() <= std::max(limit, size_t{512} << 10));
   return seen.hasSpilled();
}

} // namespace

CATCH_TEST_CASE("seen rows are found by their hashes in memory") {
   CATCH_CHECK(!compareWithMap(size_t{64} << 20, {}, 50'000, 64));
   CATCH_CHECK(!compareWithMap(size_t{64} << 20, {}, 20'000, 8));
   CATCH_CHECK(!compareWithMap(size_t{64} << 20, {}, 20'000, 64, false));
}

CATCH_TEST_CASE("seen rows that do not fit into memory are found on disk") {
   CATCH_CHECK(compareWithMap(size_t{1} << 20, {}, 300'000, 64));
   CATCH_CHECK(compareWithMap(size_t{1} << 20, {}, 60'000, 10)); // many entries of a hash, over the ends of pages
   MemoryPolicy always;
   always.spillsAlways = true;
   CATCH_CHECK(compareWithMap(size_t{64} << 20, always, 50'000, 64)); // runs of several levels
}
