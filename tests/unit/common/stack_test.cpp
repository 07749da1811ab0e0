#include "common/thread/stack.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "common/error/sql_error.hpp"

using namespace ouzel;

namespace {

/// Calls itself `depth` times, or until the stack's floor is reached.
[[gnu::noinline]] uint32_t recurse(uint32_t depth, uint32_t& reached) {
   checkStack();
   ++reached;
   return depth == 0 ? 0 : recurse(depth - 1, reached) + reached; // not a tail call
}

} // namespace

CATCH_TEST_CASE("recursion ends with 54001 before the stack of a thread does, each time") {
   setStackOfThreads();
   std::string states;
   uint32_t depths[2] = {};
   std::thread thread([&] {
      for (uint32_t& reached : depths) {
         try {
            recurse(UINT32_MAX, reached);
         } catch (const SqlError& error) {
            states += error.state().text();
         }
      }
   });
   thread.join();
   CATCH_CHECK(states == "5400154001");
   CATCH_CHECK(depths[0] > 1000);
   CATCH_CHECK(depths[0] == depths[1]);
}
