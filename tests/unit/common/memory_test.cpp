#include <catch2/catch.hpp>

#include "common/error/sql_error.hpp"
#include "common/memory/arena.hpp"

using namespace ouzel;

CATCH_TEST_CASE("a reservation is refused past the limit and given back when it ends") {
   MemoryLedger ledger(1000);
   {
      Reservation query(ledger);
      Reservation op(query);
      CATCH_CHECK(op.tryGrow(900));
      CATCH_CHECK_FALSE(op.tryGrow(200));
      CATCH_CHECK(ledger.used() == 900);
      CATCH_CHECK_THROWS_AS(op.grow(200), SqlError);
      op.shrink(500);
      CATCH_CHECK(query.used() == 400);
      CATCH_CHECK(query.peak() == 900);
   }
   CATCH_CHECK(ledger.used() == 0);
}

CATCH_TEST_CASE("the reclaimer is asked before a charge is refused") {
   struct Cache : MemoryReclaimer {
      MemoryLedger& ledger;
      explicit Cache(MemoryLedger& l) : ledger(l) {}
      size_t reclaim(size_t bytes) override {
         ledger.release(bytes);
         return bytes;
      }
   };
   MemoryLedger ledger(100);
   Cache cache(ledger);
   CATCH_REQUIRE(ledger.tryCharge(90));
   CATCH_CHECK_FALSE(ledger.tryCharge(20));
   ledger.setReclaimer(&cache);
   CATCH_CHECK(ledger.tryCharge(20));
   CATCH_CHECK(ledger.used() == 100); // it was asked for what was missing
}

CATCH_TEST_CASE("an arena keeps its chunks over a reset and charges them once") {
   MemoryLedger ledger(100 << 20);
   Reservation reservation(ledger);
   {
      Arena arena(&reservation);
      for (int round = 0; round < 3; ++round) {
         for (int i = 0; i < 1000; ++i) {
            char* p = arena.allocateArray<char>(1000);
            std::memset(p, i, 1000);
         }
         const StringView s = arena.copyString("a string longer than twelve bytes");
         CATCH_CHECK(s.view() == "a string longer than twelve bytes");
         CATCH_CHECK(arena.chunkBytes() == reservation.used());
         CATCH_CHECK(arena.chunkBytes() < (4u << 20));
         arena.reset();
      }
   }
   CATCH_CHECK(ledger.used() == 0);
}

CATCH_TEST_CASE("string views compare by bytes on both sides of the inline limit") {
   const std::string words[] = {"", "a", "ab", "abcd", "abcdabcdabcd", "abcdabcdabcda", "abcdabcdabcdb", "b"};
   for (const std::string& a : words)
      for (const std::string& b : words) {
         const int expected = a < b ? -1 : a > b ? 1 : 0;
         CATCH_CHECK(StringView(a).compare(StringView(b)) == expected);
         CATCH_CHECK((StringView(a) == StringView(b)) == (expected == 0));
      }
}
