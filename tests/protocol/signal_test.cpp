#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "tests/protocol/support.hpp"

using namespace ouzel::wire;

// pg_cancel_backend() and pg_terminate_backend(): one session ends the statement, or the whole, of another. And what a
// session knows of its connection.

namespace {

constexpr const char* canceled = "ERROR 57014 canceling statement due to user request";

std::string pidOf(const Connection& connection) {
   return std::to_string(PQbackendPID(connection.get()));
}

/// The first answer of the server: run() tells the last, which is the lost connection where a session is ended.
std::string firstAnswer(const Connection& connection, const std::string& sql) {
   PQsendQuery(connection.get(), sql.c_str());
   const Result first(PQgetResult(connection.get()));
   while (const Result next{PQgetResult(connection.get())}) {
   }
   return describe(first.get());
}

/// Runs the statement on the victim while `signal` is run on another connection, and returns the victim's answer.
std::string runAgainst(const Connection& victim, const std::string& sql, const std::string& signal) {
   std::string answer;
   std::thread runner([&] { answer = firstAnswer(victim, sql); });
   const Connection other;
   // The victim's statement has to run when the signal comes.
   while (other.run("SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND pid = " + pidOf(victim)) != "1\n")
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
   CATCH_CHECK(other.run(signal) == "t\n");
   runner.join();
   return answer;
}

} // namespace

CATCH_TEST_CASE("pg_cancel_backend ends a statement of another session") {
   const Connection victim;
   for (const char* sql :
        {"SELECT pg_sleep(60)", "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b"}) {
      CATCH_CHECK(runAgainst(victim, sql, "SELECT pg_cancel_backend(" + pidOf(victim) + ")") == canceled);
      CATCH_CHECK(victim.run("SELECT 1") == "1\n");
   }
   const Connection other;
   CATCH_CHECK(other.run("SELECT pg_cancel_backend(" + pidOf(victim) + ")") == "t\n"); // it is idle: nothing happens
   CATCH_CHECK(victim.run("SELECT 1") == "1\n");
   CATCH_CHECK(other.run("SELECT pg_cancel_backend(pg_backend_pid()), count(*) FROM generate_series(1, 100000000)") ==
               canceled);
   CATCH_CHECK(other.run("SELECT pg_cancel_backend(2147483647), pg_terminate_backend(2147483647)") == "f|f\n");
   CATCH_CHECK(other.run("SELECT pg_cancel_backend(NULL) IS NULL") == "t\n");
   CATCH_CHECK(other.run("SELECT pg_terminate_backend(2147483647, -1)").starts_with("ERROR 22003"));
}

CATCH_TEST_CASE("pg_terminate_backend ends sessions that run, wait in a transaction, or are idle") {
   {
      const Connection victim;
      const std::string answer =
          runAgainst(victim, "SELECT pg_sleep(60)", "SELECT pg_terminate_backend(" + pidOf(victim) + ", 10000)");
      CATCH_CHECK(answer == "ERROR 57P01 terminating connection due to administrator command");
      CATCH_CHECK(victim.run("SELECT 1").find("1\n") == std::string::npos);
      CATCH_CHECK(!victim.isOpen());
   }
   const Connection other;
   other.run("DROP TABLE IF EXISTS wire_victim; CREATE TABLE wire_victim (a int)");
   for (const bool inTransaction : {false, true}) {
      const Connection victim;
      if (inTransaction) victim.run("BEGIN; INSERT INTO wire_victim VALUES (1)");
      CATCH_CHECK(other.run("SELECT pg_terminate_backend(" + pidOf(victim) + ", 10000)") == "t\n");
      CATCH_CHECK(other.run("SELECT count(*) FROM pg_stat_activity WHERE pid = " + pidOf(victim)) == "0\n");
      CATCH_CHECK(victim.run("SELECT 1").find("1\n") == std::string::npos);
      CATCH_CHECK(!victim.isOpen());
   }
   CATCH_CHECK(other.run("SELECT count(*) FROM wire_victim") == "0\n");
   CATCH_CHECK(other.run("DROP TABLE wire_victim") == "DROP TABLE");
}

CATCH_TEST_CASE("a session knows both ends of its connection") {
   const Connection c;
   CATCH_CHECK(c.run("SELECT inet_client_addr(), inet_server_addr()") == "127.0.0.1|127.0.0.1\n");
   CATCH_CHECK(c.run("SELECT inet_server_port()") == std::string(PQport(c.get())) + "\n");
   CATCH_CHECK(c.run("SELECT client_addr, client_port = inet_client_port(), client_port > 0 FROM pg_stat_activity "
                     "WHERE pid = pg_backend_pid()") == "127.0.0.1|t|t\n");
   CATCH_CHECK(c.run("SELECT current_query()") == "SELECT current_query()\n");
}
