#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include "tests/protocol/logging_server.hpp"
#include "tests/unit/protocol/fake_backend.hpp"

using namespace ouzel::wire;
namespace raw = ouzel::protocol::test;

// What the audit tells of sessions and their statements, whom it cannot be kept from, and what is not in it.

namespace {

/// The value of a member as JSON has it, strings without quotes; empty: there is none.
std::string member(const std::string& line, const std::string& key) {
   const size_t at = line.find("\"" + key + "\":");
   if (at == std::string::npos) return "";
   const size_t begin = at + key.size() + 3;
   if (line[begin] == '[') return line.substr(begin, line.find("}]", begin) + 2 - begin);
   if (line[begin] != '"') return line.substr(begin, line.find_first_of(",}", begin) - begin);
   size_t end = begin + 1;
   while (line[end] != '"')
      end += line[end] == '\\' ? 2 : 1;
   return line.substr(begin + 1, end - begin - 1);
}

/// A server with an audit, which lies in a directory of its own.
class AuditedServer {
public:
   explicit AuditedServer(const std::string& configuration, const std::vector<std::string>& flags = {}) {
      static int count = 0;
      directory_ = std::filesystem::temp_directory_path() /
                   ("ouzel-wire-audit-" + std::to_string(getpid()) + "-" + std::to_string(count++));
      std::filesystem::remove_all(directory_);
      server_ = std::make_unique<LoggingServer>(configuration + settings(), flags);
   }
   ~AuditedServer() {
      server_.reset();
      std::filesystem::remove_all(directory_);
   }
   /// Names the audit's directory and file.
   std::string settings(const std::string& destination = "jsonlog") const {
      return "ouzel.audit_destination = '" + destination + "'\nouzel.audit_directory = '" + directory_.string() +
             "'\nouzel.audit_filename = 'audit.json'\n";
   }
   operator const ServerProcess&() const { return *server_; }
   LoggingServer& logging() { return *server_; }
   std::string file() const { return (directory_ / "audit.json").string(); }
   std::string content() const {
      std::ifstream in(file());
      return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
   }
   /// The records since the last call, up to one with the text `last`: role, reason, class, command, objects, rows,
   /// SQLSTATE, statement.
   std::string said(const std::string& last) {
      std::string fresh;
      for (int waitedMs = 0; waitedMs < 20'000; waitedMs += 5) {
         const std::string all = content();
         fresh = all.substr(std::min(seen_, all.size()));
         if (fresh.find(last) != std::string::npos && fresh.ends_with('\n')) break;
         usleep(5000);
      }
      seen_ += fresh.size();
      std::string out;
      for (size_t begin = 0, end; (end = fresh.find('\n', begin)) != std::string::npos; begin = end + 1) {
         const std::string line = fresh.substr(begin, end - begin);
         if (!line.ends_with('}')) continue; // torn
         for (const char* key : {"role", "reason", "class", "command", "objects", "rows", "state", "statement"})
            if (const std::string value = member(line, key); !value.empty()) out += value + " ";
         out.back() = '\n';
      }
      return out;
   }
   std::string checked() const {
      const char* binary = std::getenv("OUZEL_BINARY");
      const std::string command = std::string(binary ? binary : OUZEL_BINARY_DEFAULT) + " audit-check " + file();
      FILE* pipe = popen(command.c_str(), "r");
      std::string out;
      for (char buffer[4096]; fgets(buffer, sizeof buffer, pipe);)
         out += buffer;
      out += "exit status " + std::to_string(WEXITSTATUS(pclose(pipe))) + "\n";
      return out;
   }

private:
   std::filesystem::path directory_;
   std::unique_ptr<LoggingServer> server_;
   size_t seen_ = 0;
};

const std::string table = "[{\"name\":\"public.t\",\"kind\":\"table\",\"privileges\":[\"";

} // namespace

CATCH_TEST_CASE("the audit records the classes of statements that it is told") {
   if (sharedServer().isForeign()) return;
   AuditedServer server("ouzel.audit = 'all, -misc'\n");
   const Connection c(server);
   c.run("CREATE TABLE t (a int, b text); INSERT INTO t VALUES (1, 'x'), (2, 'y'); SELECT * FROM t; SHOW work_mem");
   c.run("WITH d AS (DELETE FROM t WHERE a = 2 RETURNING a) SELECT * FROM d");
   c.run("COPY t TO '/tmp/ouzel-audit-test-copy'; TRUNCATE t; COPY t FROM '/tmp/ouzel-audit-test-copy'");
   std::filesystem::remove("/tmp/ouzel-audit-test-copy");
   c.run("EXPLAIN SELECT 1; EXPLAIN ANALYZE UPDATE t SET b = 'z'");
   c.run("CREATE VIEW v AS SELECT a FROM t; GRANT SELECT ON v TO PUBLIC; SELECT * FROM v; DROP VIEW v");
   c.run("SELECT 1 / 0");
   c.run("SELECT * FROM missing; nonsense");
   c.run("SELECT * FROM missing");
   CATCH_CHECK(
       server.said("FROM missing") ==
       "session server AUDIT START\n"
       "postgres session connection LOGIN\n"
       "postgres class ddl CREATE TABLE " +
           table +
           "CREATE\"]}] CREATE TABLE t (a int, b text)\n"
           "postgres class write INSERT " +
           table +
           "INSERT\"]}] 2 INSERT INTO t VALUES (1, 'x'), (2, 'y')\n"
           "postgres class read SELECT " +
           table +
           "SELECT\"]}] 2 SELECT * FROM t\n"
           "postgres class write SELECT " +
           table +
           "SELECT\",\"DELETE\"]}] 1 "
           "WITH d AS (DELETE FROM t WHERE a = 2 RETURNING a) SELECT * FROM d\n"
           "postgres class read COPY " +
           table +
           "SELECT\"]}] 1 COPY t TO '/tmp/ouzel-audit-test-copy'\n"
           "postgres class write TRUNCATE TABLE " +
           table +
           "TRUNCATE\"]}] TRUNCATE t\n"
           "postgres class write COPY " +
           table +
           "INSERT\"]}] 1 COPY t FROM '/tmp/ouzel-audit-test-copy'\n"
           "postgres class write EXPLAIN " +
           table +
           "UPDATE\"]}] EXPLAIN ANALYZE UPDATE t SET b = 'z'\n"
           "postgres class ddl CREATE VIEW [{\"name\":\"public.v\",\"kind\":\"view\",\"privileges\":[\"CREATE\"]}] "
           "CREATE VIEW v AS SELECT a FROM t\n"
           "postgres class role GRANT [{\"name\":\"public.v\",\"kind\":\"view\",\"privileges\":[\"GRANT\"]}] "
           "GRANT SELECT ON v TO PUBLIC\n"
           "postgres class read SELECT [{\"name\":\"public.v\",\"kind\":\"view\",\"privileges\":[\"SELECT\"]},"
           "{\"name\":\"public.t\",\"kind\":\"table\",\"privileges\":[\"SELECT\"],\"as\":\"postgres\"}] 1 "
           "SELECT * FROM v\n"
           "postgres class ddl DROP VIEW [{\"name\":\"public.v\",\"kind\":\"view\",\"privileges\":[\"OWNER\"]}] "
           "DROP VIEW v\n"
           "postgres class read SELECT 22012 SELECT 1 / 0\n"
           "postgres class read SELECT 42P01 SELECT * FROM missing\n");
}

CATCH_TEST_CASE("the audit of prepared statements, portals and cursors") {
   if (sharedServer().isForeign()) return;
   AuditedServer server("ouzel.audit = 'read,write'\nouzel.audit_parameters = on\n");
   const Connection c(server);
   c.run("CREATE TABLE t (a int PRIMARY KEY)");
   c.run("INSERT INTO t SELECT generate_series(1, 10)");
   c.run("PREPARE p AS DELETE FROM t WHERE a = $1");
   for (int i = 0; i < 3; ++i) // the last one by a plan for all values
      c.run("EXECUTE p(10)");
   c.parameters("SELECT a FROM t WHERE a < $1", {"4"});
   c.parameters("SELECT a FROM t WHERE a < $1", {"x"});
   c.parameters("SELECT a FROM missing WHERE a < $1", {"4"});
   const std::string all = server.said("missing");
   CATCH_CHECK(all.find("class write EXECUTE " + table + "SELECT\",\"DELETE\"]}] 1 EXECUTE p(10)\n") !=
               std::string::npos);
   const std::string again = "postgres class write EXECUTE " + table + "SELECT\",\"DELETE\"]}] 0 EXECUTE p(10)\n";
   CATCH_CHECK(all.find(again + again) != std::string::npos);
   CATCH_CHECK(all.ends_with("postgres class read SELECT " + table +
                             "SELECT\"]}] 3 SELECT a FROM t WHERE a < $1\n"
                             "postgres class read SELECT 22P02 SELECT a FROM t WHERE a < $1\n"
                             "postgres class read SELECT 42P01 SELECT a FROM missing WHERE a < $1\n"));
   CATCH_CHECK(server.content().find("\"prepared\":\"DELETE FROM t WHERE a = $1\"") != std::string::npos);
   CATCH_CHECK(server.content().find("\"parameters\":\"$1 = '4'\"") != std::string::npos);

   // A portal has one record, with all rows that it has given: read to its end, closed before, ended by an error.
   const RawClient r(server);
   r.start();
   const std::string select = "SELECT generate_series(1, 5)", none = raw::message('S', "");
   r.ask(raw::parse("s", select) + raw::bind("q", "s") + raw::execute("q", 2) + raw::execute("q", 2) +
         raw::execute("q", 0) + raw::execute("q", 0) + none);
   CATCH_CHECK(server.said(select) ==
               "postgres session connection LOGIN\npostgres class read SELECT 5 " + select + "\n");
   r.ask(raw::bind("q", "s") + raw::execute("q", 2) + none);
   CATCH_CHECK(server.said(select) == "postgres class read SELECT 2 " + select + "\n");
   const std::string failing = "SELECT 1 / (3 - generate_series(1, 5))";
   r.ask(raw::parse("f", failing) + raw::bind("q", "f") + raw::execute("q", 1) + raw::execute("q", 0) + none);
   CATCH_CHECK(server.said(failing) == "postgres class read SELECT 22012 " + failing + "\n");

   // The record of a cursor comes when it ends.
   c.run("BEGIN; DECLARE c CURSOR FOR SELECT a FROM t");
   c.run("FETCH 3 FROM c; MOVE 1 IN c; FETCH 2 FROM c; SELECT 'before'");
   CATCH_CHECK(server.said("before") == "postgres class read SELECT 1 SELECT 'before'\n");
   c.run("ROLLBACK");
   CATCH_CHECK(server.said("DECLARE") ==
               "postgres class read DECLARE CURSOR " + table + "SELECT\"]}] 5 DECLARE c CURSOR FOR SELECT a FROM t\n");
}

CATCH_TEST_CASE("refusals are recorded whatever the classes are, and users cannot turn the audit off") {
   if (sharedServer().isForeign()) return;
   setenv("OUZEL_PASSWORD", "right one", 1);
   AuditedServer server("", {"--trust-loopback", "off"});
   unsetenv("OUZEL_PASSWORD");
   const std::string superuser = "password='right one'", ann = "user=ann password=a-word";
   {
      const Connection c(server, superuser);
      c.run("CREATE ROLE ann LOGIN PASSWORD 'a-word'; CREATE TABLE t (a int); SELECT 1");
      const Connection user(server, ann);
      user.run("SELECT 1");
      user.run("SELECT a FROM t");
      user.parameters("SELECT a FROM t WHERE a = $1", {"1"});
      user.run("DROP TABLE t");
      user.run("SET ouzel.audit = 'none'");
      user.run("SELECT set_config('ouzel.audit', 'none', false)");
      user.run("ALTER ROLE ann SET ouzel.audit = 'none'");
      user.run("CREATE ROLE bob");
      user.run("SET ROLE postgres");
      CATCH_CHECK_FALSE(Connection(server, ann + " options='-c ouzel.audit=none'", true).isOpen());
      CATCH_CHECK_FALSE(Connection(server, "user=ann password=wrong", true).isOpen());
      CATCH_CHECK_FALSE(Connection(server, "user=nobody password=wrong", true).isOpen());
      CATCH_CHECK_FALSE(Connection(server, ann + " dbname=elsewhere", true).isOpen());
   }
   CATCH_CHECK(server.said("3D000").find("3D000") != std::string::npos);
   server.said("DISCONNECT");
   const std::string content = server.content();
   const auto count = [&](const std::string& text) {
      size_t found = 0;
      for (size_t at = content.find(text); at != std::string::npos; at = content.find(text, at + 1))
         ++found;
      return found;
   };
   CATCH_CHECK(count("\"reason\":\"class\"") == 0);
   CATCH_CHECK(count("\"state\":\"42501\"") == 9); // ann's eight, and the login with an option
   CATCH_CHECK(count("\"objects\":" + table + "SELECT\"]}],\"result\":\"error\",\"state\":\"42501\"") == 2);
   CATCH_CHECK(count("\"objects\":" + table + "OWNER\"]}],\"result\":\"error\",\"state\":\"42501\"") == 1);
   CATCH_CHECK(count("\"command\":\"LOGIN\",\"result\":\"error\",\"state\":\"28P01\"") == 2);
   CATCH_CHECK(count("\"detail\":\"Password does not match for user \\\"ann\\\".\"") == 1);
   CATCH_CHECK(count("\"command\":\"LOGIN\",\"result\":\"error\",\"state\":\"3D000\"") == 1);
   CATCH_CHECK(count("wrong") == 0);
}

CATCH_TEST_CASE("the audit of a GRANT within CREATE SCHEMA") {
   if (sharedServer().isForeign()) return;
   AuditedServer server("ouzel.audit = 'role'\n");
   const Connection c(server);
   c.run("CREATE SCHEMA plain CREATE TABLE t (a int)");
   const std::string granting = "CREATE SCHEMA granting CREATE TABLE t (a int) GRANT SELECT ON t TO PUBLIC";
   c.run(granting);
   const std::string said = server.said(granting);
   CATCH_CHECK(said.find("plain") == std::string::npos);
   CATCH_CHECK(said.find("class ddl CREATE SCHEMA ") != std::string::npos);
   CATCH_CHECK(said.find("{\"name\":\"granting.t\",\"kind\":\"table\",\"privileges\":[") != std::string::npos);
   CATCH_CHECK(said.find("GRANT\"") != std::string::npos);
}

CATCH_TEST_CASE("the audit by role, by relation, and of what changes it") {
   if (sharedServer().isForeign()) return;
   AuditedServer server("ouzel.audit_role = auditor\n");
   const Connection c(server);
   c.run("CREATE ROLE auditor; CREATE ROLE ann LOGIN; CREATE TABLE t (a int, b int); CREATE TABLE u (a int)");
   c.run("GRANT SELECT (b), DELETE ON t TO auditor; GRANT ALL ON t, u TO ann; ALTER ROLE ann SET ouzel.audit = 'ddl'");
   server.said("ALTER ROLE");
   const Connection user(server, "user=ann");
   user.run("SELECT a FROM t");
   user.run("SELECT * FROM u");
   user.run("SELECT b FROM t");
   user.run("INSERT INTO t VALUES (1, 2)");
   user.run("DELETE FROM t WHERE a = 1");
   user.run("CREATE TEMP TABLE own (a int)");
   CATCH_CHECK(
       server.said("own") ==
       "ann session connection LOGIN\n"
       "ann object read SELECT " +
           table +
           "SELECT\"]}] 0 SELECT b FROM t\n"
           "ann object write DELETE " +
           table +
           "SELECT\",\"DELETE\"]}] 1 DELETE FROM t WHERE a = 1\n"
           "ann class ddl CREATE TABLE [{\"name\":\"pg_temp_1.own\",\"kind\":\"table\",\"privileges\":[\"CREATE\"]}]"
           " CREATE TEMP TABLE own (a int)\n");
   // Who acts, and what is no statement of a class that is recorded.
   c.run("SET ouzel.audit = 'read'; SET ROLE ann; SELECT 1; RESET ROLE; SET ouzel.audit = 'none'; SELECT 2");
   c.run("SELECT set_config('ouzel.audit_role', '', false); ALTER DATABASE postgres RESET ouzel.audit; DISCARD ALL");
   CATCH_CHECK(server.said("DISCARD") ==
               "postgres setting misc SET SET ouzel.audit = 'read'\n"
               "ann class read SELECT 1 SELECT 1\n"
               "postgres setting misc SET SET ouzel.audit = 'none'\n"
               "postgres setting read SELECT 1 SELECT set_config('ouzel.audit_role', '', false)\n"
               "postgres setting ddl ALTER DATABASE ALTER DATABASE postgres RESET ouzel.audit\n"
               "postgres setting misc DISCARD ALL DISCARD ALL\n");
   // A commit that fails is told apart from the statement that did not.
   c.run("CREATE TABLE p (a int PRIMARY KEY); CREATE TABLE f (a int REFERENCES p DEFERRABLE INITIALLY DEFERRED)");
   c.run("SET ouzel.audit = 'write'");
   server.said("SET");
   c.run("INSERT INTO f VALUES (1)");
   const std::string insert =
       "postgres class write INSERT [{\"name\":\"public.f\",\"kind\":\"table\",\"privileges\":[\"INSERT\"]}] 1 "
       "INSERT INTO f VALUES (1)\n";
   CATCH_CHECK(server.said("COMMIT") == insert + "postgres commit misc COMMIT 23503\n");
   c.run("BEGIN; INSERT INTO f VALUES (1)");
   c.run("COMMIT");
   CATCH_CHECK(server.said("COMMIT") == insert + "postgres commit misc COMMIT 23503 COMMIT\n");
}

CATCH_TEST_CASE("nothing secret is in the audit") {
   if (sharedServer().isForeign()) return;
   AuditedServer server("ouzel.audit = all\nouzel.audit_parameters = on\n");
   const Connection c(server);
   for (const char* sql :
        {"CREATE ROLE ann LOGIN PASSWORD 'swordfish'", "SELECT 1; ALTER ROLE ann ENCRYPTED PASSWORD E'sw\\x6frdfish'",
         "ALTER USER ann PASWORD 'swordfish'", "CREATE ROLE bob PASSWORD 'swordfish", "CREATE ROLE $$swordfish$$",
         "SELECT 1; CREATE ROLE ann PASSWORD $x$swordfish$x$; SELECT 2", "SET app.api_key = swordfish",
         "SET LOCAL app.password TO 'swordfish'", "SELECT set_config('app.token', 'swordfish', false)",
         "ALTER ROLE ann SET app.secret = 'swordfish'", "COPY ann FROM 's3://id:swordfish@bucket/key'",
         "COPY ann FROM 's3://bucket/key?secret_access_key=swordfish'",
         "CREATE SUBSCRIPTION s CONNECTION 'host=h password=swordfish' PUBLICATION p",
         "SET ROLE ann; ALTER ROLE postgres PASSWORD 'swordfish'", "RESET ROLE",
         "PREPARE p AS SELECT set_config('app.token', 'swordfish', false)", "EXECUTE p"})
      c.run(sql);
   c.parameters("ALTER ROLE ann PASSWORD 'swordfish'", {});
   c.parameters("ALTER ROLE ann PASSWORD 'swordfish' nonsense", {});
   c.run("SELECT 'the end'");
   server.said("the end");
   CATCH_CHECK(server.content().find("'***'") != std::string::npos);
   const std::string content = server.content();
   const size_t secret = std::min(content.find("rdfish"), content.size());
   CATCH_CHECK(content.substr(content.rfind('\n', secret) + 1, secret == content.size() ? 0 : 500) == "");
}

CATCH_TEST_CASE("the chain of records goes on after kill -9, and breaks are found") {
   if (sharedServer().isForeign()) return;
   AuditedServer server("ouzel.audit = read\nouzel.audit_chain = on\n");
   {
      const Connection c(server);
      c.run("SELECT 1");
      server.said("SELECT 1");
   }
   ServerProcess& process = server.logging().process();
   process.signal(SIGKILL);
   process.awaitDeath();
   { std::ofstream(server.file(), std::ios::app) << "{\"number\":99,\"time\":\"2026"; }
   process.start();
   {
      const Connection c(server);
      c.run("SELECT 2");
      server.said("SELECT 2");
   }
   CATCH_CHECK(process.stop() == 0);
   std::string checked = server.checked();
   CATCH_CHECK(checked.find(": torn: the end of this line is missing\n") != std::string::npos);
   CATCH_CHECK(checked.find(", 0 broken, 1 torn, 0 lost, 0 without a hash\nlast record: ") != std::string::npos);
   CATCH_CHECK(checked.ends_with("exit status 0\n"));
   std::string content = server.content();
   CATCH_CHECK(content.find("\"command\":\"AUDIT STOP\"") != std::string::npos);
   content.replace(content.find("SELECT 2"), 8, "SELECT 3");
   std::ofstream(server.file()) << content;
   checked = server.checked();
   CATCH_CHECK(checked.find("BROKEN") != std::string::npos);
   CATCH_CHECK(checked.ends_with("exit status 1\n"));
}

CATCH_TEST_CASE("an audit that cannot be written") {
   if (sharedServer().isForeign()) return;
   AuditedServer server("ouzel.audit = all\n");
   const Connection c(server);
   c.run("CREATE TABLE t (a int)");
   const auto reload = [&](const std::string& more) {
      server.logging().configure("ouzel.audit = all\n" + server.settings() + more);
      server.logging().process().signal(SIGHUP);
   };
   // Statements go on, and the log tells what is lost.
   std::filesystem::create_symlink("/dev/full", server.file() + ".full");
   const std::string full = "ouzel.audit_filename = 'audit.json.full'\n";
   server.logging().said("");
   reload(full);
   server.logging().said("records of the audit are lost");
   CATCH_CHECK(c.run("INSERT INTO t VALUES (1)") == "INSERT 0 1");
   reload("");
   server.said("AUDIT RELOAD");
   const std::string log = server.logging().said("records of the audit are lost; it is written again");
   CATCH_CHECK(log.find("WARNING:  ") != std::string::npos);
   // Or they do not.
   reload(full + "ouzel.audit_required = on\n");
   server.logging().said("statements fail until the audit can be written");
   CATCH_CHECK(c.run("INSERT INTO t VALUES (2)") == "ERROR 58030 could not write the audit record of a statement");
   CATCH_CHECK(c.run("ROLLBACK") == "ROLLBACK");
   CATCH_CHECK_FALSE(Connection(server, "", true).isOpen());
   reload("ouzel.audit_required = on\n");
   server.said("ROLLBACK"); // was kept
   CATCH_CHECK(c.run("SELECT * FROM t") == "1\n");
   // SIGHUP ends the audit, too, and the audit tells it.
   server.logging().configure(server.settings(""));
   server.logging().process().signal(SIGHUP);
   CATCH_CHECK(server.said("AUDIT STOP").ends_with("session server AUDIT STOP\n"));
   CATCH_CHECK(c.run("SELECT * FROM t") == "1\n");
   CATCH_CHECK(server.content().ends_with("\"command\":\"AUDIT STOP\",\"result\":\"ok\"}\n"));
}
