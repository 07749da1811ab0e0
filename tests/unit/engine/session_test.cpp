#include "engine/core/session.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "engine/core/database_metrics.hpp"
#include "tests/unit/protocol/fake_backend.hpp"
#include "tests/unit/storage/storage_test_support.hpp"

using namespace ouzel;
namespace wire = ouzel::protocol::test;

// The engine's sessions as the wire protocol uses them, over a database of their own.

namespace {

class Fixture {
public:
   Fixture() {
      engine::DatabaseOptions options;
      options.dataDirectory = directory.path();
      options.threads = 1;
      options.memoryLimit = size_t{256} << 20;
      database = engine::Database::open(options);
      client = std::make_unique<wire::Conversation>();
      client->doorkeeper.openBackend = [this](const protocol::StartupRequest& request, NoticeSink& notices) {
         return engine::openSession(*database, {request.user, "postgres", request.settings, 5, {}}, notices);
      };
      CATCH_REQUIRE(client->connect().ends_with("Z I\n"));
   }
   ~Fixture() {
      client.reset();
      database->close();
   }
   std::string say(const std::string& bytes) const { return client->say(bytes); }

   storage::test::TemporaryDirectory directory;
   std::unique_ptr<engine::Database> database;
   std::unique_ptr<wire::Conversation> client;
};

constexpr const char* table = "CREATE TABLE t (n int, d numeric(15,2), c char(4), t text, day date);"
                              "INSERT INTO t VALUES (7, -0.05, 'ab', 'a text of more than twelve bytes', '2000-01-01'),"
                              "(NULL, 1234.56, '', '', '2001-01-01')";

} // namespace

CATCH_TEST_CASE("rows go out as text and in binary, char(n) padded, with notices") {
   const Fixture fixture;
   fixture.say(wire::query(table));
   CATCH_CHECK(
       fixture.say(wire::query("DROP TABLE IF EXISTS nothing; SELECT d, c, t, day FROM t ORDER BY d")) ==
       "N NOTICE 00000 table \"nothing\" does not exist, skipping\nC DROP TABLE\n"
       "T d 16384.2 type 1700 -1 983046 format 0,c 16384.3 type 1042 -1 8 format 0,"
       "t 16384.4 type 25 -1 -1 format 0,day 16384.5 type 1082 4 -1 format 0\n"
       "D -0.05|ab  |a text of more than twelve bytes|2000-01-01\nD 1234.56|    ||2001-01-01\nC SELECT 2\nZ I\n");
   const std::string parse = wire::parse("", "SELECT n, d, day FROM t WHERE d < $1 ORDER BY d");
   CATCH_CHECK(fixture.say(parse + wire::bind("", "", {"9999"}, {1, 0, 1}) + wire::describe('P', "") +
                           wire::execute("", 1) + wire::execute("") + wire::syncMessage()) ==
               "1\n2\nT n 16384.1 type 23 4 -1 format 1,d 16384.2 type 1700 -1 983046 format 0,"
               "day 16384.5 type 1082 4 -1 format 1\nD " +
                   wire::int32(7) + "|-0.05|" + wire::int32(0) + "\ns\nD NULL|1234.56|" + wire::int32(366) +
                   "\nC SELECT 1\nZ I\n");
   CATCH_CHECK(fixture.say(parse + wire::bind("", "", {"1"}, {1, 0}) + wire::syncMessage()) ==
               "1\nE ERROR 08P01 bind message has 2 result formats but query has 3 columns\nZ I\n");
}

CATCH_TEST_CASE("FETCH sends a cursor's rows in the formats of its own portal") {
   const Fixture fixture;
   fixture.say(wire::query(table));
   fixture.say(wire::query("BEGIN; DECLARE c CURSOR FOR SELECT n, day FROM t ORDER BY d"));
   CATCH_CHECK(fixture.say(wire::parse("", "FETCH 1 FROM c") + wire::bind("", "", {}, {1}) + wire::execute("") +
                           wire::syncMessage()) ==
               "1\n2\nD " + wire::int32(7) + "|" + wire::int32(0) + "\nC FETCH 1\nZ T\n");
   CATCH_CHECK(fixture.say(wire::query("FETCH 1 FROM c")) ==
               "T n 16384.1 type 23 4 -1 format 0,day 16384.5 type 1082 4 -1 format 0\n"
               "D NULL|2001-01-01\nC FETCH 1\nZ T\n");
}

CATCH_TEST_CASE("names of temporary tables are not qualified, in results and in COPY") {
   const Fixture fixture;
   fixture.say(wire::query("CREATE TEMPORARY TABLE mine (a int); CREATE TABLE names (r regclass);"
                           "INSERT INTO names VALUES ('mine')"));
   CATCH_CHECK(fixture.say(wire::query("COPY names TO STDOUT")) == "H 0 1\nd mine\n\nc\nC COPY 1\nZ I\n");
   CATCH_CHECK(fixture.say(wire::parse("", "TABLE names") + wire::bind("", "") + wire::execute("") +
                           wire::syncMessage()) == "1\n2\nD mine\nC SELECT 1\nZ I\n");
}

CATCH_TEST_CASE("notices below client_min_messages are not sent") {
   const Fixture fixture;
   const std::string drop = wire::query("DROP TABLE IF EXISTS missing");
   CATCH_CHECK(fixture.say(drop).starts_with("N "));
   fixture.say(wire::query("SET client_min_messages = warning"));
   CATCH_CHECK(fixture.say(drop) == "C DROP TABLE\nZ I\n");
   CATCH_CHECK(fixture.say(wire::query("COMMIT")).starts_with("N "));
   fixture.say(wire::query("SET client_min_messages = error"));
   CATCH_CHECK(fixture.say(wire::query("COMMIT")) == "C COMMIT\nZ I\n");
}

CATCH_TEST_CASE("current_query() has the whole text of the request") {
   const Fixture fixture;
   const std::string answer = fixture.say(wire::query("SELECT 1; SELECT current_query();"));
   CATCH_CHECK(answer.find("D SELECT 1; SELECT current_query();\n") != std::string::npos);
   const std::string padded =
       "SELECT current_query() /* " + std::string(2000, 'x') + " */"; // longer than pg_stat_activity shows
   CATCH_CHECK(fixture.say(wire::query(padded)).find("D " + padded + "\n") != std::string::npos);
}

CATCH_TEST_CASE("portals made before a savepoint outlive errors and ROLLBACK TO") {
   const Fixture fixture;
   fixture.say(wire::query("BEGIN"));
   const std::string rows = wire::parse("", "SELECT * FROM generate_series(1, 5)") + wire::bind("p", "");
   fixture.say(rows + wire::execute("p", 2) + wire::syncMessage());
   fixture.say(wire::query("SAVEPOINT s"));
   fixture.say(wire::parse("", "SELECT 7") + wire::bind("inside", "") + wire::syncMessage());
   fixture.say(wire::query("SELECT 1 / 0"));
   fixture.say(wire::query("ROLLBACK TO s"));
   CATCH_CHECK(fixture.say(wire::execute("p", 2) + wire::syncMessage()) == "D 3\nD 4\ns\nZ T\n");
   CATCH_CHECK(fixture.say(wire::execute("inside") + wire::syncMessage()) ==
               "E ERROR 34000 portal \"inside\" does not exist\nZ E\n");
}

namespace {

/// How many tables have files in the store.
size_t storedTables(const std::string& directory) {
   namespace fs = std::filesystem;
   std::set<std::string> tables;
   const fs::path root = directory + "/table";
   for (const auto& entry : fs::recursive_directory_iterator(root))
      if (entry.is_regular_file()) tables.insert(fs::relative(entry.path(), root).begin()->string());
   return tables.size();
}

constexpr const char* temporaryAndKept = "CREATE TABLE kept AS SELECT generate_series(1, 100) n;"
                                         "CREATE TEMPORARY TABLE mine (id serial, n int);"
                                         "INSERT INTO mine (n) SELECT generate_series(1, 10000);"
                                         "CREATE TEMPORARY TABLE other AS SELECT * FROM mine";

} // namespace

CATCH_TEST_CASE("files of temporary tables go after the end of their session") {
   Fixture fixture;
   fixture.say(wire::query(temporaryAndKept));
   fixture.say(wire::query("CHECKPOINT"));
   CATCH_CHECK(storedTables(fixture.directory.path()) == 3);
   fixture.client->say(wire::query("TRUNCATE mine; INSERT INTO mine (n) SELECT 1; BEGIN; DROP TABLE other"));
   fixture.client.reset(); // the drop is rolled back
   fixture.client = std::make_unique<wire::Conversation>();
   fixture.client->doorkeeper.openBackend = [&](const protocol::StartupRequest& request, NoticeSink& notices) {
      return engine::openSession(*fixture.database, {request.user, "postgres", request.settings, 6, {}}, notices);
   };
   CATCH_REQUIRE(fixture.client->connect().ends_with("Z I\n"));
   fixture.say(wire::query("CHECKPOINT"));
   CATCH_CHECK(storedTables(fixture.directory.path()) == 1);
   CATCH_CHECK(fixture.say(wire::query("SELECT count(*) FROM kept")).find("D 100\n") != std::string::npos);
}

CATCH_TEST_CASE("files of temporary tables go at the start after a crash") {
   const bool isStored = GENERATE(true, false);
   const Fixture fixture;
   fixture.say(wire::query(temporaryAndKept));
   if (isStored) fixture.say(wire::query("CHECKPOINT"));
   const storage::test::TemporaryDirectory copies;
   const std::string copy = copies.path() + "/crashed"; // the files as a killed process leaves them
   std::filesystem::copy(fixture.directory.path(), copy, std::filesystem::copy_options::recursive);
   std::filesystem::remove(copy + "/ouzel.lock");
   std::filesystem::remove_all(copy + "/writer");
   engine::DatabaseOptions options;
   options.dataDirectory = copy;
   options.threads = 1;
   options.memoryLimit = size_t{256} << 20;
   for (int start = 0; start < 2; ++start) {
      engine::Database::open(options)->close();
      CATCH_CHECK(storedTables(copy) == 1);
   }
}

CATCH_TEST_CASE("statements, their time and errors are counted") {
   const Fixture fixture;
   const auto before = engine::measure(*fixture.database);
   fixture.say(wire::query("SELECT 1; SELECT 2"));
   fixture.say(wire::parse("", "VALUES (1), (2)") + wire::bind("", "") + wire::execute("", 1) + wire::execute("") +
               wire::syncMessage());
   fixture.say(wire::query("SELECT 1 / 0"));
   fixture.say(wire::query("SELECT FROM FROM")); // is not run
   const auto after = engine::measure(*fixture.database);
   CATCH_CHECK(after.statements - before.statements == 4);
   CATCH_CHECK(after.errors - before.errors == 2);
   CATCH_CHECK(after.statementNanos > before.statementNanos);
}
