#include <catch2/catch.hpp>
#include <cstring>

#include "tests/protocol/support.hpp"
#include "tests/unit/protocol/fake_backend.hpp"

// BINARY cursors: FETCH of the simple protocol gives bytes. Portals that Bind has made are cursors.

namespace raw = ouzel::protocol::test;

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

CATCH_TEST_CASE("FETCH, MOVE and CLOSE know the portals that Bind has made") {
   const RawClient c;
   c.start();
   const auto query = [&](const std::string& sql) { return c.ask(raw::query(sql)); };
   query("BEGIN");
   c.ask(raw::parse("", "SELECT g FROM generate_series(1, 100) g") + raw::bind("p", "") + raw::syncMessage());
   CATCH_CHECK(query("SELECT name, statement FROM pg_cursors")
                   .ends_with("\nD p|SELECT g FROM generate_series(1, 100) g\nC SELECT 1\nZ T\n"));
   CATCH_CHECK(query("MOVE FORWARD 42 p") == "C MOVE 42\nZ T\n");
   CATCH_CHECK(c.ask(raw::execute("p", 2) + raw::syncMessage()) == "D 43\nD 44\ns\nZ T\n");
   CATCH_CHECK(query("FETCH p").ends_with("\nD 45\nC FETCH 1\nZ T\n"));
   CATCH_CHECK(query("MOVE ALL p") == "C MOVE 55\nZ T\n");
   CATCH_CHECK(query("FETCH p").ends_with("\nC FETCH 0\nZ T\n"));
   CATCH_CHECK(query("CLOSE p") == "C CLOSE CURSOR\nZ T\n");
   CATCH_CHECK(query("FETCH p").starts_with("E ERROR 34000"));
   query("ROLLBACK; BEGIN");
   c.ask(raw::parse("", "SET search_path = public") + raw::bind("p", "") + raw::syncMessage());
   CATCH_CHECK(query("FETCH p").starts_with(sharedServer().isForeign() ? "E ERROR XX000" : "E ERROR 55000"));
   query("ROLLBACK");
}

} // namespace ouzel::wire
