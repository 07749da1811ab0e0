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

} // namespace ouzel::executor
