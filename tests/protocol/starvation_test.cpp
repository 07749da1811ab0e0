#include <catch2/catch.hpp>
#include <deque>
#include <thread>

#include "tests/protocol/support.hpp"

using namespace ouzel::wire;

// Sessions that wait keep nobody else out: not from the session threads, not from the workers, not from the
// connections. The servers here have few of each, so that a few clients would fill them.

namespace {

/// Statements that run on connections of their own until the object ends; it cancels them.
class Background {
public:
   explicit Background(const ServerProcess& server) : server_(server) {}
   ~Background() {
      for (const auto& connection : connections_) {
         PGcancel* cancel = PQgetCancel(connection->get());
         char error[256];
         PQcancel(cancel, error, sizeof error);
         PQfreeCancel(cancel);
      }
   }
   const Connection& start(const std::string& sql) {
      const Connection& connection = *connections_.emplace_back(std::make_unique<Connection>(server_));
      PQsendQuery(connection.get(), sql.c_str());
      return connection;
   }
   /// Wait until `count` of them run.
   void waitForActive(const Connection& observer, size_t count) const {
      while (std::stoul(observer.run("SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND pid <> "
                                     "pg_backend_pid() AND query LIKE '%wire_waits%'")) < count)
         std::this_thread::sleep_for(std::chrono::milliseconds(5));
   }

private:
   const ServerProcess& server_;
   std::deque<std::unique_ptr<Connection>> connections_;
};

} // namespace

CATCH_TEST_CASE("sessions that sleep, wait for a lock or for the client's data leave the threads to others") {
   const ServerProcess server({"--session-threads", "2", "--threads", "2"});
   const Connection observer(server);
   observer.run("CREATE TABLE wire_waits (a int); CREATE TABLE wire_copied (a int)");
   const Connection holder(server);
   CATCH_CHECK(holder.run("BEGIN; LOCK TABLE wire_waits") == "LOCK TABLE");
   Background background(server);
   for (int i = 0; i < 4; ++i) {
      background.start("SELECT pg_sleep(600) /* wire_waits */");
      background.start("INSERT INTO wire_waits VALUES (1)");
      background.start("COPY wire_copied FROM STDIN /* wire_waits */");
   }
   background.waitForActive(observer, 12);
   for (int i = 0; i < 3; ++i) {
      const Connection late(server);
      CATCH_CHECK(late.run("SELECT 1") == "1\n");
      CATCH_CHECK(late.run("BEGIN; SELECT count(*) FROM wire_copied; COMMIT") == "COMMIT");
   }
   CATCH_CHECK(holder.run("ROLLBACK") == "ROLLBACK");
}

CATCH_TEST_CASE("statements that wait or overrun on every worker leave the workers to others") {
   const ServerProcess server({"--threads", "2"});
   const Connection observer(server);
   observer.run("CREATE TABLE wire_rows AS SELECT g a, repeat('ab', 1000) t FROM generate_series(1, 100000) g");
   Background background(server);
   for (int i = 0; i < 3; ++i)
      background.start("SELECT count(pg_sleep(5 + a)) FROM wire_rows /* wire_waits */");
   background.waitForActive(observer, 3);
   for (int i = 0; i < 3; ++i)
      CATCH_CHECK(observer.run("SELECT count(*), sum(a) FROM wire_rows") == "100000|5000050000\n");
   observer.run("SET statement_timeout = '200ms'");
   CATCH_CHECK(observer.run("SELECT count(pg_sleep(60 + a)) FROM wire_rows") ==
               "ERROR 57014 canceling statement due to statement timeout");
   CATCH_CHECK(observer.run("SELECT count(*) FROM wire_rows a, wire_rows b, wire_rows c") ==
               "ERROR 57014 canceling statement due to statement timeout");
}

CATCH_TEST_CASE("the last connections are for superusers") {
   const ServerProcess server({"--max-connections", "4", "--superuser-reserved-connections", "2"});
   const Connection first(server);
   CATCH_CHECK(first.run("SHOW superuser_reserved_connections") == "2\n");
   CATCH_CHECK(first.run("SHOW max_connections") == "4\n");
   CATCH_CHECK(first.run("CREATE ROLE wire_plain LOGIN") == "CREATE ROLE");
   const Connection second(server, "user=wire_plain");
   const Connection refused(server, "user=wire_plain", true);
   CATCH_CHECK(!refused.isOpen());
   CATCH_CHECK(
       refused.error().find("remaining connection slots are reserved for non-replication superuser connections") !=
       std::string::npos);
   const Connection third(server), fourth(server);
   CATCH_CHECK(fourth.run("SELECT 1") == "1\n");
   const Connection tooMany(server, "", true);
   CATCH_CHECK(tooMany.error().find("sorry, too many clients already") != std::string::npos);
}
