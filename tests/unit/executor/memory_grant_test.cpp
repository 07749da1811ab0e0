#include "executor/pipeline/memory_grant.hpp"

#include <catch2/catch.hpp>

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

CATCH_TEST_CASE("a query's share is at most what settled queries leave", "[grant]") {
   constexpr size_t mebibyte = size_t{1} << 20;
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
   // There is always a little.
   settled.memory().grow(52 * mebibyte);
   settled.waiveFloor();
   asking.memory().shrink(60 * mebibyte);
   settled.memory().grow(55 * mebibyte);
   settled.waiveFloor();
   CATCH_CHECK(asking.floor() == 4 * mebibyte);
   settled.memory().shrink(settled.memory().used());
}

} // namespace ouzel::executor
