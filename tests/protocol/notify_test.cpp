#include <catch2/catch.hpp>
#include <poll.h>
#include <thread>

#include "tests/protocol/support.hpp"

// LISTEN and NOTIFY: what clients are told, and when.

namespace ouzel::wire {

namespace {

struct NotifyDeleter {
   void operator()(PGnotify* notify) const { PQfreemem(notify); }
};

/// What the client has been told so far: "channel payload\n" for each message.
std::string told(const Connection& c) {
   std::string all;
   PQconsumeInput(c.get());
   while (const std::unique_ptr<PGnotify, NotifyDeleter> notify{PQnotifies(c.get())})
      all += std::string(notify->relname) + " " + notify->extra + "\n";
   return all;
}

/// The same, once the idle client has been told something; empty after some seconds.
std::string awaitTold(const Connection& c) {
   for (int attempt = 0; attempt < 100; ++attempt) {
      if (std::string all = told(c); !all.empty()) return all;
      pollfd entry{PQsocket(c.get()), POLLIN, 0};
      ::poll(&entry, 1, 100);
   }
   return {};
}

} // namespace

CATCH_TEST_CASE("idle sessions that listen are told at once, in the order of the commit") {
   const Connection a, b, sender;
   CATCH_CHECK(a.run("LISTEN one") == "LISTEN");
   CATCH_CHECK(b.run("LISTEN one; LISTEN two") == "LISTEN");
   CATCH_CHECK(sender.run("NOTIFY one, 'x'") == "NOTIFY");
   CATCH_CHECK(awaitTold(a) == "one x\n");
   CATCH_CHECK(awaitTold(b) == "one x\n");
   sender.run("BEGIN; NOTIFY two, '1'; NOTIFY one, '2'; NOTIFY two, '1'; SELECT pg_notify('two', '3'); NOTIFY one");
   CATCH_CHECK(told(b) == "");
   sender.run("COMMIT");
   CATCH_CHECK(awaitTold(b) == "two 1\none 2\ntwo 3\none \n");
   CATCH_CHECK(awaitTold(a) == "one 2\none \n");
   CATCH_CHECK(told(sender) == "");
}

CATCH_TEST_CASE("a message that is rolled back is never sent") {
   const Connection a, sender;
   a.run("LISTEN c");
   sender.run("BEGIN; NOTIFY c, 'gone'; ROLLBACK");
   sender.run("BEGIN; NOTIFY c, 'first'; SAVEPOINT s; NOTIFY c, 'gone'; ROLLBACK TO s; NOTIFY c, 'last'; COMMIT");
   CATCH_CHECK(awaitTold(a) == "c first\nc last\n");
   CATCH_CHECK(sender.run("BEGIN; NOTIFY c, 'gone'; SELECT 1/0").find("22012") != std::string::npos);
   sender.run("ROLLBACK");
   sender.run("NOTIFY c, 'end'");
   CATCH_CHECK(awaitTold(a) == "c end\n");
}

CATCH_TEST_CASE("a session is told of its own messages, and of none within a transaction block") {
   const Connection a, sender;
   a.run("LISTEN c");
   CATCH_CHECK(a.run("NOTIFY c, 'own'") == "NOTIFY");
   CATCH_CHECK(told(a) == "c own\n");
   a.run("BEGIN");
   sender.run("NOTIFY c, 'waits'");
   std::this_thread::sleep_for(std::chrono::milliseconds(100));
   CATCH_CHECK(a.run("SELECT 1") == "1\n");
   CATCH_CHECK(told(a) == "");
   a.run("COMMIT");
   CATCH_CHECK(told(a) == "c waits\n");
}

CATCH_TEST_CASE("LISTEN and UNLISTEN count from their commit on") {
   const Connection a, sender;
   a.run("BEGIN; LISTEN c; ROLLBACK");
   CATCH_CHECK(a.run("SELECT count(*) FROM pg_listening_channels()") == "0\n");
   a.run("LISTEN c; LISTEN d; LISTEN c");
   CATCH_CHECK(a.run("SELECT pg_listening_channels()") == "c\nd\n");
   a.run("UNLISTEN c");
   sender.run("NOTIFY c, 'no'; NOTIFY d, 'yes'");
   CATCH_CHECK(awaitTold(a) == "d yes\n");
   a.run("UNLISTEN *");
   CATCH_CHECK(a.run("SELECT count(*) FROM pg_listening_channels()") == "0\n");
   a.run("LISTEN c");
   a.run("DISCARD ALL");
   CATCH_CHECK(a.run("SELECT count(*) FROM pg_listening_channels()") == "0\n");
}

CATCH_TEST_CASE("other databases hear nothing, and a session that is gone hears no more") {
   const Connection sender;
   sender.run("DROP DATABASE IF EXISTS notify_other");
   CATCH_REQUIRE(sender.run("CREATE DATABASE notify_other") == "CREATE DATABASE");
   {
      const Connection other(sharedServer(), "dbname=notify_other");
      other.run("LISTEN c");
      CATCH_CHECK(sender.run("NOTIFY c") == "NOTIFY");
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      CATCH_CHECK(told(other) == "");
   }
   for (int attempt = 0; attempt < 100 && sender.run("DROP DATABASE notify_other") != "DROP DATABASE"; ++attempt)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
   CATCH_CHECK(sender.run("NOTIFY c") == "NOTIFY");
}

CATCH_TEST_CASE("what cannot be sent") {
   const Connection c;
   CATCH_CHECK(c.run("SELECT pg_notify('', 'x')") == "ERROR 22023 channel name cannot be empty");
   CATCH_CHECK(c.run("SELECT pg_notify(NULL, 'x')") == "ERROR 22023 channel name cannot be empty");
   CATCH_CHECK(c.run("SELECT pg_notify(repeat('c', 64), 'x')") == "ERROR 22023 channel name too long");
   CATCH_CHECK(c.run("SELECT pg_notify('c', repeat('x', 8000))") == "ERROR 22023 payload string too long");
   CATCH_CHECK(c.run("SELECT pg_notification_queue_usage()") == "0\n");
   c.run("BEGIN; NOTIFY c");
   CATCH_CHECK(c.run("PREPARE TRANSACTION 'p'") ==
               "ERROR 0A000 cannot PREPARE a transaction that has executed LISTEN, UNLISTEN, or NOTIFY");
}

} // namespace ouzel::wire
