#include <catch2/catch.hpp>

#include "tests/protocol/support.hpp"
#include "tests/unit/protocol/fake_backend.hpp"

using namespace ouzel::wire;
namespace raw = ouzel::protocol::test;

// Statements by libpq and by raw messages: simple, extended, pipelined, with row limits, in binary.

namespace {

std::string hex(const PGresult* result) {
   std::string text;
   for (int column = 0; column < PQnfields(result); ++column) {
      if (column > 0) text += ' ';
      for (int i = 0; i < PQgetlength(result, 0, column); ++i) {
         char byte[3];
         std::snprintf(byte, sizeof byte, "%02x", static_cast<unsigned char>(PQgetvalue(result, 0, column)[i]));
         text += byte;
      }
   }
   return text;
}

} // namespace

CATCH_TEST_CASE("settings reported at start and when they change") {
   const Connection c(sharedServer(), "application_name=wire");
   CATCH_CHECK(std::string(PQparameterStatus(c.get(), "server_version")).starts_with("15."));
   for (const auto& [name, value] : {std::pair{"server_encoding", "UTF8"},
                                     {"client_encoding", "UTF8"},
                                     {"DateStyle", "ISO, MDY"},
                                     {"IntervalStyle", "postgres"},
                                     {"integer_datetimes", "on"},
                                     {"standard_conforming_strings", "on"},
                                     {"is_superuser", "on"},
                                     {"session_authorization", "postgres"},
                                     {"application_name", "wire"},
                                     {"in_hot_standby", "off"},
                                     {"default_transaction_read_only", "off"}}) {
      CATCH_INFO(name);
      CATCH_REQUIRE(PQparameterStatus(c.get(), name) != nullptr);
      CATCH_CHECK(std::string(PQparameterStatus(c.get(), name)) == value);
   }
   CATCH_CHECK(PQparameterStatus(c.get(), "TimeZone") != nullptr);
   CATCH_CHECK(PQbackendPID(c.get()) > 0);
   CATCH_CHECK(c.run("SET DateStyle = 'German'") == "SET");
   CATCH_CHECK(std::string(PQparameterStatus(c.get(), "DateStyle")) == "German, DMY");
   const Connection options(sharedServer(), "options='-c DateStyle=SQL,DMY'");
   CATCH_CHECK(options.run("SHOW DateStyle") == "SQL, DMY\n");
}

CATCH_TEST_CASE("who may not come in is told why") {
   CATCH_CHECK(Connection(sharedServer(), "dbname=nosuch", true).error().find("database \"nosuch\" does not exist") !=
               std::string::npos);
   CATCH_CHECK(Connection(sharedServer(), "user=nosuch", true).error().find("role \"nosuch\" does not exist") !=
               std::string::npos);
   CATCH_CHECK_FALSE(Connection(sharedServer(), "options='-c nosuch.=1'", true).isOpen());
}

CATCH_TEST_CASE("several statements in one query are one transaction") {
   const Connection c;
   c.run("DROP TABLE IF EXISTS wire_multi");
   CATCH_CHECK(c.run("SELECT 1; SELECT 2") == "2\n");
   CATCH_CHECK(c.run("") == "(empty)");
   CATCH_CHECK(c.run("-- nothing") == "(empty)");
   CATCH_CHECK(c.run("CREATE TABLE wire_multi (a int); INSERT INTO wire_multi VALUES (1); SELECT 1/0") ==
               "ERROR 22012 division by zero");
   CATCH_CHECK(c.run("SELECT * FROM wire_multi") == "ERROR 42P01 relation \"wire_multi\" does not exist");
   CATCH_CHECK(c.run("SELECT 1; SELEC 2") == "ERROR 42601 syntax error at or near \"SELEC\"");
   CATCH_CHECK(c.run("BEGIN; SELECT 1/0") == "ERROR 22012 division by zero");
   CATCH_CHECK(PQtransactionStatus(c.get()) == PQTRANS_INERROR);
   CATCH_CHECK(c.run("SELECT 1").starts_with("ERROR 25P02"));
   CATCH_CHECK(c.run("ROLLBACK") == "ROLLBACK");
   CATCH_CHECK(PQtransactionStatus(c.get()) == PQTRANS_IDLE);
}

CATCH_TEST_CASE("errors carry code, position and names") {
   const Connection c;
   const Result syntax(PQexec(c.get(), "SELECT * FORM x"));
   CATCH_CHECK(std::string(PQresultErrorField(syntax.get(), PG_DIAG_STATEMENT_POSITION)) == "10");
   CATCH_CHECK(std::string(PQresultErrorField(syntax.get(), PG_DIAG_SEVERITY_NONLOCALIZED)) == "ERROR");
   const Result table(PQexec(c.get(), "SELECT * FROM lineitm"));
   CATCH_CHECK(std::string(PQresultErrorField(table.get(), PG_DIAG_STATEMENT_POSITION)) == "15");
   c.run("DROP TABLE IF EXISTS wire_names; CREATE TABLE wire_names (a int NOT NULL)");
   const Result null(PQexec(c.get(), "INSERT INTO wire_names VALUES (NULL)"));
   CATCH_CHECK(describe(null.get()).starts_with("ERROR 23502"));
   CATCH_REQUIRE(PQresultErrorField(null.get(), PG_DIAG_TABLE_NAME) != nullptr);
   CATCH_CHECK(std::string(PQresultErrorField(null.get(), PG_DIAG_TABLE_NAME)) == "wire_names");
   CATCH_CHECK(std::string(PQresultErrorField(null.get(), PG_DIAG_COLUMN_NAME)) == "a");
   c.run("DROP TABLE wire_names");
}

CATCH_TEST_CASE("notices reach the client") {
   const Connection c;
   std::string heard;
   PQsetNoticeProcessor(
       c.get(), [](void* target, const char* text) { *static_cast<std::string*>(target) += text; }, &heard);
   CATCH_CHECK(c.run("DROP TABLE IF EXISTS wire_no_such_table") == "DROP TABLE");
   CATCH_CHECK(heard == "NOTICE:  table \"wire_no_such_table\" does not exist, skipping\n");
}

CATCH_TEST_CASE("parameters are typed by use; results in text and binary") {
   const Connection c;
   CATCH_CHECK(describe(c.parameters("SELECT $1::int + 1, $2::text || 'x', $3::date", {"41", "y", nullptr}).get()) ==
               "42|yx|\\N\n");
   const std::vector<std::pair<const char*, const char*>> binary = {
       {"SELECT true, 1::int2, 1::int4, (-2)::int8", "01 0001 00000001 fffffffffffffffe"},
       {"SELECT 1.5::float4, (-0.25)::float8", "3fc00000 bfd0000000000000"},
       {"SELECT 'ab'::text, 'cd'::varchar(3), 'e'::char(3), '\\x00ff'::bytea", "6162 6364 652020 00ff"},
       {"SELECT date '2000-01-02', timestamp '2000-01-01 00:00:01', time '00:00:00.000001'",
        "00000001 00000000000f4240 0000000000000001"},
       {"SELECT timestamptz '2000-01-01 00:00:02+00', interval '1 month 2 days 3 microseconds'",
        "00000000001e8480 00000000000000030000000200000001"},
       {"SELECT 12345.678::numeric, (-0.0001)::numeric, 'NaN'::numeric",
        "0003000100000003000109291a7c 0001ffff400000040001 00000000c0000000"},
       {"SELECT '01234567-89ab-cdef-0123-456789abcdef'::uuid, 5::oid", "0123456789abcdef0123456789abcdef 00000005"},
   };
   for (const auto& [sql, expected] : binary) {
      CATCH_INFO(sql);
      const Result result = c.parameters(sql, {}, true);
      CATCH_CHECK(hex(result.get()) == expected);
   }
   // Binary parameters.
   const char four[] = {0, 0, 0, 4};
   const char half[] = {0x3f, static_cast<char>(0xe0), 0, 0, 0, 0, 0, 0};
   const char* values[] = {four, half};
   const int lengths[] = {4, 8}, formats[] = {1, 1};
   const Oid types[] = {23, 701};
   const Result sum(PQexecParams(c.get(), "SELECT $1 + $2", 2, types, values, lengths, formats, 0));
   CATCH_CHECK(describe(sum.get()) == "4.5\n");
   const int wrong[] = {3, 8};
   const Result bad(PQexecParams(c.get(), "SELECT $1 + $2", 2, types, values, wrong, formats, 0));
   CATCH_CHECK(describe(bad.get()).substr(0, 11) == "ERROR 08P01");
}

CATCH_TEST_CASE("prepared statements: describe, run, replace, close") {
   const Connection c;
   const auto command = [&](PGresult* result) { return describe(Result(result).get()); };
   CATCH_CHECK(command(PQprepare(c.get(), "add", "SELECT $1::int8 + $2 AS total, 'x'::varchar(7) AS v", 0, nullptr)) ==
               "");
   const Result description(PQdescribePrepared(c.get(), "add"));
   CATCH_CHECK(PQnparams(description.get()) == 2);
   CATCH_CHECK(PQparamtype(description.get(), 0) == 20);
   CATCH_CHECK(PQparamtype(description.get(), 1) == 20);
   CATCH_CHECK(PQnfields(description.get()) == 2);
   CATCH_CHECK(std::string(PQfname(description.get(), 0)) == "total");
   CATCH_CHECK(PQftype(description.get(), 1) == 1043);
   CATCH_CHECK(PQfmod(description.get(), 1) == 11);
   const char* values[] = {"40", "2"};
   for (int i = 0; i < 3; ++i)
      CATCH_CHECK(command(PQexecPrepared(c.get(), "add", 2, values, nullptr, nullptr, 0)) == "42|x\n");
   CATCH_CHECK(command(PQprepare(c.get(), "add", "SELECT 1", 0, nullptr)) ==
               "ERROR 42P05 prepared statement \"add\" already exists");
   CATCH_CHECK(c.run("DEALLOCATE add") == "DEALLOCATE");
   CATCH_CHECK(command(PQexecPrepared(c.get(), "add", 2, values, nullptr, nullptr, 0)) ==
               "ERROR 26000 prepared statement \"add\" does not exist");
   CATCH_CHECK(command(PQprepare(c.get(), "bad", "SELECT $1 FROM nosuch", 0, nullptr)).starts_with("ERROR 42P01"));
   CATCH_CHECK(command(PQprepare(c.get(), "open", "SELECT $1", 0, nullptr)) == "");
   CATCH_CHECK(PQparamtype(Result(PQdescribePrepared(c.get(), "open")).get(), 0) == 25);
   const char* one[] = {"1"};
   CATCH_CHECK(command(PQexecPrepared(c.get(), "open", 1, one, nullptr, nullptr, 0)) == "1\n");
   CATCH_CHECK(command(PQexecPrepared(c.get(), "open", 0, nullptr, nullptr, nullptr, 0)) ==
               "ERROR 08P01 bind message supplies 0 parameters, but prepared statement \"open\" requires 1");
}

CATCH_TEST_CASE("columns tell the table they come from") {
   const Connection c;
   c.run("DROP TABLE IF EXISTS wire_origin; CREATE TABLE wire_origin (a int, b numeric(15,2))");
   const Result result = c.parameters("SELECT b, a + 1 FROM wire_origin", {});
   CATCH_CHECK(PQftable(result.get(), 0) >= 16384);
   CATCH_CHECK(PQftablecol(result.get(), 0) == 2);
   CATCH_CHECK(PQftype(result.get(), 0) == 1700);
   CATCH_CHECK(PQfmod(result.get(), 0) == ((15 << 16) | 2) + 4);
   CATCH_CHECK(PQftable(result.get(), 1) == 0);
   CATCH_CHECK(PQfsize(result.get(), 1) == 4);
   c.run("INSERT INTO wire_origin SELECT * FROM (VALUES (1, 2.5)) v");
   for (const char* sql : {"INSERT INTO wire_origin (a) VALUES (1) RETURNING b AS x, a + 1",
                           "INSERT INTO wire_origin (b) SELECT a FROM wire_origin RETURNING b, 1",
                           "UPDATE wire_origin SET b = a RETURNING b, 1", "DELETE FROM wire_origin RETURNING b, 1"}) {
      const Result returned = c.parameters(sql, {});
      CATCH_CHECK(PQftable(returned.get(), 0) == PQftable(result.get(), 0));
      CATCH_CHECK(PQftablecol(returned.get(), 0) == 2);
      CATCH_CHECK(PQftable(returned.get(), 1) == 0);
   }
   c.run("DROP TABLE wire_origin");
}

CATCH_TEST_CASE("the context of an error in a parameter's text names it") {
   RawClient c;
   c.start();
   const auto bindTo = [&](const std::string& portal, const std::string& value) {
      const std::string answer =
          c.ask(raw::parse("", "SELECT $1::int, $2::text") + raw::bind(portal, "", {value, "x"}) + raw::syncMessage());
      const size_t at = answer.find("W:");
      return at == std::string::npos ? answer : answer.substr(at, answer.find('\n', at) - at);
   };
   CATCH_CHECK(bindTo("", "abc") == "W:unnamed portal parameter $1 = '...'");
   CATCH_CHECK(bindTo("p", "") == "W:portal \"p\" parameter $1 = ''");
   c.ask(raw::query("SET log_parameter_max_length_on_error = 2"));
   CATCH_CHECK(bindTo("", "a'bc") == "W:unnamed portal parameter $1 = 'a''...'");
}

CATCH_TEST_CASE("pipelining: answers in order, an error skips to the next sync") {
   const Connection c;
   CATCH_REQUIRE(PQenterPipelineMode(c.get()) == 1);
   const auto push = [&](const char* sql) {
      PQsendQueryParams(c.get(), sql, 0, nullptr, nullptr, nullptr, nullptr, 0);
   };
   push("SELECT 1");
   push("SELECT 1/0");
   push("SELECT 2");
   PQpipelineSync(c.get());
   push("SELECT 3");
   PQpipelineSync(c.get());
   std::string all;
   for (int ends = 0, syncs = 0; syncs < 2 && ends < 20;) {
      const Result result(PQgetResult(c.get()));
      if (!result) {
         ++ends;
         continue;
      }
      all += describe(result.get()) + ";";
      if (PQresultStatus(result.get()) == PGRES_PIPELINE_SYNC) ++syncs;
   }
   CATCH_CHECK(all == "1\n;ERROR 22012 division by zero;(aborted);(sync);3\n;(sync);");
}

CATCH_TEST_CASE("a pipeline up to Sync is one transaction") {
   RawClient c;
   c.start();
   c.ask(raw::query("DROP TABLE IF EXISTS wire_pipe; CREATE TABLE wire_pipe (a int)"));
   const auto step = [](const std::string& sql) { return raw::parse("", sql) + raw::bind("", "") + raw::execute(""); };
   const auto failed = c.ask(step("INSERT INTO wire_pipe VALUES (1)") +
                             step("SELECT 1 / (g - 1) FROM generate_series(1, 1) g") + raw::syncMessage());
   CATCH_CHECK(failed == "1\n2\nC INSERT 0 1\n1\n2\nE ERROR 22012 division by zero\nZ I\n");
   CATCH_CHECK(c.ask(raw::query("SELECT count(*) FROM wire_pipe")).find("D 0\n") != std::string::npos);
   c.ask(step("INSERT INTO wire_pipe VALUES (1)") + step("INSERT INTO wire_pipe VALUES (2)") + raw::syncMessage());
   CATCH_CHECK(c.ask(raw::query("SELECT count(*) FROM wire_pipe")).find("D 2\n") != std::string::npos);
   c.ask(raw::query("DROP TABLE wire_pipe"));
}

CATCH_TEST_CASE("a prepared statement whose result type has changed says so in the way that drivers look for") {
   const Connection c;
   c.run("DROP TABLE IF EXISTS wire_changed");
   c.run("CREATE TABLE wire_changed (a int)");
   const Result prepared(PQprepare(c.get(), "p", "SELECT * FROM wire_changed", 0, nullptr));
   CATCH_CHECK(PQresultStatus(prepared.get()) == PGRES_COMMAND_OK);
   c.run("ALTER TABLE wire_changed ADD COLUMN b int");
   const Result failed(PQexecPrepared(c.get(), "p", 0, nullptr, nullptr, nullptr, 0));
   CATCH_CHECK(std::string(PQresultErrorField(failed.get(), PG_DIAG_SQLSTATE)) == "0A000");
   CATCH_CHECK(std::string(PQresultErrorField(failed.get(), PG_DIAG_SOURCE_FUNCTION)) == "RevalidateCachedQuery");
   c.run("DROP TABLE wire_changed");
}

CATCH_TEST_CASE("a row in binary names the domains of its columns, both ways") {
   const Connection c;
   c.run("DROP TYPE IF EXISTS wire_row; DROP DOMAIN IF EXISTS wire_domain");
   c.run("CREATE DOMAIN wire_domain AS int4 CHECK (VALUE > 0); CREATE TYPE wire_row AS (a wire_domain)");
   const Result row = c.parameters("SELECT ROW(5)::wire_row", {}, true);
   CATCH_REQUIRE(PQgetlength(row.get(), 0, 0) == 16);
   const std::string bytes(PQgetvalue(row.get(), 0, 0), 16);
   uint32_t named = 0;
   for (size_t i = 4; i < 8; ++i)
      named = named << 8 | static_cast<unsigned char>(bytes[i]);
   CATCH_CHECK(c.run("SELECT 'wire_domain'::regtype::oid") == std::to_string(named) + "\n");
   const char* value = bytes.data();
   const int length = 16, isBinary = 1;
   const Result back(PQexecParams(c.get(), "SELECT ($1::wire_row).a", 1, nullptr, &value, &length, &isBinary, 0));
   CATCH_CHECK(describe(back.get()) == "5\n");
   c.run("DROP TYPE wire_row; DROP DOMAIN wire_domain");
}

CATCH_TEST_CASE("a failed block tells the settings that it had at its start, or at its last savepoint") {
   const Connection c;
   const auto name = [&] { return std::string(PQparameterStatus(c.get(), "application_name")); };
   c.run("SET application_name = 'before'");
   c.run("BEGIN");
   c.run("SET application_name = 'within'");
   CATCH_CHECK(name() == "within");
   CATCH_CHECK(c.run("SELECT 1 / 0").starts_with("ERROR 22012"));
   CATCH_CHECK(name() == "before");
   CATCH_CHECK(c.run("ROLLBACK") == "ROLLBACK");
   c.run("BEGIN");
   c.run("SET application_name = 'kept'");
   c.run("SAVEPOINT s");
   c.run("SET application_name = 'later'");
   CATCH_CHECK(c.run("SELECT 1 / 0").starts_with("ERROR 22012"));
   CATCH_CHECK(name() == "kept");
   c.run("ROLLBACK TO s");
   CATCH_CHECK(c.run("SHOW application_name") == "kept\n");
   CATCH_CHECK(c.run("COMMIT") == "COMMIT");
   CATCH_CHECK(name() == "kept");
}

CATCH_TEST_CASE("a parameter of type void stands for an output of a called procedure") {
   const Connection c;
   c.run("CREATE OR REPLACE PROCEDURE wire_outputs(a int, OUT b text, INOUT c int) LANGUAGE plpgsql AS "
         "$$ BEGIN b := 'x' || a; c := c + 1; END $$");
   c.run("CREATE OR REPLACE FUNCTION wire_no_procedure(a int, b int) RETURNS int LANGUAGE sql AS 'SELECT 1'");
   c.run("CREATE OR REPLACE FUNCTION wire_with_output(INOUT a int, OUT b int) LANGUAGE sql AS 'SELECT 1, 2'");
   const auto call = [&](const char* sql, std::vector<Oid> types, std::vector<const char*> values) {
      const Result result(
          PQexecParams(c.get(), sql, static_cast<int>(types.size()), types.data(), values.data(), nullptr, nullptr, 0));
      return describe(result.get());
   };
   const Oid integer = 23, none = 2278;
   CATCH_CHECK(call("CALL wire_outputs($1, $2, $3)", {integer, none, integer}, {"5", nullptr, "6"}) == "x5|7\n");
   CATCH_CHECK(call("CALL wire_outputs($1, $2, $3)", {integer, none, none}, {"5", nullptr, nullptr}) == "x5|\\N\n");
   CATCH_CHECK(call("CALL wire_no_procedure($1, $2, $3)", {none, integer, integer}, {nullptr, "1", "2"})
                   .starts_with("ERROR 42883"));
   CATCH_CHECK(call("CALL wire_with_output($1, $2)", {integer, none}, {"1", nullptr}).starts_with("ERROR 42809"));
}

CATCH_TEST_CASE("a call ignores parameters of type void, as JDBC sends them for results") {
   const Connection c;
   const Oid types[] = {2278, 23};
   const char* values[] = {nullptr, "7"};
   const Result called(PQexecParams(c.get(), "SELECT abs($1, $2)", 2, types, values, nullptr, nullptr, 0));
   CATCH_CHECK(describe(called.get()) == "7\n");
   CATCH_CHECK(describe(c.parameters("SELECT pi($1::void) > 3", {""}).get()) == "t\n");
}

CATCH_TEST_CASE("portals with row limits") {
   RawClient c;
   c.start();
   const std::string open = raw::parse("", "SELECT g FROM generate_series(1, 5) g") + raw::bind("p", "");
   CATCH_CHECK(c.ask(open + raw::execute("p", 2) + raw::execute("p", 2) + raw::execute("p", 2) + raw::syncMessage()) ==
               "1\n2\nD 1\nD 2\ns\nD 3\nD 4\ns\nD 5\nC SELECT 1\nZ I\n");
   CATCH_CHECK(c.ask(raw::execute("p", 2) + raw::syncMessage()) == "E ERROR 34000 portal \"p\" does not exist\nZ I\n");
   // In a transaction block portals survive Sync, and two may be open at once.
   c.ask(raw::query("BEGIN"));
   const std::string other = raw::parse("", "SELECT g FROM generate_series(1, 100000) g") + raw::bind("q", "");
   CATCH_CHECK(c.ask(open + raw::execute("p", 1) + other + raw::execute("q", 1) + raw::syncMessage()) ==
               "1\n2\nD 1\ns\n1\n2\nD 1\ns\nZ T\n");
   CATCH_CHECK(c.ask(raw::execute("p", 1) + raw::execute("q", 2) + raw::execute("p", 0) + raw::syncMessage()) ==
               "D 2\ns\nD 2\nD 3\ns\nD 3\nD 4\nD 5\nC SELECT 3\nZ T\n");
   CATCH_CHECK(c.ask(raw::message('C', "Pq" + std::string(1, '\0')) + raw::syncMessage()) == "3\nZ T\n");
   CATCH_CHECK(c.ask(raw::query("COMMIT")) == "C COMMIT\nZ I\n");
   CATCH_CHECK(c.ask(raw::execute("p", 1) + raw::syncMessage()) == "E ERROR 34000 portal \"p\" does not exist\nZ I\n");
}

CATCH_TEST_CASE("portals wait while their transaction has failed, and go on after ROLLBACK TO") {
   RawClient c;
   c.start();
   const std::string aborted =
       "E ERROR 25P02 current transaction is aborted, commands ignored until end of transaction block\nZ E\n";
   c.ask(raw::query("BEGIN; DECLARE c CURSOR FOR SELECT g FROM generate_series(1, 5) g"));
   c.ask(raw::parse("s", "SELECT g FROM generate_series(1, 5) g") + raw::bind("begun", "s") + raw::bind("done", "s") +
         raw::bind("bound", "s") + raw::execute("begun", 2) + raw::execute("done") + raw::syncMessage());
   c.ask(raw::query("SAVEPOINT a; SELECT 1/0"));
   for (const char* portal : {"c", "begun", "done", "bound"}) {
      CATCH_CHECK(c.ask(raw::execute(portal, 1) + raw::syncMessage()) == aborted);
      CATCH_CHECK(c.ask(raw::describe('P', portal) + raw::syncMessage()) == aborted);
   }
   CATCH_CHECK(c.ask(raw::query("ROLLBACK TO a")) == "C ROLLBACK\nZ T\n");
   for (const auto& [portal, answer] : {std::pair("c", "D 1\ns\n"), std::pair("begun", "D 3\ns\n"),
                                        std::pair("done", "C SELECT 0\n"), std::pair("bound", "D 1\ns\n")})
      CATCH_CHECK(c.ask(raw::execute(portal, 1) + raw::syncMessage()) == answer + std::string("Z T\n"));
   c.ask(raw::query("ROLLBACK"));
}

CATCH_TEST_CASE("portals of a failed transaction are known until its end") {
   RawClient c;
   c.start();
   const std::string aborted =
       "E ERROR 25P02 current transaction is aborted, commands ignored until end of transaction block\nZ E\n";
   c.ask(raw::query("BEGIN; DECLARE c CURSOR FOR SELECT 1"));
   c.ask(raw::parse("", "SELECT g FROM generate_series(1, 5) g") + raw::bind("begun", "") + raw::execute("begun", 2) +
         raw::syncMessage());
   c.ask(raw::query("SELECT 1/0"));
   for (const char* portal : {"c", "begun"}) {
      CATCH_CHECK(c.ask(raw::execute(portal, 1) + raw::syncMessage()) == aborted);
      CATCH_CHECK(c.ask(raw::describe('P', portal) + raw::syncMessage()) == aborted);
   }
   CATCH_CHECK(c.ask(raw::execute("nowhere") + raw::syncMessage()) ==
               "E ERROR 34000 portal \"nowhere\" does not exist\nZ E\n");
   CATCH_CHECK(c.ask(raw::message('C', "Pbegun" + std::string(1, '\0')) + raw::syncMessage()) == "3\nZ E\n");
   c.ask(raw::query("ROLLBACK"));
   for (const char* portal : {"c", "begun"})
      CATCH_CHECK(c.ask(raw::execute(portal) + raw::syncMessage()) ==
                  "E ERROR 34000 portal \"" + std::string(portal) + "\" does not exist\nZ I\n");
}

CATCH_TEST_CASE("Describe of what returns nothing, and of portals") {
   RawClient c;
   c.start();
   CATCH_CHECK(c.ask(raw::parse("", "BEGIN") + raw::describe('S', "") + raw::bind("", "") + raw::describe('P', "") +
                     raw::execute("") + raw::syncMessage()) == "1\nt\nn\n2\nn\nC BEGIN\nZ T\n");
   c.ask(raw::query("ROLLBACK"));
   CATCH_CHECK(c.ask(raw::parse("", "SELECT 1::int4 AS one") + raw::bind("", "", {}, {1}) + raw::describe('P', "") +
                     raw::syncMessage()) == "1\n2\nT one 0.0 type 23 4 -1 format 1\nZ I\n");
   CATCH_CHECK(c.ask(raw::parse("", "") + raw::bind("", "") + raw::describe('P', "") + raw::execute("") +
                     raw::syncMessage()) == "1\n2\nn\nI\nZ I\n");
   CATCH_CHECK(c.ask(raw::parse("", "SELECT 1; SELECT 2") + raw::syncMessage()) ==
               "E ERROR 42601 cannot insert multiple commands into a prepared statement\nZ I\n");
}

CATCH_TEST_CASE("rows without columns are counted") {
   const Connection c;
   CATCH_CHECK(c.run("SELECT FROM generate_series(1, 3)") == "\n\n\n");
   CATCH_CHECK(c.run("SELECT") == "\n");
   CATCH_CHECK(c.run("SELECT UNION SELECT") == "\n");
   CATCH_CHECK(c.run("SELECT UNION ALL SELECT") == "\n\n");
   CATCH_CHECK(c.run("SELECT FROM generate_series(1, 3) LIMIT 2 OFFSET 2") == "\n");
   CATCH_CHECK(c.run("SELECT WHERE false") == "");
   CATCH_CHECK(c.run("SELECT count(*) FROM (SELECT FROM generate_series(1, 3)) s") == "3\n");
   CATCH_CHECK(c.run("SELECT EXISTS (SELECT)") == "t\n");
   CATCH_CHECK(describe(c.parameters("SELECT FROM generate_series(1, $1::int)", {"2"}, true).get()) == "\n\n");
   CATCH_CHECK(PQnfields(c.parameters("SELECT", {}).get()) == 0);
}

CATCH_TEST_CASE("errors name the place in the source that found them") {
   const Connection c;
   for (const char* sql : {"SELECT 1/0", "SELEC", "SELECT 'x'::int", "SELECT nix"}) {
      CATCH_INFO(sql);
      const Result result(PQexec(c.get(), sql));
      const auto field = [&](int code) {
         const char* text = PQresultErrorField(result.get(), code);
         return std::string(text ? text : "");
      };
      CATCH_CHECK(field(PG_DIAG_SOURCE_FILE).find_first_of("./") == field(PG_DIAG_SOURCE_FILE).rfind(".c"));
      CATCH_CHECK(std::atoi(field(PG_DIAG_SOURCE_LINE).c_str()) > 0);
      CATCH_CHECK(!field(PG_DIAG_SOURCE_FUNCTION).empty());
      CATCH_CHECK(field(PG_DIAG_SOURCE_FUNCTION).find_first_of(" :(<") == std::string::npos);
   }
}

CATCH_TEST_CASE("pg_stat_progress_copy shows how far a COPY has come") {
   const Connection loader, watcher;
   loader.run("DROP TABLE IF EXISTS wire_progress");
   loader.run("CREATE TABLE wire_progress (a int, b text)");
   CATCH_REQUIRE(loader.run("COPY wire_progress FROM STDIN WHERE a % 2 = 0") == "(copy in)");
   const std::string query = "SELECT pid = " + std::to_string(PQbackendPID(loader.get())) +
                             ", datname, relid::regclass, command, type, bytes_processed, bytes_total, "
                             "tuples_processed, tuples_excluded FROM pg_stat_progress_copy";
   CATCH_CHECK(watcher.run(query) == "t|postgres|wire_progress|COPY FROM|PIPE|0|0|0|0\n");
   std::string piece;
   for (int row = 0; row < 300'000; ++row)
      piece += std::to_string(row) + "\t" + std::string(40, 'x') + "\n";
   PQputCopyData(loader.get(), piece.data(), static_cast<int>(piece.size()));
   PQflush(loader.get());
   // Half of the rows that were read are written, save some that are on their way.
   const std::string enough = "SELECT bytes_processed > 1000000 AND tuples_processed BETWEEN 10000 AND 150000 AND "
                              "tuples_excluded BETWEEN 10000 AND 150000 FROM pg_stat_progress_copy";
   std::string reply;
   for (int attempt = 0; attempt < 1000 && reply != "t\n"; ++attempt) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      reply = watcher.run(enough);
   }
   CATCH_CHECK(reply == "t\n");
   PQputCopyEnd(loader.get(), nullptr);
   const Result done(PQgetResult(loader.get()));
   CATCH_CHECK(describe(done.get()) == "COPY 150000");
   while (PQgetResult(loader.get())) {
   }
   CATCH_CHECK(watcher.run("SELECT count(*) FROM pg_stat_progress_copy") == "0\n");

   CATCH_REQUIRE(loader.run("COPY wire_progress FROM STDIN") == "(copy in)");
   PQputCopyEnd(loader.get(), "no");
   while (const Result failed{PQgetResult(loader.get())}) {
   }
   CATCH_CHECK(watcher.run("SELECT count(*) FROM pg_stat_progress_copy") == "0\n");
   CATCH_CHECK(loader.run("DROP TABLE wire_progress") == "DROP TABLE");
}

CATCH_TEST_CASE("a prepared FETCH is described by the cursor that it finds when it is bound") {
   RawClient c;
   c.start();
   CATCH_CHECK(c.ask(raw::parse("f", "FETCH ALL FROM wire_later") + raw::describe('S', "f") + raw::syncMessage()) ==
               "1\nt\nn\nZ I\n");
   const auto fetch = [&] {
      return c.ask(raw::bind("", "f") + raw::describe('P', "") + raw::execute("") + raw::syncMessage());
   };
   c.ask(raw::query("BEGIN; DECLARE wire_later CURSOR FOR SELECT n, 'x' AS t FROM generate_series(1, 2) n"));
   std::string answer = fetch();
   CATCH_CHECK(answer.starts_with("2\nT n 0.0 type 23 "));
   CATCH_CHECK(answer.ends_with("C FETCH 2\nZ T\n"));
   c.ask(raw::query("CLOSE wire_later; DECLARE wire_later CURSOR FOR SELECT true AS other"));
   answer = fetch();
   CATCH_CHECK(answer.starts_with("2\nT other 0.0 type 16 "));
   CATCH_CHECK(answer.ends_with("D t\nC FETCH 1\nZ T\n"));
   c.ask(raw::query("ROLLBACK"));
}

CATCH_TEST_CASE("rows of RETURNING come when all checks have passed") {
   RawClient c;
   c.start();
   c.ask(raw::query("DROP TABLE IF EXISTS wire_returning; CREATE TABLE wire_returning (a int UNIQUE); INSERT INTO "
                    "wire_returning VALUES (2)"));
   const std::string error = "E ERROR 23505 duplicate key value violates unique constraint \"wire_returning_a_key\" "
                             "D:Key (a)=(2) already exists. s:public t:wire_returning n:wire_returning_a_key\nZ I\n";
   const std::string insert = "INSERT INTO wire_returning VALUES (1), (2) RETURNING a";
   CATCH_CHECK(c.ask(raw::query(insert)) == error);
   CATCH_CHECK(c.ask(raw::parse("", insert) + raw::bind("", "") + raw::execute("") + raw::syncMessage()) ==
               "1\n2\n" + error);
}

CATCH_TEST_CASE("more parameters than a Bind message can give are described") {
   const Connection c;
   std::string sql = "VALUES ($1::int)";
   for (int i = 2; i <= 65'536; ++i)
      sql += ", ($" + std::to_string(i) + "::int)";
   const Result prepared(PQprepare(c.get(), "many", sql.c_str(), 0, nullptr));
   CATCH_CHECK(PQresultStatus(prepared.get()) == PGRES_COMMAND_OK);
   CATCH_CHECK(c.run("SELECT $2000000000").starts_with("ERROR 42P02"));
}

CATCH_TEST_CASE("parameters of domains are described as such, and may be declared so") {
   const Connection c;
   c.run("DROP TABLE IF EXISTS wire_domains; DROP DOMAIN IF EXISTS wire_positive");
   c.run("CREATE DOMAIN wire_positive AS int CHECK (VALUE > 0)");
   c.run("CREATE TABLE wire_domains (a wire_positive, b wire_positive[])");
   const auto oidOf = [&](const std::string& type) {
      return static_cast<Oid>(std::stoul(c.run("SELECT '" + type + "'::regtype::oid")));
   };
   const Oid domain = oidOf("wire_positive"), array = oidOf("wire_positive[]");
   const char* insert = "INSERT INTO wire_domains VALUES ($1, $2) RETURNING a + 1, b";
   CATCH_REQUIRE(describe(Result(PQprepare(c.get(), "typed", insert, 0, nullptr)).get()) == "");
   const Result description(PQdescribePrepared(c.get(), "typed"));
   CATCH_CHECK(PQparamtype(description.get(), 0) == domain);
   CATCH_CHECK(PQparamtype(description.get(), 1) == array);
   const auto ask = [&](const char* sql, Oid type, const char* value) {
      return describe(Result(PQexecParams(c.get(), sql, 1, &type, &value, nullptr, nullptr, 0)).get());
   };
   CATCH_CHECK(ask("SELECT $1 = 5, pg_typeof($1)", domain, "5") == "t|wire_positive\n");
   CATCH_CHECK(ask("SELECT $1 = 5::wire_positive", domain, "5") == "t\n");
   CATCH_CHECK(ask("SELECT $1 + 1", domain, "-5") ==
               "ERROR 23514 value for domain wire_positive violates check constraint \"wire_positive_check\"");
   CATCH_CHECK(ask("SELECT ARRAY[5]::wire_positive[] = $1", array, "{5}") == "t\n");
   CATCH_CHECK(ask("SELECT ARRAY[5]::wire_positive[] IS NOT DISTINCT FROM $1, pg_typeof($1)", array, "{6}") ==
               "f|wire_positive[]\n");
   CATCH_CHECK(ask("SELECT $1", array, "{-1}") ==
               "ERROR 23514 value for domain wire_positive violates check constraint \"wire_positive_check\"");
   CATCH_CHECK(ask("INSERT INTO wire_domains (a) VALUES ($1) RETURNING a", domain, "3") == "3\n");
   c.run("PREPARE wire_p(wire_positive) AS SELECT $1 + 1");
   CATCH_CHECK(c.run("EXECUTE wire_p(4)") == "5\n");
   CATCH_CHECK(c.run("EXECUTE wire_p(-4)") ==
               "ERROR 23514 value for domain wire_positive violates check constraint \"wire_positive_check\"");
   c.run("DROP TABLE wire_domains; DROP DOMAIN wire_positive CASCADE");
}

CATCH_TEST_CASE("elements of a composite's array of a domain come as of the domain or of its base") {
   const Connection c;
   c.run("DROP TYPE IF EXISTS wire_with_domains; DROP DOMAIN IF EXISTS wire_domain; CREATE DOMAIN wire_domain AS int "
         "CHECK (VALUE > 0); CREATE TYPE wire_with_domains AS (a wire_domain[])");
   const auto number = [&](const std::string& sql) { return std::stoll(c.run(sql)); };
   const int64_t domain = number("SELECT 'wire_domain'::regtype::oid");
   const int64_t array = number("SELECT typarray FROM pg_type WHERE typname = 'wire_domain'");
   const Result prepared(PQprepare(c.get(), "rows", "SELECT ($1::wire_with_domains)::text", 0, nullptr));
   const auto send = [&](int64_t element, int value) {
      const std::string elements = raw::int32(1) + raw::int32(0) + raw::int32(element) + raw::int32(1) + raw::int32(1) +
                                   raw::int32(4) + raw::int32(value);
      const std::string row =
          raw::int32(1) + raw::int32(array) + raw::int32(static_cast<int64_t>(elements.size())) + elements;
      const char* bytes = row.data();
      const int size = static_cast<int>(row.size()), binary = 1;
      return describe(Result(PQexecPrepared(c.get(), "rows", 1, &bytes, &size, &binary, 0)).get());
   };
   CATCH_CHECK(send(domain, 5) == "({5})\n");
   CATCH_CHECK(send(domain, -5).starts_with("ERROR 23514"));
   c.run("DROP TYPE wire_with_domains; DROP DOMAIN wire_domain");
}

CATCH_TEST_CASE("an error of a domain names its schema and its type") {
   const Connection c;
   c.run("DROP DOMAIN IF EXISTS wire_positive; CREATE DOMAIN wire_positive AS int NOT NULL CHECK (VALUE > 0)");
   for (const char* value : {"-1", "NULL"}) {
      const Result failed = c.parameters(std::string("SELECT CAST(") + value + " AS wire_positive)", {});
      CATCH_CHECK(std::string(PQresultErrorField(failed.get(), PG_DIAG_SCHEMA_NAME)) == "public");
      CATCH_CHECK(std::string(PQresultErrorField(failed.get(), PG_DIAG_DATATYPE_NAME)) == "wire_positive");
   }
   c.run("DROP DOMAIN wire_positive");
}

CATCH_TEST_CASE("COPY takes binary rows without a trailer") {
   RawClient c;
   c.start();
   c.ask(raw::query("CREATE TEMP TABLE wire_copied (a int)"));
   const std::string header = std::string("PGCOPY\n\377\r\n\0", 11) + raw::int32(0) + raw::int32(0);
   const std::string row = raw::int16(1) + raw::int32(4) + raw::int32(7);
   const auto copy = [&](const std::string& bytes) {
      c.send(raw::query("COPY wire_copied FROM STDIN (FORMAT binary)") + raw::message('d', bytes) +
             raw::message('c', ""));
      return c.answer();
   };
   CATCH_CHECK(copy(header + row + row).ends_with("C COPY 2\nZ I\n"));
   CATCH_CHECK(copy(header).ends_with("C COPY 0\nZ I\n"));
   CATCH_CHECK(copy(header + row + "x").ends_with("C COPY 1\nZ I\n"));
   const auto fails = [&](const std::string& bytes, const char* message) {
      return copy(bytes).find(std::string("E ERROR 22P04 ") + message) != std::string::npos;
   };
   CATCH_CHECK(fails(header + row + row.substr(0, 6), "unexpected EOF in COPY data"));
   CATCH_CHECK(fails("", "COPY file signature not recognized"));
   CATCH_CHECK(fails(header.substr(0, 13), "invalid COPY file header (missing flags)"));
}

CATCH_TEST_CASE("a zero byte is no character of type \"char\"") {
   const Connection c;
   const Oid character = 18;
   for (const auto& [byte, shown] : {std::pair{"\0", "t|0\n"}, {"x", "f|1\n"}}) {
      const int size = 1, binary = 1;
      const Result result(
          PQexecParams(c.get(), "SELECT $1 = ''::\"char\", length($1::text)", 1, &character, &byte, &size, &binary, 0));
      CATCH_CHECK(describe(result.get()) == shown);
   }
}
