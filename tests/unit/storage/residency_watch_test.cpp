#include "storage/buffer/residency_watch.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

namespace ouzel::storage {

CATCH_TEST_CASE("what is resident beyond the limit is withheld, and given back by and by") {
   constexpr size_t mib = size_t{1} << 20, limit = 1024 * mib;
   ResidencyControl control;
   CATCH_CHECK(control.observe(900 * mib, limit) == 0);
   CATCH_CHECK(control.observe(limit + ResidencyControl::allowanceBytes / 8, limit) == 0);
   const size_t withheld = control.observe(limit + ResidencyControl::allowanceBytes + 100 * mib, limit);
   CATCH_CHECK(withheld >= 100 * mib);
   CATCH_CHECK(withheld <= 100 * mib + ResidencyControl::allowanceBytes);
   // If memory is still above the limit, withheld bytes add up, to half of the limit at most.
   CATCH_CHECK(control.observe(limit + ResidencyControl::allowanceBytes + 50 * mib, limit) >= withheld + 50 * mib);
   CATCH_CHECK(control.observe(4 * limit, limit) == limit / 2);
   size_t before = limit / 2, looks = 0;
   while (const size_t now = control.observe(800 * mib, limit)) {
      CATCH_REQUIRE(now < before);
      before = now;
      ++looks;
   }
   CATCH_CHECK(looks > 100);
   CATCH_CHECK(looks < 10'000);
}

CATCH_TEST_CASE("a ledger asks its reclaimer before it gives out what is withheld") {
   struct Cache final : MemoryReclaimer {
      MemoryLedger& ledger;
      size_t held = 300;
      explicit Cache(MemoryLedger& l) : ledger(l) {}
      size_t reclaim(size_t bytes) override {
         const size_t freed = std::min(bytes, held);
         held -= freed;
         ledger.release(freed);
         return freed;
      }
   };
   MemoryLedger ledger(1000);
   Cache cache(ledger);
   ledger.setReclaimer(&cache);
   CATCH_CHECK(ledger.tryCharge(600)); // includes the cache's bytes
   ledger.withhold(300);
   CATCH_CHECK(ledger.limit() == 700);
   CATCH_CHECK(ledger.wholeLimit() == 1000);
   CATCH_CHECK(ledger.tryCharge(300));
   CATCH_CHECK(cache.held < 300);
   CATCH_CHECK(ledger.used() <= 700);
   CATCH_CHECK(ledger.tryCharge(400)); // nothing left to reclaim
   CATCH_CHECK(cache.held == 0);
   CATCH_CHECK(ledger.used() > 700);
   CATCH_CHECK_FALSE(ledger.tryCharge(400));
   ledger.withhold(5000); // never more than half
   CATCH_CHECK(ledger.limit() == 500);
   ledger.setReclaimer(nullptr);
}

} // namespace ouzel::storage
