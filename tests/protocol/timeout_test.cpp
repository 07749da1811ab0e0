#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "tests/protocol/support.hpp"
#include "tests/unit/protocol/fake_backend.hpp"

using namespace ouzel::wire;
namespace raw = ouzel::protocol::test;

// statement_timeout, lock_timeout and the two limits on silence. The waits are short and the bounds wide: machines that
// run tests are busy.

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* endless = "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b";
constexpr const char* statementTimeout = "ERROR 57014 canceling statement due to statement timeout";

double secondsSince(Clock::time_point start) {
   return std::chrono::duration<double>(Clock::now() - start).count();
}

void pause(int milliseconds) {
   std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

} // namespace

CATCH_TEST_CASE("statement_timeout stops what runs, sleeps or waits, and the session goes on") {
   const Connection c;
   CATCH_CHECK(c.run("SET statement_timeout = '200ms'") == "SET");
   for (const char* sql :
        {endless, "SELECT pg_sleep(60)", "CREATE TABLE wire_never AS SELECT pg_sleep(60) IS NULL AS a",
         "SELECT 1; SELECT pg_sleep(60)"}) {
      const auto start = Clock::now();
      CATCH_CHECK(c.run(sql) == statementTimeout);
      CATCH_CHECK(secondsSince(start) < 20);
      CATCH_CHECK(c.run("SELECT 1") == "1\n");
   }
   CATCH_CHECK(describe(c.parameters("SELECT pg_sleep($1)", {"60"}).get()) == statementTimeout);
   // Each statement of a script has the whole time.
   CATCH_CHECK(c.run("SELECT pg_sleep(0.12); SELECT pg_sleep(0.12); SELECT 2") == "2\n");
   CATCH_CHECK(c.run("BEGIN; SELECT pg_sleep(60)") == statementTimeout);
   CATCH_CHECK(c.run("SELECT 1").find("25P02") != std::string::npos);
   CATCH_CHECK(c.run("ROLLBACK") == "ROLLBACK");
   CATCH_CHECK(c.run("SET statement_timeout = 0; SELECT pg_sleep(0.3) IS NOT NULL") == "t\n");
   CATCH_CHECK(c.run("SHOW statement_timeout") == "0\n");
}

CATCH_TEST_CASE("statement_timeout counts for each Execute of its own, not for the pauses between") {
   const Connection c;
   c.run("SET statement_timeout = '300ms'");
   CATCH_CHECK(c.run("BEGIN") == "BEGIN");
   CATCH_CHECK(c.run("DECLARE wire_cursor CURSOR FOR SELECT * FROM generate_series(1, 10)") == "DECLARE CURSOR");
   for (int i = 0; i < 3; ++i) {
      pause(200);
      CATCH_CHECK(c.run("FETCH 1 FROM wire_cursor") == std::to_string(i + 1) + "\n");
   }
   CATCH_CHECK(c.run("COMMIT") == "COMMIT");
   pause(400); // does not apply to an idle session
   CATCH_CHECK(c.run("SELECT 1") == "1\n");
}

CATCH_TEST_CASE("lock_timeout gives up on a lock only") {
   const Connection holder, c;
   holder.run("DROP TABLE IF EXISTS wire_locked; CREATE TABLE wire_locked (a int)");
   holder.run("BEGIN; ALTER TABLE wire_locked ADD COLUMN b int");
   c.run("SET lock_timeout = '150ms'");
   for (const char* sql :
        {"SELECT * FROM wire_locked", "INSERT INTO wire_locked VALUES (1)", "DROP TABLE wire_locked"}) {
      const auto start = Clock::now();
      CATCH_CHECK(c.run(sql) == "ERROR 55P03 canceling statement due to lock timeout");
      CATCH_CHECK(secondsSince(start) < 20);
   }
   CATCH_CHECK(c.run("SELECT pg_sleep(0.3) IS NOT NULL") == "t\n");
   c.run("SET lock_timeout = 0; SET statement_timeout = '150ms'");
   CATCH_CHECK(c.run("SELECT * FROM wire_locked") == statementTimeout);
   c.run("SET statement_timeout = 0");
   holder.run("ROLLBACK");
   CATCH_CHECK(c.run("SELECT * FROM wire_locked") == "");
   CATCH_CHECK(c.run("DROP TABLE wire_locked") == "DROP TABLE");
}

CATCH_TEST_CASE("idle_in_transaction_session_timeout ends the session and rolls back") {
   const Connection watcher;
   watcher.run("DROP TABLE IF EXISTS wire_idle; CREATE TABLE wire_idle (a int)");
   for (const char* open : {"BEGIN; INSERT INTO wire_idle VALUES (1)", "BEGIN; SELECT nosuch"}) {
      RawClient c;
      c.start();
      c.ask(raw::query("SET idle_in_transaction_session_timeout = '200ms'"));
      pause(400); // does not apply outside of transactions
      CATCH_CHECK(c.ask(raw::query("SELECT 1")).find("D 1\n") != std::string::npos);
      c.ask(raw::query(open));
      const auto answer = c.answer();
      CATCH_CHECK(answer.starts_with("E FATAL 25P03 terminating connection due to idle-in-transaction timeout"));
      CATCH_CHECK(answer.ends_with("(closed)"));
   }
   CATCH_CHECK(watcher.run("SET lock_timeout = '20s'; DROP TABLE wire_idle") == "DROP TABLE");
   // A session that runs a statement is not idle.
   RawClient busy;
   busy.start();
   busy.ask(raw::query("SET idle_in_transaction_session_timeout = '300ms'; BEGIN"));
   for (int i = 0; i < 6; ++i) {
      pause(100);
      CATCH_CHECK(busy.ask(raw::query("SELECT 1")).ends_with("Z T\n"));
   }
   CATCH_CHECK(busy.ask(raw::query("SELECT pg_sleep(0.5)")).ends_with("Z T\n"));
   CATCH_CHECK(busy.ask(raw::query("COMMIT; SELECT 1")).ends_with("Z I\n"));
}

CATCH_TEST_CASE("idle_session_timeout ends sessions outside of transactions") {
   std::vector<RawClient> clients;
   for (int i = 0; i < 20; ++i) {
      clients.emplace_back();
      clients.back().start();
      clients.back().ask(raw::query("SET idle_session_timeout = '" + std::to_string(200 + 20 * i) + "ms'"));
   }
   RawClient inside, other;
   inside.start();
   inside.ask(raw::query("SET idle_session_timeout = '200ms'; BEGIN"));
   other.start();
   for (const auto& client : clients)
      CATCH_CHECK(client.answer().starts_with("E FATAL 57P05 terminating connection due to idle-session timeout"));
   CATCH_CHECK(inside.ask(raw::query("SELECT 5")).find("D 5\n") != std::string::npos);
   CATCH_CHECK(other.ask(raw::query("SELECT 6")).find("D 6\n") != std::string::npos);
   CATCH_CHECK(inside.ask(raw::query("COMMIT")).ends_with("Z I\n"));
   CATCH_CHECK(inside.answer().starts_with("E FATAL 57P05"));
}

CATCH_TEST_CASE("statement_timeout goes on between the messages of one series") {
   RawClient c;
   c.start();
   c.ask(raw::query("SET statement_timeout = '100ms'"));
   c.send(raw::parse("late", "SELECT 1") + raw::message('H', ""));
   pause(400);
   CATCH_CHECK(c.ask(raw::describe('S', "late") + raw::syncMessage()) ==
               "1\nE ERROR 57014 canceling statement due to statement timeout\nZ I\n");
   c.ask(raw::parse("s", "SELECT 1") + raw::syncMessage());
   pause(400); // a series is over with its Sync
   CATCH_CHECK(c.ask(raw::bind("", "s") + raw::execute("") + raw::syncMessage()).ends_with("D 1\nC SELECT 1\nZ I\n"));
}
