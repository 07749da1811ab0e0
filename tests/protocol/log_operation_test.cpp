#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <sys/stat.h>
#include <thread>

#include "tests/protocol/logging_server.hpp"

using namespace ouzel::wire;

// The log beside statements: who connects, where it is written, how it is configured while the server runs, and what a
// dying server says.

namespace {

std::string contents(const std::filesystem::path& path) {
   std::ifstream file(path);
   return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Ports and times of a connection are not the same twice.
std::string withoutNumbers(const std::string& text) {
   return std::regex_replace(std::regex_replace(text, std::regex("port=\\d+"), "port=P"),
                             std::regex("time: \\d:\\d\\d:\\d\\d\\.\\d\\d\\d"), "time: T");
}

} // namespace

CATCH_TEST_CASE("connections and failed logins are logged, passwords are not") {
   const auto address = outsideAddress();
   if (sharedServer().isForeign() || !address) return;
   setenv("OUZEL_PASSWORD", "right one", 1);
   LoggingServer server("log_connections = on\nlog_disconnections = on\nlog_line_prefix = '%u@%d/%a '\n",
                        {"--listen", "0.0.0.0"});
   unsetenv("OUZEL_PASSWORD");
   { const Connection c(server, "application_name=x"); }
   CATCH_CHECK(withoutNumbers(server.said("disconnection")) ==
               "[unknown]@[unknown]/[unknown] LOG:  connection received: host=127.0.0.1 port=P\n"
               "postgres@postgres/[unknown] LOG:  connection authorized: user=postgres database=postgres "
               "application_name=x\n"
               "postgres@postgres/x LOG:  disconnection: session time: T user=postgres database=postgres "
               "host=127.0.0.1 port=P\n");
   { const Connection c(server, "user=nobody", true); }
   CATCH_CHECK(server.said("FATAL").ends_with("nobody@postgres/[unknown] FATAL:  role \"nobody\" does not exist\n"));
   { const Connection c(server, "dbname=nix", true); }
   CATCH_CHECK(server.said("FATAL").ends_with("postgres@nix/[unknown] FATAL:  database \"nix\" does not exist\n"));

   ServerProcess& process = server.process();
   {
      const Connection c(server);
      c.run("CREATE ROLE bare LOGIN");
   }
   server.said("disconnection");
   process.host = *address;
   const auto failure = [&](const std::string& user, const std::string& password) {
      const Connection c(server, "user=" + user + " password='" + password + "'", true);
      const std::string message = "password authentication failed for user \"" + user + "\"";
      CATCH_CHECK(c.error().find(message) != std::string::npos);
      CATCH_CHECK(c.error().find("DETAIL") == std::string::npos);
      const std::string log = server.said("DETAIL");
      CATCH_CHECK(log.find(" FATAL:  " + message + "\n") != std::string::npos);
      CATCH_CHECK(log.find("right one") == std::string::npos);
      return log.substr(log.find("DETAIL"));
   };
   CATCH_CHECK(failure("postgres", "wrong") == "DETAIL:  Password does not match for user \"postgres\".\n");
   CATCH_CHECK(failure("nobody", "right one") == "DETAIL:  Role \"nobody\" does not exist.\n");
   CATCH_CHECK(failure("bare", "right one") == "DETAIL:  User \"bare\" has no password assigned.\n");
   { const Connection c(server, "password='right one'"); }
   CATCH_CHECK(server.said("disconnection")
                   .find("connection authenticated: identity=\"postgres\" "
                         "method=scram-sha-256\n") != std::string::npos);

   process.host = "127.0.0.1";
   const Connection c(server);
   c.run("SET log_min_duration_statement = 0");
   c.run("ALTER ROLE postgres PASSWORD 'SCRAM-SHA-256$4096:secret'");
   c.run("ALTER ROLE postgres PASWORD 'secret'");
   c.run("ALTER ROLE postgres PASSWORD 'secret");
   c.run("SELECT 'public'");
   const std::string log = server.said("public");
   CATCH_CHECK(log.find("secret") == std::string::npos);
   CATCH_CHECK(log.find("STATEMENT:  ALTER ROLE postgres PASWORD '***'\n") != std::string::npos);
   CATCH_CHECK(log.find("ERROR:  unterminated quoted string at or near \"'***'\" at character 30\n") !=
               std::string::npos);
}

CATCH_TEST_CASE("the log goes to files, in three formats, which rotate") {
   if (sharedServer().isForeign()) return;
   LoggingServer server("log_directory = logs\nlog_filename = 'now.log'\nlog_destination = 'stderr, JSONlog,csvlog'\n"
                        "log_file_mode = 0640\n");
   CATCH_CHECK(server.process().log().find("HINT:  Future log output will appear in directory \"") !=
               std::string::npos);
   const std::filesystem::path directory = server.process().directory() + "/data/logs";
   const Connection c(server, "application_name=app");
   c.run("select 1/0");
   for (const char* format : {"stderr", "csvlog", "jsonlog"}) {
      const std::string file = std::string("now.") + (format[0] == 's' ? "log" : format[0] == 'c' ? "csv" : "json");
      CATCH_CHECK(c.run(std::string("SELECT pg_current_logfile('") + format + "')") ==
                  (directory / file).string() + "\n");
      struct stat status {};
      CATCH_REQUIRE(stat((directory / file).c_str(), &status) == 0);
      CATCH_CHECK((status.st_mode & 0777) == 0640);
      CATCH_CHECK(contents(directory / file).find("database system is ready to accept connections") !=
                  std::string::npos);
   }
   CATCH_CHECK(contents(directory / "now.log")
                   .find("SELECT 22012 ERROR:  division by zero\nSELECT 22012 STATEMENT:  "
                         "select 1/0\n") != std::string::npos);
   CATCH_CHECK(contents(directory / "now.json")
                   .find("\"error_severity\":\"ERROR\",\"state_code\":\"22012\","
                         "\"message\":\"division by zero\",\"statement\":\"select 1/0\","
                         "\"application_name\":\"app\"") != std::string::npos);
   CATCH_CHECK(contents(directory / "now.csv")
                   .find(",ERROR,22012,\"division by zero\",,,,,,\"select 1/0\",,,\"app\","
                         "\"client backend\",,0\n") != std::string::npos);
   CATCH_CHECK(c.run("SHOW logging_collector") == "on\n");
   CATCH_CHECK(c.run("SHOW log_destination") == "stderr,jsonlog,csvlog\n");
   CATCH_CHECK(c.run("SELECT setting FROM pg_settings WHERE name = 'log_file_mode'") == "0640\n");
   CATCH_CHECK(c.run("SELECT pg_current_logfile('syslog')").starts_with("ERROR 22023 log format \"syslog\" is not"));
   // A program renames the file and asks for a new one.
   std::filesystem::rename(directory / "now.log", directory / "old.log");
   CATCH_CHECK(c.run("SELECT pg_rotate_logfile()") == "t\n");
   c.run("select 2/0");
   CATCH_CHECK(contents(directory / "now.log").find("select 2/0") != std::string::npos);
   std::filesystem::rename(directory / "now.log", directory / "older.log");
   server.process().signal(SIGHUP);
   while (!std::filesystem::exists(directory / "now.log"))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
   c.run("select 3/0");
   CATCH_CHECK(contents(directory / "now.log").find("select 3/0") != std::string::npos);
   CATCH_CHECK(contents(directory / "older.log").find("select 3/0") == std::string::npos);
   // A dying process writes to stderr: that is the file.
   server.process().signal(SIGSEGV);
   CATCH_CHECK(server.process().awaitDeath() == SIGSEGV);
   CATCH_CHECK(contents(directory / "now.log")
                   .find("PANIC:  the server process was terminated by signal 11: "
                         "Segmentation fault\n") != std::string::npos);
}

CATCH_TEST_CASE("without files there is one format, and nothing to rotate") {
   if (sharedServer().isForeign()) return;
   LoggingServer server("log_destination = jsonlog\n");
   const Connection c(server);
   CATCH_CHECK(c.run("SELECT pg_rotate_logfile(), pg_current_logfile()") == "f|\\N\n");
   c.run("select 1/0");
   const std::string log = server.said("division");
   CATCH_CHECK(log.starts_with("{\"timestamp\":\""));
   CATCH_CHECK(log.find("\"statement\":\"select 1/0\"") != std::string::npos);
}

CATCH_TEST_CASE("SIGHUP and pg_reload_conf() read the configuration again") {
   if (sharedServer().isForeign()) return;
   LoggingServer server("log_statement = none\nwork_mem = 8MB\n");
   const Connection open(server), own(server);
   own.run("SET work_mem = '9MB'");
   server.configure("log_statement = all\nwork_mem = 16MB\nmax_connections = 2000\nlogging_collector = on\n");
   CATCH_CHECK(open.run("SELECT pg_reload_conf()") == "t\n");
   const std::string log = server.said("logging_collector");
   for (const char* line :
        {"LOG:  received SIGHUP, reloading configuration files\n", "LOG:  parameter \"work_mem\" changed to \"16MB\"\n",
         "LOG:  parameter \"log_statement\" changed to \"all\"\n",
         "LOG:  parameter \"logging_collector\" cannot be changed without restarting the server\n"})
      CATCH_CHECK(log.find(line) != std::string::npos);
   CATCH_CHECK(open.run("SHOW work_mem") == "16MB\n");
   CATCH_CHECK(own.run("SHOW work_mem") == "9MB\n");
   CATCH_CHECK(own.run("RESET work_mem; SHOW work_mem") == "16MB\n");
   CATCH_CHECK(Connection(server).run("SHOW log_statement") == "all\n");
   CATCH_CHECK(server.said("SHOW log_statement").find("LOG:  statement: SHOW work_mem\n") != std::string::npos);
   server.configure("log_statement = some\n");
   server.process().signal(SIGHUP);
   CATCH_CHECK(server.said("DETAIL").find("ERROR:  the configuration contains errors; no changes were applied\n") !=
               std::string::npos);
   CATCH_CHECK(open.run("SHOW log_statement") == "all\n");
}

CATCH_TEST_CASE("lock waits, temporary files and checkpoints are logged on request") {
   if (sharedServer().isForeign()) return;
   LoggingServer server("log_lock_waits = on\ndeadlock_timeout = 50ms\nlog_temp_files = 0\n");
   const Connection holder(server), waiter(server);
   holder.run("CREATE TABLE t (a int)");
   holder.run("BEGIN; LOCK t");
   std::thread runner([&] { waiter.run("INSERT INTO t VALUES (1)"); });
   CATCH_CHECK(std::regex_search(server.said("STATEMENT"),
                                 std::regex("^INSERT 00000 LOG:  process \\d+ still waiting for RowExclusiveLock on "
                                            "relation \\d+ of database \\d+ after \\d+\\.\\d{3} ms\n"
                                            "INSERT 00000 DETAIL:  Process holding the lock: \\d+. Wait queue: \\d+.\n"
                                            "INSERT 00000 STATEMENT:  INSERT INTO t VALUES \\(1\\)\n$")));
   holder.run("COMMIT");
   runner.join();
   CATCH_CHECK(server.said("acquired").find(" acquired RowExclusiveLock on relation ") != std::string::npos);
   holder.run("SET ouzel.spill_all = on");
   holder.run("SELECT a FROM generate_series(1, 200000) a ORDER BY a DESC LIMIT 1 OFFSET 1000");
   const std::string files = server.said("temporary file");
   CATCH_CHECK(std::regex_search(files, std::regex("LOG:  temporary file: in \".*/spill\", size \\d{5,}\n")));
   holder.run("CHECKPOINT");
   CATCH_CHECK(server.said("complete").find("LOG:  checkpoint complete: wrote 1 blocks with 1 rows, ") !=
               std::string::npos);
}

CATCH_TEST_CASE("only the log has the statements of a deadlock") {
   if (sharedServer().isForeign()) return;
   LoggingServer server("");
   const Connection first(server), second(server);
   first.run("CREATE TABLE a (a int); CREATE TABLE b (a int)");
   first.run("SET deadlock_timeout = '60s'; BEGIN; LOCK a");
   second.run("SET deadlock_timeout = '50ms'; BEGIN; LOCK b");
   std::thread runner([&] { first.run("SELECT 'first', count(*) FROM b"); });
   const std::string place = " on relation \\d+ of database \\d+; blocked by process \\d+\\.\n";
   const std::string reply = second.run("LOCK a; CREATE ROLE r PASSWORD 'hidden'");
   CATCH_CHECK(reply.find("40P01") != std::string::npos);
   CATCH_CHECK(reply.find("'first'") == std::string::npos);
   const std::string log = server.said("STATEMENT");
   CATCH_CHECK(std::regex_search(
       log, std::regex("ERROR:  deadlock detected\n.*DETAIL:  Process (\\d+) waits for AccessExclusiveLock" + place +
                       "\tProcess (\\d+) waits for AccessShareLock" + place +
                       "\tProcess \\1: LOCK a; CREATE ROLE r PASSWORD '\\*\\*\\*'\n"
                       "\tProcess \\2: SELECT 'first', count\\(\\*\\) FROM b\n")));
   CATCH_CHECK(log.find("hidden") == std::string::npos);
   second.run("ROLLBACK");
   runner.join();
   const std::string counted =
       second.run("ROLLBACK; SELECT 'counted ' || deadlocks FROM pg_stat_database WHERE datname = current_database()");
   CATCH_CHECK(counted.find("counted 1") != std::string::npos);
}

CATCH_TEST_CASE("a failure of the log's device ends the server with PANIC, and the next start recovers") {
   if (sharedServer().isForeign()) return;
   for (const char* action : {"eio", "enospc"}) {
      const std::string trigger = "/tmp/ouzel-wire-fault-" + std::to_string(getpid());
      std::filesystem::remove(trigger);
      setenv("OUZEL_TEST_POINTS", (std::string("log.sync=") + action + "@" + trigger).c_str(), 1);
      ServerProcess server;
      unsetenv("OUZEL_TEST_POINTS");
      {
         const Connection c(server);
         c.run("CREATE TABLE t (a int)");
         c.run("INSERT INTO t VALUES (1)");
         std::ofstream(trigger) << "";
         CATCH_CHECK(c.run("INSERT INTO t VALUES (2)").find("server closed the connection") != std::string::npos);
      }
      CATCH_CHECK(server.awaitDeath() == SIGABRT); // what Restart=on-failure and docker's on-failure start again
      std::filesystem::remove(trigger);
      const std::string log = server.log();
      CATCH_CHECK(log.find(" PANIC:  could not fsync file \"") != std::string::npos);
      CATCH_CHECK(log.find(action == std::string("eio") ? "Input/output error\n" : "No space left on device\n") !=
                  std::string::npos);
      CATCH_CHECK(log.find(" HINT:  Check the device and the free space of \"") != std::string::npos);
      CATCH_CHECK(log.find(" PANIC:  the server process was terminated by signal 6: Aborted\n") != std::string::npos);
      server.start();
      CATCH_CHECK(Connection(server).run("SELECT min(a) FROM t") == "1\n");
   }
}
