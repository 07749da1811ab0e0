#include <catch2/catch.hpp>
#include <cstdlib>
#include <string_view>

#include "common/error/sql_error.hpp"
#include "io/spill/spill.hpp"
#include "tests/unit/io/spill_support.hpp"

// ctest runs these tests with OUZEL_TEST_POINTS=spill.<where>=<error>@<n>: one system call fails once.

using namespace ouzel;
using namespace ouzel::io;
using namespace ouzel::io::test;

CATCH_TEST_CASE("a fault ends the query it hits, with its code, and no other", "[.spill_fault]") {
   const std::string_view points = std::getenv("OUZEL_TEST_POINTS");
   const SqlState expected = points.find("enospc") != points.npos ? sqlstate::diskFull : sqlstate::ioError;
   const bool isForGood = points.find("write") != points.npos;
   SpillDirectories directories;
   SpillManager manager(directories.options);
   const auto content = pageOf(1, 65536);
   const auto use = [&](SpillSpace& space) {
      SpillReader reader(space);
      for (int i = 0; i < 2000; ++i)
         reader.add(writePage(space, content));
      while (!reader.isEmpty()) {
         const auto back = readPage(reader); // throws
         CATCH_REQUIRE(back == content);
      }
   };
   {
      SpillSpace space(manager, atLevel(0));
      // A failed write in the background may have lost pages, so its space fails in the second round, too.
      for (int round = 0; round < (isForGood ? 2 : 1); ++round) {
         try {
            use(space);
            CATCH_FAIL("no error");
         } catch (const SqlError& error) {
            CATCH_CHECK(error.state() == expected);
         }
      }
   }
   SpillSpace next(manager);
   use(next);
}
