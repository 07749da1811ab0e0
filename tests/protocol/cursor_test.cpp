#include <catch2/catch.hpp>
#include <cstring>

#include "tests/protocol/support.hpp"

// BINARY cursors: FETCH of the simple protocol gives bytes.

namespace ouzel::wire {

namespace {

Result run(const Connection& c, const char* sql) {
   return Result(PQexec(c.get(), sql));
}

} // namespace

CATCH_TEST_CASE("FETCH from a BINARY cursor gives the bytes of the types, and other statements texts") {
   const Connection c;
   c.run("BEGIN");
   CATCH_CHECK(c.run("DECLARE bin BINARY SCROLL CURSOR FOR SELECT 258::int4, 'ab'::text, NULL::int8") ==
               "DECLARE CURSOR");
   CATCH_CHECK(c.run("SELECT is_binary, is_scrollable FROM pg_cursors WHERE name = 'bin'") == "t|t\n");
   for (const char* fetch : {"FETCH bin", "FETCH FIRST FROM bin"}) {
      const Result row = run(c, fetch);
      CATCH_REQUIRE(PQntuples(row.get()) == 1);
      CATCH_CHECK(PQfformat(row.get(), 0) == 1);
      CATCH_REQUIRE(PQgetlength(row.get(), 0, 0) == 4);
      CATCH_CHECK(std::memcmp(PQgetvalue(row.get(), 0, 0), "\0\0\1\2", 4) == 0);
      CATCH_CHECK(std::string(PQgetvalue(row.get(), 0, 1), 2) == "ab");
      CATCH_CHECK(PQgetisnull(row.get(), 0, 2));
   }
   CATCH_CHECK(c.run("MOVE ALL FROM bin") == "MOVE 0");
   CATCH_CHECK(c.run("SELECT 258") == "258\n");
   CATCH_CHECK(describe(c.parameters("FETCH FIRST FROM bin", {}).get()) == "258|ab|\\N\n"); // as Bind asks for
   c.run("COMMIT");
}

} // namespace ouzel::wire
