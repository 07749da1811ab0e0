#include <catch2/catch.hpp>
#include <csignal>
#include <string>

#include "tests/protocol/logging_server.hpp"
#include "tests/unit/protocol/fake_backend.hpp"

using namespace ouzel::wire;
namespace raw = ouzel::protocol::test;

// What the server's log says. The lines are PostgreSQL 15's for the same messages, taken from one that ran with the
// same settings; times, process ids and ports are the only differences.

CATCH_TEST_CASE("the log tells the server's start, its recovery and its end") {
   if (sharedServer().isForeign()) return;
   ServerProcess server({"--memory-limit", "256MB", "--threads", "2"});
   std::string log = server.log();
   for (const char* part :
        {" LOG:  starting Ouzel ", " LOG:  the database is in \"", " LOG:  memory limit 256 MB, 2 worker threads, ",
         " LOG:  creating a new database\n", " LOG:  database system is ready to accept connections\n"})
      CATCH_CHECK(log.find(part) != std::string::npos);
   CATCH_CHECK(log.find(" LOG:  listening on IPv4 address \"127.0.0.1\", port " + std::to_string(server.port) + "\n") !=
               std::string::npos);
   {
      const Connection c(server);
      CATCH_CHECK(c.run("CREATE TABLE kept (a int)") == "CREATE TABLE");
      CATCH_CHECK(c.run("INSERT INTO kept SELECT generate_series(1, 1000)") == "INSERT 0 1000");
   }
   server.signal(SIGKILL);
   CATCH_CHECK(server.awaitDeath() == SIGKILL);
   server.start();
   log = server.log();
   CATCH_CHECK(log.find(" LOG:  database system was not properly shut down; automatic recovery in progress\n") !=
               std::string::npos);
   CATCH_CHECK(log.find(" LOG:  redo starts at ") != std::string::npos);
   CATCH_CHECK(log.find(" LOG:  redo done at ") != std::string::npos);
   CATCH_CHECK(log.find(": 2 log records, ") != std::string::npos); // of two commits
   CATCH_CHECK(server.stop() == 0);
   log = server.log();
   for (const char* part :
        {" LOG:  received fast shutdown request (SIGTERM)\n", " LOG:  aborting any active transactions\n",
         " LOG:  shutting down\n", " LOG:  checkpoint starting: shutdown\n",
         " LOG:  checkpoint complete: wrote 1 blocks with 1000 rows, ", " LOG:  database system is shut down\n"})
      CATCH_CHECK(log.find(part) != std::string::npos);
   server.start();
   CATCH_CHECK(server.log().find(" LOG:  database system was shut down\n") != std::string::npos);
}

CATCH_TEST_CASE("errors are logged with their statement") {
   if (sharedServer().isForeign()) return;
   LoggingServer server("");
   const Connection c(server);
   c.run("CREATE TABLE t (a int PRIMARY KEY, b text)");
   c.run("INSERT INTO t VALUES (1, 'x')");
   c.run("INSERT INTO t VALUES (1, 'y');");
   CATCH_CHECK(server.said("STATEMENT") ==
               "INSERT 23505 ERROR:  duplicate key value violates unique constraint \"t_pkey\"\n"
               "INSERT 23505 DETAIL:  Key (a)=(1) already exists.\n"
               "INSERT 23505 STATEMENT:  INSERT INTO t VALUES (1, 'y');\n");
   c.run("select 'a\nb'::int; select 7");
   CATCH_CHECK(server.said("STATEMENT") ==
               "SELECT 22P02 ERROR:  invalid input syntax for type integer: \"a\n\tb\" at character 8\n"
               "SELECT 22P02 STATEMENT:  select 'a\n\tb'::int; select 7\n");
   c.run("syntax here");
   CATCH_CHECK(server.said("STATEMENT") == "idle 42601 ERROR:  syntax error at or near \"syntax\" at character 1\n"
                                           "idle 42601 STATEMENT:  syntax here\n");
   c.run("BEGIN; SET LOCAL log_error_verbosity = terse; SET LOCAL log_min_error_statement = panic");
   c.run("INSERT INTO t VALUES (1, 'y')");
   CATCH_CHECK(server.said("ERROR") ==
               "INSERT 23505 ERROR:  duplicate key value violates unique constraint \"t_pkey\"\n");
   c.run("ROLLBACK");
   c.run("COMMIT");
   CATCH_CHECK(server.said("WARNING") == "COMMIT 25P01 WARNING:  there is no transaction in progress\n");
   c.run("SET log_min_messages = fatal; SELECT 1/0");
   c.run("RESET log_min_messages");
   c.parameters("SELECT 10 / $1::int", {"0"});
   CATCH_CHECK(server.said("STATEMENT") == "SELECT 22012 ERROR:  division by zero\n"
                                           "SELECT 22012 STATEMENT:  SELECT 10 / $1::int\n");
   c.parameters("SELECT $1::int", {"x"});
   CATCH_CHECK(server.said("STATEMENT") == "BIND 22P02 ERROR:  invalid input syntax for type integer: \"x\"\n"
                                           "BIND 22P02 CONTEXT:  unnamed portal parameter $1 = '...'\n"
                                           "BIND 22P02 STATEMENT:  SELECT $1::int\n");
   c.run("SET log_parameter_max_length_on_error = 3");
   const Result result = c.parameters("SELECT 10 / $1::int, $2::text, $3::int", {"0", "it's me", nullptr});
   const std::string context = "unnamed portal with parameters: $1 = '0', $2 = 'it''...', $3 = NULL";
   CATCH_CHECK(PQresultErrorField(result.get(), PG_DIAG_CONTEXT) == context);
   CATCH_CHECK(server.said("STATEMENT") == "SELECT 22012 ERROR:  division by zero\n"
                                           "SELECT 22012 CONTEXT:  " +
                                               context +
                                               "\nSELECT 22012 STATEMENT:  SELECT 10 / $1::int, $2::text, $3::int\n");
}

CATCH_TEST_CASE("log_statement and the durations") {
   if (sharedServer().isForeign()) return;
   LoggingServer server("log_statement = ddl\n");
   const Connection c(server);
   c.run("CREATE TABLE t (a int)");
   c.run("INSERT INTO t VALUES (1)");
   c.run("SELECT 1 INTO u; SELECT 2");
   c.run("SET log_statement = mod");
   c.run("SELECT 3");
   c.run("PREPARE p AS DELETE FROM t WHERE a = $1");
   c.run("EXECUTE p(7)");
   c.run("EXPLAIN ANALYZE INSERT INTO t VALUES (2)");
   c.run("EXPLAIN INSERT INTO t VALUES (2)");
   c.run("TRUNCATE t");
   CATCH_CHECK(server.said("TRUNCATE") == "idle 00000 LOG:  statement: CREATE TABLE t (a int)\n"
                                          "idle 00000 LOG:  statement: SELECT 1 INTO u; SELECT 2\n"
                                          "idle 00000 LOG:  statement: PREPARE p AS DELETE FROM t WHERE a = $1\n"
                                          "idle 00000 LOG:  statement: EXECUTE p(7)\n"
                                          "idle 00000 DETAIL:  prepare: PREPARE p AS DELETE FROM t WHERE a = $1\n"
                                          "idle 00000 LOG:  statement: EXPLAIN ANALYZE INSERT INTO t VALUES (2)\n"
                                          "idle 00000 LOG:  statement: TRUNCATE t\n");
   c.parameters("INSERT INTO t VALUES ($1)", {"5"});
   CATCH_CHECK(server.said("DETAIL") == "INSERT 00000 LOG:  execute <unnamed>: INSERT INTO t VALUES ($1)\n"
                                        "INSERT 00000 DETAIL:  parameters: $1 = '5'\n");
   c.run("SET log_statement = none; SET log_min_duration_statement = 0");
   c.run("EXECUTE p(8)");
   c.parameters("SELECT $1::text || $2", {"it's", nullptr});
   c.run("SET log_parameter_max_length = 2");
   c.parameters("SELECT length($1::text)", {"a\xc3\xa9long"}); // two bytes would end within the second character
   c.run("SELECT 'over'");
   CATCH_CHECK(
       server.said("over") ==
       "SET 00000 LOG:  duration: N ms  statement: SET log_statement = none; SET log_min_duration_statement = 0\n"
       "EXECUTE 00000 LOG:  duration: N ms  statement: EXECUTE p(8)\n"
       "EXECUTE 00000 DETAIL:  prepare: PREPARE p AS DELETE FROM t WHERE a = $1\n"
       "PARSE 00000 LOG:  duration: N ms  parse <unnamed>: SELECT $1::text || $2\n"
       "BIND 00000 LOG:  duration: N ms  bind <unnamed>: SELECT $1::text || $2\n"
       "BIND 00000 DETAIL:  parameters: $1 = 'it''s', $2 = NULL\n"
       "SELECT 00000 LOG:  duration: N ms  execute <unnamed>: SELECT $1::text || $2\n"
       "SELECT 00000 DETAIL:  parameters: $1 = 'it''s', $2 = NULL\n"
       "SET 00000 LOG:  duration: N ms  statement: SET log_parameter_max_length = 2\n"
       "PARSE 00000 LOG:  duration: N ms  parse <unnamed>: SELECT length($1::text)\n"
       "BIND 00000 LOG:  duration: N ms  bind <unnamed>: SELECT length($1::text)\n"
       "BIND 00000 DETAIL:  parameters: $1 = 'a...'\n"
       "SELECT 00000 LOG:  duration: N ms  execute <unnamed>: SELECT length($1::text)\n"
       "SELECT 00000 DETAIL:  parameters: $1 = 'a...'\n"
       "SELECT 00000 LOG:  duration: N ms  statement: SELECT 'over'\n");
   // Portals and named statements; a second Execute of a portal fetches from it.
   c.run("SET log_min_duration_statement = 100");
   const RawClient r(server);
   r.start();
   r.ask(raw::query("SET log_min_duration_statement = 0"));
   server.said("SET log_min_duration_statement = 0");
   r.ask(raw::parse("s", "SELECT generate_series(1, 3)") + raw::bind("q", "s") + raw::execute("q", 1) +
         raw::execute("q", 0) + raw::syncMessage());
   CATCH_CHECK(server.said("fetch from") ==
               "PARSE 00000 LOG:  duration: N ms  parse s: SELECT generate_series(1, 3)\n"
               "BIND 00000 LOG:  duration: N ms  bind s/q: SELECT generate_series(1, 3)\n"
               "SELECT 00000 LOG:  duration: N ms  execute s/q: SELECT generate_series(1, 3)\n"
               "SELECT 00000 LOG:  duration: N ms  execute fetch from s/q: SELECT generate_series(1, 3)\n");
   // Only what is slow; then samples of all and of none; then times alone.
   c.run("SELECT 'fast'");
   c.run("SELECT pg_sleep(0.15)");
   CATCH_CHECK(server.said("pg_sleep") == "SELECT 00000 LOG:  duration: N ms  statement: SELECT pg_sleep(0.15)\n");
   c.run("SET log_min_duration_statement = -1; SET log_min_duration_sample = 0; SET log_statement_sample_rate = 0");
   c.run("SELECT 'never'");
   c.run("SET log_statement_sample_rate = 1");
   c.run("SET log_min_duration_sample = -1");
   c.run("SET log_transaction_sample_rate = 1");
   c.run("SET log_transaction_sample_rate = 0; SET log_duration = on");
   c.run("SET log_duration = off; SELECT 'end' / 1");
   CATCH_CHECK(server.said("STATEMENT") ==
               "SET 00000 LOG:  duration: N ms  statement: SET log_statement_sample_rate = 1\n"
               "SET 00000 LOG:  duration: N ms  statement: SET log_transaction_sample_rate = 1\n"
               "SET 00000 LOG:  duration: N ms\n"
               "SELECT 22P02 ERROR:  invalid input syntax for type integer: \"end\" at character 32\n"
               "SELECT 22P02 STATEMENT:  SET log_duration = off; SELECT 'end' / 1\n");
}
