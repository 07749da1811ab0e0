#include <catch2/catch.hpp>
#include <chrono>
#include <poll.h>
#include <random>
#include <thread>

#include "protocol/message_reader.hpp"
#include "tests/protocol/support.hpp"
#include "tests/unit/protocol/fake_backend.hpp"

using namespace ouzel::wire;
namespace raw = ouzel::protocol::test;

// Clients that misbehave, vanish, cancel, or connect in large numbers. After each test the server still answers others.

namespace {

void checkAlive() {
   CATCH_CHECK(Connection().run("SELECT 'alive'") == "alive\n");
}

/// Polls until `sql` answers `expected`, since the remains of another session take a moment to go.
bool becomes(const Connection& connection, const std::string& sql, const std::string& expected) {
   for (int i = 0; i < 2400; ++i) {
      if (connection.run(sql) == expected) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
   }
   return false;
}

} // namespace

CATCH_TEST_CASE("garbage and oversized startup packets") {
   std::mt19937_64 rng(4711);
   std::vector<std::string> openings = {"GET / HTTP/1.1\r\n\r\n",
                                        raw::int32(INT32_MAX),
                                        raw::int32(10'001),
                                        raw::int32(4),
                                        std::string(64, '\0'),
                                        raw::int32(9) + raw::int32(196608) + "x",
                                        raw::startupPacket({{"user", "postgres"}}, 131072),
                                        raw::startupPacket({{"user", std::string("\xff\xfe")}})};
   for (int i = 0; i < 30; ++i) {
      std::string bytes;
      for (uint64_t size = 8 + rng() % 300; size > 0; --size)
         bytes += static_cast<char>(rng());
      openings.push_back('\xff' + bytes); // an impossible length
   }
   for (const auto& opening : openings) {
      RawClient c;
      c.send(opening);
      const auto answer = c.answer();
      CATCH_CHECK(answer.ends_with("(closed)"));
   }
   checkAlive();
}

CATCH_TEST_CASE("messages that are truncated, too long, or of no known type") {
   for (const auto& bytes : {std::string("Q") + raw::int32(-1), "Q" + raw::int32(3), "S" + raw::int32(1 << 20),
                             std::string("\x01\x02\x03\x04\x05\x06"), std::string("~~~~~~~~")}) {
      RawClient c;
      c.start();
      CATCH_CHECK(c.ask(bytes).ends_with("(closed)"));
   }
   {
      RawClient c;
      c.start();
      c.send("Q" + raw::int32(1000) + "SELECT"); // never completed
      c.close();
   }
   RawClient c;
   c.start();
   CATCH_CHECK(c.ask(raw::message('B', "x") + raw::syncMessage()).starts_with("E ERROR 08P01"));
   CATCH_CHECK(c.ask(raw::message('Q', "no zero")).starts_with("E ERROR 08P01"));
   CATCH_CHECK(c.ask(raw::message('D', "Zx" + std::string(1, '\0')) + raw::syncMessage()).starts_with("E ERROR 08P01"));
   CATCH_CHECK(c.ask(raw::query("SELECT 5")).find("D 5\n") != std::string::npos);
   checkAlive();
}

CATCH_TEST_CASE("invalid UTF-8 is refused wherever text comes in") {
   RawClient c;
   c.start();
   const std::string invalid = "E ERROR 22021 invalid byte sequence for encoding \"UTF8\": 0xff";
   CATCH_CHECK(c.ask(raw::query("SELECT '\xff'")).starts_with(invalid));
   CATCH_CHECK(c.ask(raw::parse("", "SELECT '\xff'") + raw::syncMessage()).starts_with(invalid));
   CATCH_CHECK(c.ask(raw::parse("", "SELECT $1::text") + raw::bind("", "", {"\xff"}) + raw::syncMessage())
                   .starts_with("1\n" + invalid));
   CATCH_CHECK(
       c.ask(raw::parse("", "SELECT $1::text") + raw::bind("", "", {std::string("a\0b", 3)}) + raw::syncMessage())
           .starts_with("1\nE ERROR 22021"));
   c.ask(raw::query("DROP TABLE IF EXISTS wire_utf8; CREATE TABLE wire_utf8 (t text)"));
   const auto copy =
       c.ask(raw::query("COPY wire_utf8 FROM STDIN") + raw::message('d', "good\nb\xff\n") + raw::message('c', ""));
   CATCH_CHECK(copy.find(invalid) != std::string::npos);
   CATCH_CHECK(c.ask(raw::query("SELECT count(*) FROM wire_utf8")).find("D 0\n") != std::string::npos);
   c.ask(raw::query("DROP TABLE wire_utf8"));
}

CATCH_TEST_CASE("COPY through libpq, both ways, given up, and left in the middle") {
   const Connection c;
   c.run("DROP TABLE IF EXISTS wire_copy; CREATE TABLE wire_copy (a int, b text)");
   const auto finish = [&] {
      std::string last;
      while (const Result result = Result(PQgetResult(c.get())))
         last = describe(result.get());
      return last;
   };
   CATCH_REQUIRE(c.run("COPY wire_copy FROM STDIN") == "(copy in)");
   const std::string data = "1\tone\n2\t\\N\n"; // sent byte by byte
   for (const char byte : data)
      CATCH_REQUIRE(PQputCopyData(c.get(), &byte, 1) == 1);
   PQputCopyEnd(c.get(), nullptr);
   CATCH_CHECK(finish() == "COPY 2");

   CATCH_REQUIRE(c.run("COPY wire_copy TO STDOUT") == "(copy out)");
   char* row = nullptr;
   std::vector<std::string> rows;
   while (PQgetCopyData(c.get(), &row, 0) > 0) {
      rows.emplace_back(row);
      PQfreemem(row);
   }
   CATCH_CHECK(rows == std::vector<std::string>{"1\tone\n", "2\t\\N\n"});
   CATCH_CHECK(finish() == "COPY 2");

   CATCH_REQUIRE(c.run("COPY wire_copy FROM STDIN") == "(copy in)");
   PQputCopyData(c.get(), "3\tx\n", 4);
   PQputCopyEnd(c.get(), "changed my mind");
   CATCH_CHECK(finish() == "ERROR 57014 COPY from stdin failed: changed my mind");

   CATCH_REQUIRE(c.run("COPY wire_copy FROM STDIN") == "(copy in)");
   PQputCopyData(c.get(), "x\tx\n", 4);
   PQputCopyEnd(c.get(), nullptr);
   CATCH_CHECK(finish() == "ERROR 22P02 invalid input syntax for type integer: \"x\"");
   CATCH_CHECK(c.run("SELECT count(*) FROM wire_copy") == "2\n");

   {
      RawClient vanishing;
      vanishing.start();
      vanishing.send(raw::query("COPY wire_copy FROM STDIN") + raw::message('d', "7\tseven\n"));
      vanishing.close();
   }
   {
      RawClient confused;
      confused.start();
      const auto answer = confused.ask(raw::query("COPY wire_copy FROM STDIN") + raw::query("SELECT 1"));
      CATCH_CHECK(answer.find("E ERROR 08P01") != std::string::npos);
   }
   CATCH_CHECK(c.run("SELECT count(*) FROM wire_copy") == "2\n");
   CATCH_CHECK(c.run("DROP TABLE wire_copy") == "DROP TABLE"); // no session still holds a lock on it
}

CATCH_TEST_CASE("a client that vanishes in the middle of a result") {
   const Connection watcher;
   watcher.run(
       "DROP TABLE IF EXISTS wire_vanish; CREATE TABLE wire_vanish (a int); INSERT INTO wire_vanish VALUES (1)");
   for (int i = 0; i < 5; ++i) {
      RawClient c;
      c.start();
      c.send(raw::query(
          "SELECT g, 'some text to fill the socket', w.a FROM generate_series(1, 3000000) g, wire_vanish w"));
      std::this_thread::sleep_for(std::chrono::milliseconds(30 * i));
      c.close();
   }
   // The vanished session's locks are released: otherwise DROP would wait for them.
   CATCH_CHECK(watcher.run("SET statement_timeout = '120s'; DROP TABLE wire_vanish") == "DROP TABLE");
   checkAlive();
}

CATCH_TEST_CASE("a client that vanishes inside a transaction leaves nothing behind") {
   const Connection c;
   c.run("DROP TABLE IF EXISTS wire_left; CREATE TABLE wire_left (a int)");
   {
      RawClient gone;
      gone.start();
      gone.ask(raw::query("BEGIN; INSERT INTO wire_left VALUES (1)"));
   }
   CATCH_CHECK(becomes(c, "SELECT count(*) FROM wire_left", "0\n"));
   CATCH_CHECK(c.run("DROP TABLE wire_left") == "DROP TABLE");
}

CATCH_TEST_CASE("cancel: the running statement only, and only with the right key") {
   const Connection c;
   CATCH_REQUIRE(
       PQsendQuery(c.get(), "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b") == 1);
   {
      RawClient stranger;
      stranger.send(raw::int32(16) + raw::int32(80877102) + raw::int32(PQbackendPID(c.get())) + raw::int32(12345));
      CATCH_CHECK(stranger.answer() == "(closed)");
   }
   PQconsumeInput(c.get());
   CATCH_CHECK(PQisBusy(c.get()) == 1);
   PGcancel* cancel = PQgetCancel(c.get());
   char reason[256];
   // A cancel request before the statement has begun has no effect, so repeat it until the statement ends.
   for (int i = 0; i < 600 && PQisBusy(c.get()) == 1; ++i) {
      CATCH_CHECK(PQcancel(cancel, reason, sizeof reason) == 1);
      pollfd entry{PQsocket(c.get()), POLLIN, 0};
      poll(&entry, 1, 200);
      PQconsumeInput(c.get());
   }
   CATCH_CHECK(describe(Result(PQgetResult(c.get())).get()) == "ERROR 57014 canceling statement due to user request");
   while (Result(PQgetResult(c.get()))) {
   }
   CATCH_CHECK(c.run("SELECT 1") == "1\n");
   CATCH_CHECK(PQcancel(cancel, reason, sizeof reason) == 1); // no effect: no statement is running
   PQfreeCancel(cancel);
   std::this_thread::sleep_for(std::chrono::milliseconds(100));
   CATCH_CHECK(c.run("SELECT 2") == "2\n");
}

CATCH_TEST_CASE("1,000 idle connections") {
   if (sharedServer().isForeign()) return; // PostgreSQL accepts only 100 connections
   std::vector<RawClient> clients;
   for (int i = 0; i < 1000; ++i) {
      clients.emplace_back();
      clients.back().send(raw::startupPacket({{"user", "postgres"}}));
   }
   for (const auto& client : clients)
      CATCH_REQUIRE(client.answer().ends_with("Z I\n"));
   checkAlive();
   for (size_t i = 0; i < clients.size(); i += 97)
      CATCH_CHECK(clients[i].ask(raw::query("SELECT 7")).find("D 7\n") != std::string::npos);
}

CATCH_TEST_CASE("connections that come and go") {
   for (int i = 0; i < 200; ++i) {
      RawClient c;
      if (i % 3 == 0) continue; // sends no byte
      c.send(raw::startupPacket({{"user", "postgres"}}));
      if (i % 3 == 1) continue; // closes before the answer
      c.answer();
   }
   checkAlive();
}
