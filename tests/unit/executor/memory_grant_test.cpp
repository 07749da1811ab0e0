#include "executor/pipeline/memory_grant.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <optional>
#include <thread>

// How a query's budget is divided among its operators.

namespace ouzel::executor {

CATCH_TEST_CASE("what nobody else may need goes to whoever asks", "[grant]") {
   MemoryLedger ledger(10'000);
   Reservation memory(ledger);
   QueryBudget budget(memory, 1200, nullptr);
   MemoryGrant first(budget), second(budget), third(budget);
   CATCH_CHECK(first.floor() == 200);
   CATCH_CHECK(first.mayGrow(800));
   CATCH_CHECK_FALSE(first.mayGrow(801)); // the other operators' floors are reserved
   second.waiveFloor();
   CATCH_CHECK(first.floor() == 300);
   CATCH_CHECK(first.mayGrow(900));
   CATCH_CHECK_FALSE(first.mayGrow(901));
   CATCH_CHECK(second.mayGrow(600)); // allowed, because the other operators keep their floors
   third.waiveFloor();
   CATCH_CHECK(first.mayGrow(1200));
   second.claimFloor();
   CATCH_CHECK(first.mayGrow(900));
   CATCH_CHECK_FALSE(first.mayGrow(901));
}

CATCH_TEST_CASE("a floor is kept even if others have too much", "[grant]") {
   MemoryLedger ledger(10'000);
   Reservation memory(ledger);
   QueryBudget budget(memory, 1200, nullptr);
   MemoryGrant first(budget), second(budget);
   first.memory().grow(1300);
   CATCH_CHECK_FALSE(first.mayGrow(1));
   CATCH_CHECK(second.mayGrow(300));
   CATCH_CHECK_FALSE(second.mayGrow(301));
   // A grant cannot grow beyond the process's memory.
   first.memory().grow(8'600);
   CATCH_CHECK_FALSE(second.mayGrow(300));
   first.memory().shrink(first.memory().used());
}

namespace {

constexpr size_t mebibyte = size_t{1} << 20;

/// Has 300 MiB of the ledger's 512, and keeps 100 of them.
class Cache final : public EvictableMemory, public MemoryReclaimer {
public:
   explicit Cache(MemoryLedger& ledger) : memory(ledger), ledger_(ledger) {
      memory.grow(300 * mebibyte);
      ledger.setReclaimer(this);
   }
   ~Cache() override { ledger_.setReclaimer(nullptr); }
   Bytes bytes(Eviction eviction) const override {
      return {memory.used(), std::min(eviction == Eviction::TableFirst ? 0 : 100 * mebibyte, memory.used())};
   }
   uint32_t turn() const override { return now; }
   void endTurn(uint32_t begun) override { now += begun == now; }
   size_t reclaim(size_t bytes) override {
      const size_t freed = std::min(bytes, memory.used());
      memory.shrink(freed);
      return freed;
   }
   Reservation memory;
   uint32_t now = 1;

private:
   MemoryLedger& ledger_;
};

} // namespace

CATCH_TEST_CASE("an operator that can spill does not get what the cache keeps", "[grant]") {
   MemoryLedger ledger(512 * mebibyte);
   Cache cache(ledger);
   MemoryShares shares(ledger, &cache);
   CATCH_CHECK(shares.hasRoom(400 * mebibyte, Eviction::Priced));
   CATCH_CHECK(cache.memory.used() >= 100 * mebibyte);
   CATCH_CHECK_FALSE(shares.hasRoom(410 * mebibyte, Eviction::Priced));
   CATCH_CHECK(cache.memory.used() >= 100 * mebibyte);
   Reservation memory(ledger);
   {
      QueryBudget budget(memory, SIZE_MAX, &shares);
      MemoryGrant grant(budget);
      CATCH_CHECK(grant.floor() == 412 * mebibyte * 15 / 16);
      CATCH_CHECK(grant.mayGrow(380 * mebibyte));
      grant.memory().grow(420 * mebibyte); // an operator that has nothing to spill
      CATCH_CHECK(cache.memory.used() == 92 * mebibyte);
      grant.memory().shrink(420 * mebibyte);
   }
   MemoryPolicy policy;
   policy.eviction = Eviction::TableFirst;
   QueryBudget budget(memory, SIZE_MAX, &shares, policy);
   MemoryGrant grant(budget);
   CATCH_CHECK(grant.floor() == 480 * mebibyte);
   CATCH_CHECK(grant.mayGrow(480 * mebibyte));
}

CATCH_TEST_CASE("the cache keeps nothing that queries need to go on", "[grant]") {
   MemoryLedger ledger(512 * mebibyte);
   Cache cache(ledger);
   MemoryShares shares(ledger, &cache);
   Reservation delta(ledger), memory(ledger);
   delta.grow(380 * mebibyte); // the cache has 132 MiB left, and may keep half of that
   CATCH_CHECK(shares.hasRoom(60 * mebibyte, Eviction::Priced));
   CATCH_CHECK_FALSE(shares.hasRoom(70 * mebibyte, Eviction::Priced));
   delta.grow(120 * mebibyte);
   QueryBudget budget(memory, SIZE_MAX, &shares);
   MemoryGrant grant(budget);
   CATCH_CHECK(grant.mayGrow(4 * mebibyte));
}

CATCH_TEST_CASE("queries that had much memory together end a turn of the cache once", "[grant]") {
   MemoryLedger ledger(512 * mebibyte);
   Cache cache(ledger);
   MemoryShares shares(ledger, &cache);
   const auto run = [&](size_t bytes) {
      Reservation memory(ledger);
      QueryBudget budget(memory, SIZE_MAX, &shares);
      MemoryGrant grant(budget);
      CATCH_CHECK(grant.mayGrow(1));
      grant.memory().grow(bytes);
      grant.memory().shrink(bytes);
   };
   run(20 * mebibyte);
   CATCH_CHECK(cache.now == 1);
   run(20 * mebibyte); // a sixteenth, together
   CATCH_CHECK(cache.now == 2);
   {
      Reservation memory(ledger);
      QueryBudget first(memory, SIZE_MAX, &shares);
      MemoryGrant grant(first);
      CATCH_CHECK(grant.mayGrow(1));
      grant.memory().grow(40 * mebibyte);
      grant.memory().shrink(40 * mebibyte);
      run(40 * mebibyte);
   }
   CATCH_CHECK(cache.now == 3);
}

CATCH_TEST_CASE("a query's share is at most what settled queries leave", "[grant]") {
   MemoryLedger ledger(512 * mebibyte);
   MemoryShares shares(ledger);
   Reservation first(ledger), second(ledger);
   QueryBudget firstBudget(first, SIZE_MAX, &shares), secondBudget(second, SIZE_MAX, &shares);
   MemoryGrant settled(firstBudget);
   constexpr size_t slack = 512 * mebibyte / 16;
   CATCH_CHECK(settled.floor() == 512 * mebibyte - slack);
   settled.memory().grow(400 * mebibyte);
   MemoryGrant asking(secondBudget);
   // While it takes input, the first query gives back what is more than its half.
   CATCH_CHECK(settled.mayGrow(1));
   CATCH_CHECK(asking.floor() == (512 * mebibyte - slack) / 2);
   CATCH_CHECK_FALSE(settled.mayGrow(1));
   settled.settle();
   CATCH_CHECK(asking.floor() == 112 * mebibyte - slack);
   CATCH_CHECK(asking.mayGrow(112 * mebibyte - slack));
   CATCH_CHECK_FALSE(asking.mayGrow(112 * mebibyte - slack + 1));
   // What the query has itself counts.
   asking.memory().grow(60 * mebibyte);
   CATCH_CHECK(asking.floor() == 112 * mebibyte - slack);
   settled.claimFloor();
   CATCH_CHECK_FALSE(settled.mayGrow(1)); // tells that it yields again
   CATCH_CHECK(asking.floor() == (512 * mebibyte - slack) / 2);
   firstBudget.pause(); // its client rests: it does not yield
   CATCH_CHECK(asking.floor() == 112 * mebibyte - slack);
   CATCH_CHECK_FALSE(settled.mayGrow(1));
   CATCH_CHECK(asking.floor() == (512 * mebibyte - slack) / 2);
   // There is always a little.
   settled.memory().grow(52 * mebibyte);
   settled.waiveFloor();
   asking.memory().shrink(60 * mebibyte);
   settled.memory().grow(55 * mebibyte);
   settled.waiveFloor();
   CATCH_CHECK(asking.floor() == 4 * mebibyte);
   settled.memory().shrink(settled.memory().used());
}

/// Rows that are all written when any are.
struct Rows final : Reclaimer {
   Rows(QueryBudget& budget, size_t bytes, uint32_t times) : grant(budget), count(times) {
      CATCH_REQUIRE(grant.mayGrow(bytes));
      grant.memory().grow(bytes);
      grant.waiveFloor();
      grant.settle(this);
   }
   ~Rows() override {
      grant.claimFloor();
      grant.memory().shrink(grant.memory().used());
   }
   size_t reclaimableBytes() const override { return canWrite ? grant.memory().used() : 0; }
   uint32_t readings() const override { return count; }
   size_t reclaim(size_t) override {
      const size_t bytes = reclaimableBytes();
      grant.memory().shrink(bytes);
      return bytes;
   }
   MemoryGrant grant;
   const uint32_t count;
   bool canWrite = true;
};

CATCH_TEST_CASE("settled rows go before a later operator spills", "[grant]") {
   MemoryLedger ledger(10'000);
   Reservation memory(ledger);
   QueryBudget budget(memory, 1200, nullptr);
   {
      Rows often(budget, 300, 5), once(budget, 200, 1), twice(budget, 200, 2), held(budget, 100, 0);
      held.canWrite = false;
      MemoryGrant asking(budget);
      CATCH_CHECK(asking.mayGrow(400));
      CATCH_CHECK(memory.used() == 800);
      CATCH_CHECK(asking.mayGrow(500));
      CATCH_CHECK(once.grant.memory().used() == 0); // the cheapest
      CATCH_CHECK(memory.used() == 600);
      // More than there is: nothing is written for it.
      CATCH_CHECK_FALSE(asking.mayGrow(1101));
      CATCH_CHECK(memory.used() == 600);
      CATCH_CHECK(asking.mayGrow(1100));
      CATCH_CHECK(memory.used() == 100);
      CATCH_CHECK_FALSE(asking.mayGrow(1101));
   }
   // What another query wants goes when a worker comes by.
   Rows rows(budget, 500, 1);
   CATCH_CHECK(budget.wantReclaimed(400) == 400);
   CATCH_CHECK(memory.used() == 500);
   budget.reclaimWanted();
   CATCH_CHECK(memory.used() == 0);
   CATCH_CHECK(budget.wantReclaimed(400) == 0);
   budget.reclaimWanted();
   // An operator that runs again keeps its rows.
   rows.grant.memory().grow(500);
   rows.grant.claimFloor();
   CATCH_CHECK(budget.wantReclaimed(400) == 0);
}

CATCH_TEST_CASE("a query that is short asks those that have most", "[grant]") {
   constexpr size_t mebibyte = size_t{1} << 20;
   MemoryLedger ledger(512 * mebibyte);
   MemoryShares shares(ledger);
   struct Resting {
      Resting(MemoryLedger& ledger, MemoryShares& shares, size_t bytes)
         : memory(ledger), budget(memory, SIZE_MAX, &shares) {
         grant.emplace(budget);
         CATCH_REQUIRE(grant->mayGrow(bytes));
         grant->memory().grow(bytes);
         grant->settle();
         budget.onShortage([this](size_t) {
            ++asked;
            return gives ? memory.used() : 0;
         });
      }
      ~Resting() {
         if (grant) end();
      }
      void end() {
         grant->memory().shrink(grant->memory().used());
         grant.reset();
         budget.retire();
      }
      Reservation memory;
      QueryBudget budget;
      std::optional<MemoryGrant> grant;
      bool gives = true;
      int asked = 0;
   };
   std::optional<Resting> small(std::in_place, ledger, shares, 30 * mebibyte),
       tiny(std::in_place, ledger, shares, mebibyte);
   std::optional<Resting> large(std::in_place, ledger, shares, 120 * mebibyte),
       other(std::in_place, ledger, shares, 100 * mebibyte);
   const auto asks = [] { std::this_thread::sleep_for(std::chrono::milliseconds(25)); };
   Reservation memory(ledger);
   {
      QueryBudget budget(memory, SIZE_MAX, &shares);
      MemoryGrant asking(budget);
      CATCH_CHECK(asking.mayGrow(50 * mebibyte)); // a fifth is left
      CATCH_CHECK(large->asked == 0);
      large->grant->memory().grow(200 * mebibyte);
      large->grant->settle();
      asks();
      CATCH_CHECK_FALSE(asking.mayGrow(80 * mebibyte));
      CATCH_CHECK(large->asked == 1);
      CATCH_CHECK(other->asked == 0); // it gives what is missing
      CATCH_CHECK_FALSE(asking.mayGrow(80 * mebibyte));
      CATCH_CHECK(large->asked == 1); // not at once again
      asks();
      large->gives = false;
      CATCH_CHECK_FALSE(asking.mayGrow(80 * mebibyte));
      CATCH_CHECK(large->asked == 2);
      CATCH_CHECK(other->asked == 1);
      other->gives = false;
      asks();
      CATCH_CHECK_FALSE(asking.mayGrow(80 * mebibyte));
      CATCH_CHECK(small->asked == 1);
      CATCH_CHECK(tiny->asked == 0); // it has too little
      // The asking query's session allows less than there is: it is not short.
      QueryBudget modest(memory, 10 * mebibyte, &shares);
      MemoryGrant little(modest);
      asks();
      CATCH_CHECK(little.mayGrow(8 * mebibyte));
      CATCH_CHECK(large->asked == 3);
      CATCH_CHECK(asking.memory().used() == 0);
   }
   // A query without operators has no part any more.
   large->end();
   other->end();
   small->end();
   tiny->end();
   QueryBudget alone(memory, SIZE_MAX, &shares);
   CATCH_CHECK(alone.bytes() == 512 * mebibyte / 16 * 15);
   large.reset(); // once more, by the destructor
   CATCH_CHECK(alone.bytes() == 512 * mebibyte / 16 * 15);
}

} // namespace ouzel::executor
