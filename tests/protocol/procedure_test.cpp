#include <catch2/catch.hpp>

#include "tests/protocol/support.hpp"

// Procedures that end transactions, called through portals, and by several statements of one message.

namespace ouzel::wire {

CATCH_TEST_CASE("a procedure commits while its portal runs, and the portal goes on") {
   const Connection c, other;
   c.run("DROP TABLE IF EXISTS wire_called");
   c.run("CREATE TABLE wire_called (a int)");
   c.run("CREATE OR REPLACE PROCEDURE wire_commits(INOUT n int, OUT s text) LANGUAGE plpgsql AS $$ DECLARE r record; "
         "BEGIN FOR r IN SELECT g FROM generate_series(1, n) g LOOP INSERT INTO wire_called VALUES (r.g); "
         "IF r.g % 2 = 0 THEN COMMIT; ELSE ROLLBACK; END IF; END LOOP; n := n + 1; s := 'end'; END $$");
   CATCH_CHECK(describe(c.parameters("CALL wire_commits($1, NULL)", {"10"}).get()) == "11|end\n");
   CATCH_CHECK(other.run("SELECT array_agg(a ORDER BY a) FROM wire_called") == "{2,4,6,8,10}\n");
   CATCH_CHECK(c.run("SELECT count(*) FROM pg_cursors") == "0\n");
   CATCH_CHECK(describe(c.parameters("CALL wire_commits($1, NULL)", {"0"}).get()) == "1|end\n");
}

CATCH_TEST_CASE("a procedure may not commit in a block, nor among the statements of a message") {
   const Connection c;
   c.run("DROP TABLE IF EXISTS wire_refused");
   c.run("CREATE TABLE wire_refused (a int)");
   c.run("CREATE OR REPLACE PROCEDURE wire_ends() LANGUAGE plpgsql AS $$ BEGIN INSERT INTO wire_refused VALUES (1); "
         "COMMIT; END $$");
   const std::string refused = "ERROR 2D000 invalid transaction termination";
   CATCH_CHECK(c.run("BEGIN") == "BEGIN");
   CATCH_CHECK(describe(c.parameters("CALL wire_ends()", {}).get()).starts_with(refused));
   CATCH_CHECK(c.run("COMMIT") == "ROLLBACK");
   CATCH_CHECK(c.run("SELECT 1; CALL wire_ends()").starts_with(refused));
   CATCH_CHECK(c.run("SELECT count(*) FROM wire_refused") == "0\n");
   CATCH_CHECK(c.run("CALL wire_ends()") == "CALL");
   CATCH_CHECK(c.run("SELECT count(*) FROM wire_refused") == "1\n");
}

CATCH_TEST_CASE("an error after a commit keeps what was committed, and frees the loop's cursor") {
   const Connection c;
   c.run("DROP TABLE IF EXISTS wire_partly");
   c.run("CREATE TABLE wire_partly (a int)");
   CATCH_CHECK(c.run("DO $$ DECLARE r record; BEGIN FOR r IN SELECT g FROM generate_series(1, 5) g LOOP "
                     "INSERT INTO wire_partly VALUES (6 / (3 - r.g)); COMMIT; END LOOP; END $$")
                   .starts_with("ERROR 22012"));
   CATCH_CHECK(c.run("SELECT array_agg(a ORDER BY a) FROM wire_partly") == "{3,6}\n");
   CATCH_CHECK(c.run("SELECT count(*) FROM pg_cursors") == "0\n");
}

} // namespace ouzel::wire
