#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/protocol/support.hpp"

using namespace ouzel::wire;

// Databases at the door: connecting by name, who may, how many, and what ends connections.

namespace {

/// What a client is told who may not come in.
std::string refusal(const std::string& more) {
   const Connection connection(sharedServer(), more, true);
   CATCH_CHECK_FALSE(connection.isOpen());
   return connection.error();
}

} // namespace

CATCH_TEST_CASE("a client connects to a database by its name") {
   const Connection c;
   CATCH_CHECK(c.run("CREATE DATABASE wire_db") == "CREATE DATABASE");
   CATCH_CHECK(c.run("CREATE DATABASE \"Wire Db\"") == "CREATE DATABASE");
   {
      const Connection inside(sharedServer(), "dbname=wire_db"), other(sharedServer(), "dbname='Wire Db'");
      CATCH_CHECK(inside.run("SELECT current_database()") == "wire_db\n");
      CATCH_CHECK(other.run("SELECT current_database()") == "Wire Db\n");
      CATCH_CHECK(inside.run("CREATE TABLE wire_inside (a int)") == "CREATE TABLE");
      CATCH_CHECK(other.run("SELECT * FROM wire_inside").find("ERROR 42P01") != std::string::npos);
      CATCH_CHECK(c.run("SELECT datname FROM pg_stat_activity WHERE datname ILIKE 'wire%db' ORDER BY 1") ==
                  "Wire Db\nwire_db\n");
   }
   CATCH_CHECK(refusal("dbname=wire_nothing").ends_with("database \"wire_nothing\" does not exist\n"));
   CATCH_CHECK(
       refusal("dbname=template0").ends_with("database \"template0\" is not currently accepting connections\n"));
   CATCH_CHECK(c.run("DROP DATABASE wire_db") == "DROP DATABASE");
   CATCH_CHECK(c.run("DROP DATABASE \"Wire Db\"") == "DROP DATABASE");
   CATCH_CHECK(refusal("dbname=wire_db").ends_with("database \"wire_db\" does not exist\n"));
}

CATCH_TEST_CASE("a database says whom it lets in, and how many") {
   const Connection c;
   c.run("CREATE DATABASE wire_door CONNECTION LIMIT 1");
   c.run("CREATE ROLE wire_guest LOGIN");
   const std::string guest = "dbname=wire_door user=wire_guest";
   {
      const Connection first(sharedServer(), guest);
      CATCH_CHECK(refusal(guest).ends_with("too many connections for database \"wire_door\"\n"));
      // Superusers come in, and count.
      const Connection second(sharedServer(), "dbname=wire_door");
      CATCH_CHECK(second.run("ALTER DATABASE wire_door CONNECTION LIMIT 2") == "ALTER DATABASE");
      CATCH_CHECK(refusal(guest).ends_with("too many connections for database \"wire_door\"\n"));
      c.run("ALTER DATABASE wire_door CONNECTION LIMIT -1");
      CATCH_CHECK(Connection(sharedServer(), guest).run("SELECT 1") == "1\n");
   }
   c.run("REVOKE CONNECT ON DATABASE wire_door FROM PUBLIC");
   CATCH_CHECK(refusal(guest).find("permission denied for database \"wire_door\"") != std::string::npos);
   c.run("GRANT CONNECT ON DATABASE wire_door TO wire_guest");
   CATCH_CHECK(Connection(sharedServer(), guest).run("SELECT 1") == "1\n");
   c.run("ALTER DATABASE wire_door ALLOW_CONNECTIONS false");
   CATCH_CHECK(refusal(guest).ends_with("database \"wire_door\" is not currently accepting connections\n"));
   CATCH_CHECK(
       refusal("dbname=wire_door").ends_with("database \"wire_door\" is not currently accepting connections\n"));
   CATCH_CHECK(c.run("DROP DATABASE wire_door") == "DROP DATABASE");
   CATCH_CHECK(c.run("DROP ROLE wire_guest") == "DROP ROLE");
}

CATCH_TEST_CASE("DROP DATABASE waits for sessions that go, refuses those that stay, and ends them by force") {
   const Connection c;
   c.run("CREATE DATABASE wire_used");
   {
      const Connection one(sharedServer(), "dbname=wire_used"), two(sharedServer(), "dbname=wire_used");
      const std::string refused = c.run("DROP DATABASE wire_used");
      CATCH_CHECK(refused.find("ERROR 55006 database \"wire_used\" is being accessed by other users") !=
                  std::string::npos);
      CATCH_CHECK(one.run("SELECT 1") == "1\n");
      CATCH_CHECK(c.run("DROP DATABASE wire_used WITH (FORCE)") == "DROP DATABASE");
      CATCH_CHECK(one.run("SELECT 1").starts_with("ERROR")); // what it is told comes before the query
   }
   c.run("CREATE DATABASE wire_used");
   auto leaving = std::make_unique<Connection>(sharedServer(), "dbname=wire_used");
   std::thread leaves([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      leaving.reset();
   });
   CATCH_CHECK(c.run("DROP DATABASE wire_used") == "DROP DATABASE");
   leaves.join();
}

CATCH_TEST_CASE("a database is copied and dropped with what its last session commits while others wait for it") {
   const Connection c;
   c.run("CREATE DATABASE wire_last");
   const auto leaveWith = [](const std::string& sql) {
      auto leaving = std::make_unique<Connection>(sharedServer(), "dbname=wire_last");
      return std::thread([sql, leaving = std::move(leaving)]() mutable {
         std::this_thread::sleep_for(std::chrono::milliseconds(300));
         leaving->run(sql);
         leaving.reset();
      });
   };
   c.run("SET default_transaction_isolation = 'repeatable read'");
   std::thread fills = leaveWith("CREATE TABLE late AS SELECT g FROM generate_series(1, 1000) g");
   CATCH_CHECK(c.run("CREATE DATABASE wire_copy TEMPLATE wire_last") == "CREATE DATABASE");
   fills.join();
   CATCH_CHECK(Connection(sharedServer(), "dbname=wire_copy").run("SELECT count(*) FROM late") == "1000\n");
   std::thread adds = leaveWith("CREATE TABLE later AS SELECT * FROM late; CREATE VIEW shown AS SELECT * FROM later");
   CATCH_CHECK(c.run("DROP DATABASE wire_last") == "DROP DATABASE");
   adds.join();
   CATCH_CHECK(c.run("DROP DATABASE wire_copy") == "DROP DATABASE");
}

CATCH_TEST_CASE("several statements of one message are a transaction block to CREATE DATABASE") {
   const Connection c;
   CATCH_CHECK(c.run("CREATE DATABASE wire_block; SELECT 1").find("ERROR 25001") != std::string::npos);
   CATCH_CHECK(c.run("SELECT 1; DROP DATABASE postgres").find("ERROR 25001") != std::string::npos);
   CATCH_CHECK(c.run("SELECT count(*) FROM pg_database WHERE datname = 'wire_block'") == "0\n");
}

CATCH_TEST_CASE("clients that connect while their database comes and goes are in it or are told that it is gone") {
   const Connection c;
   std::atomic<bool> isOver{false};
   std::atomic<int> entered{0}, wrong{0};
   std::vector<std::thread> clients;
   for (int i = 0; i < 3; ++i)
      clients.emplace_back([&] {
         while (!isOver) {
            const Connection inside(sharedServer(), "dbname=wire_race", true);
            if (!inside.isOpen()) continue;
            ++entered;
            // Whoever is in sees the database whole, or is ended by force.
            const std::string count = inside.run("SELECT count(*) FROM pg_namespace WHERE nspname = 'public'");
            wrong +=
                count != "1\n" && count.find("57P01") == std::string::npos && count.find("-----") == std::string::npos;
         }
      });
   for (int i = 0; i < 20; ++i) {
      const std::string made = c.run("CREATE DATABASE wire_race");
      const std::string gone = c.run("DROP DATABASE wire_race WITH (FORCE)");
      if (made != "CREATE DATABASE" || gone != "DROP DATABASE") CATCH_FAIL_CHECK(made + gone);
   }
   isOver = true;
   for (std::thread& client : clients)
      client.join();
   CATCH_CHECK(wrong == 0);
   CATCH_CHECK(c.run("SELECT count(*) FROM pg_database WHERE datname = 'wire_race'") == "0\n");
}
