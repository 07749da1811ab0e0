#include <catch2/catch.hpp>
#include <cstring>

#include "common/error/sql_error.hpp"
#include "common/memory/arena.hpp"
#include "common/memory/large_memory.hpp"
#include "common/memory/memory_wait.hpp"

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

CATCH_TEST_CASE("a thread waits only for memory that there can be") {
   struct Releasing final : MemoryWaiter {
      Reservation& held;
      uint32_t asked = 0;
      explicit Releasing(Reservation& reservation) : held(reservation) {}
      bool waitForMemory(uint32_t) override {
         if (++asked == 2) held.shrink(500);
         return true;
      }
   };
   MemoryLedger ledger(1000);
   Reservation other(ledger), query(ledger);
   other.grow(500);
   Reservation op(query);
   op.grow(100);
   Releasing releasing(other);
   const WaitsForMemory waits(releasing);
   CATCH_CHECK_THROWS_AS(op.grow(901), SqlError);
   CATCH_CHECK(releasing.asked == 0);
   op.grow(900);
   CATCH_CHECK(releasing.asked == 2);
}

CATCH_TEST_CASE("freed memory of usual sizes is kept while it is needed") {
   MemoryLedger ledger(size_t{1} << 30);
   Reservation memory(ledger);
   constexpr size_t small = 4 * LargeMemory::usualStep, mapped = size_t{4} << 20;
   for (const auto& [size, kept] : {std::pair{small, small}, {mapped, mapped}, {mapped - 1000, mapped}}) {
      LargeMemory::dropKept();
      LargeMemory::dropUnneeded(); // begins to watch
      const void* first;
      {
         const LargeMemory one(size, memory, LargeMemory::Fill::Anything);
         first = one.data();
      }
      CATCH_CHECK(memory.used() == 0); // what is kept is charged to nobody
      const auto taken = [&] { return LargeMemory(size, memory, LargeMemory::Fill::Anything).data(); };
      CATCH_CHECK(taken() == first);
      LargeMemory::dropUnneeded(); // it was taken since
      CATCH_CHECK(taken() == first);
      LargeMemory::dropUnneeded();
      CATCH_CHECK(LargeMemory::keptBytes() == kept);
      LargeMemory::dropUnneeded(); // nobody took it
      CATCH_CHECK(LargeMemory::keptBytes() == 0);
      LargeMemory zeroed(size, memory); // what was kept is zeroed when it has to be
      std::memset(zeroed.data(), 1, size);
      zeroed.release();
      CATCH_CHECK(LargeMemory::keptBytes() == kept);
      CATCH_CHECK(*LargeMemory(size, memory).as<uint64_t>() == 0);
   }
   LargeMemory::dropKept();
   for (const size_t unusual : {LargeMemory::usualStep + 1, size_t{65} << 20})
      LargeMemory(unusual, memory).release();
   CATCH_CHECK(LargeMemory::keptBytes() == 0);
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
