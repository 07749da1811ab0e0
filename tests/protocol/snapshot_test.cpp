#include <catch2/catch.hpp>

#include "tests/protocol/support.hpp"

// pg_export_snapshot() and SET TRANSACTION SNAPSHOT: transactions of several sessions that see the same rows.

namespace ouzel::wire {

namespace {

const std::string repeatable = "BEGIN ISOLATION LEVEL REPEATABLE READ";

std::string exportedBy(const Connection& connection) {
   std::string row = connection.run("SELECT pg_export_snapshot()");
   if (row.ends_with('\n')) row.pop_back();
   return row;
}

} // namespace

CATCH_TEST_CASE("a transaction takes the snapshot of another one, and keeps it") {
   const Connection owner, writer, taker;
   owner.run("DROP TABLE IF EXISTS exported; CREATE TABLE exported (a int); INSERT INTO exported VALUES (1), (2)");
   owner.run(repeatable);
   const std::string name = exportedBy(owner), other = exportedBy(owner);
   CATCH_CHECK(name != other);
   writer.run("DELETE FROM exported WHERE a = 1; INSERT INTO exported VALUES (3)");
   taker.run(repeatable);
   CATCH_CHECK(taker.run("SET TRANSACTION SNAPSHOT '" + name + "'") == "SET");
   CATCH_CHECK(taker.run("SELECT sum(a) FROM exported") == "3\n");
   owner.run("COMMIT");
   for (int i = 0; i < 3; ++i)
      writer.run("UPDATE exported SET a = a + 10; VACUUM exported; CHECKPOINT");
   CATCH_CHECK(taker.run("SELECT sum(a) FROM exported") == "3\n");
   CATCH_CHECK(taker.run("COMMIT; SELECT sum(a) FROM exported") == "65\n");
   taker.run(repeatable);
   CATCH_CHECK(taker.run("SET TRANSACTION SNAPSHOT '" + name + "'").find("22023") != std::string::npos);
   taker.run("ROLLBACK");
}

CATCH_TEST_CASE("a snapshot is exported and taken only where it can be") {
   const Connection owner, taker, elsewhere(sharedServer(), "dbname=template1");
   owner.run(repeatable);
   const std::string name = exportedBy(owner), take = "SET TRANSACTION SNAPSHOT '" + name + "'";
   const auto refused = [&](const Connection& connection, const std::string& begin, const std::string& code) {
      connection.run(begin);
      CATCH_CHECK(connection.run(take).find(code) != std::string::npos);
      connection.run("ROLLBACK");
   };
   refused(taker, "BEGIN", "0A000");
   refused(taker, repeatable + "; SELECT 1", "25001");
   refused(taker, repeatable + "; SAVEPOINT s", "25001");
   refused(elsewhere, repeatable, "0A000");
   CATCH_CHECK(owner.run("SAVEPOINT s; SELECT pg_export_snapshot()").find("25001") != std::string::npos);
   owner.run("ROLLBACK");
   refused(taker, repeatable, "22023");
}

} // namespace ouzel::wire
