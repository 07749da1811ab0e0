#include <catch2/catch.hpp>

#include "tests/protocol/support.hpp"

// Triggers on the way of COPY FROM STDIN, whose rows come while the statement runs.

namespace ouzel::wire {

namespace {

/// Sends the rows to a COPY that waits for them; the command tag, or "ERROR ...".
std::string copyIn(const Connection& c, const std::string& statement, const std::string& rows) {
   if (const std::string begun = c.run(statement); begun != "(copy in)") return begun;
   PQputCopyData(c.get(), rows.data(), static_cast<int>(rows.size()));
   PQputCopyEnd(c.get(), nullptr);
   std::string answer;
   while (const Result result{PQgetResult(c.get())})
      answer = describe(result.get());
   return answer;
}

std::string numbers(int count) {
   std::string rows;
   for (int i = 1; i <= count; ++i)
      rows += std::to_string(i) + "\tname " + std::to_string(i) + "\n";
   return rows;
}

} // namespace

CATCH_TEST_CASE("COPY fires triggers of all kinds, and an error of one leaves the session usable") {
   const Connection c;
   c.run("DROP TABLE IF EXISTS wire_trigger, wire_trigger_log");
   c.run("CREATE TABLE wire_trigger (a int, b text)");
   c.run("CREATE TABLE wire_trigger_log (what text, a int)");
   c.run("CREATE OR REPLACE FUNCTION wire_before() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
         "IF NEW.a = 400000 THEN RAISE EXCEPTION 'no more' USING ERRCODE = 'TG400'; END IF; "
         "IF NEW.a % 2 = 0 THEN RETURN NULL; END IF; NEW.b := NEW.b || '!'; RETURN NEW; END $$");
   c.run("CREATE OR REPLACE FUNCTION wire_note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
         "INSERT INTO wire_trigger_log VALUES (TG_WHEN || ' ' || TG_LEVEL, CASE WHEN TG_LEVEL = 'ROW' THEN NEW.a END); "
         "RETURN NULL; END $$");
   c.run("CREATE TRIGGER b BEFORE INSERT ON wire_trigger FOR EACH ROW EXECUTE FUNCTION wire_before()");
   c.run("CREATE TRIGGER s BEFORE INSERT ON wire_trigger EXECUTE FUNCTION wire_note()");
   c.run("CREATE TRIGGER r AFTER INSERT ON wire_trigger FOR EACH ROW WHEN (NEW.a < 4) EXECUTE FUNCTION wire_note()");
   c.run("CREATE TRIGGER t AFTER INSERT ON wire_trigger EXECUTE FUNCTION wire_note()");
   CATCH_CHECK(copyIn(c, "COPY wire_trigger FROM STDIN", numbers(20'000)) == "COPY 10000");
   CATCH_CHECK(c.run("SELECT count(*), min(b), sum(a) FROM wire_trigger") == "10000|name 1!|100000000\n");
   CATCH_CHECK(c.run("SELECT what, a FROM wire_trigger_log ORDER BY what, a") ==
               "AFTER ROW|1\nAFTER ROW|3\nAFTER STATEMENT|\\N\nBEFORE STATEMENT|\\N\n");
   // The rest of the input is read and thrown away.
   const std::string rows = "1\tx\n400000\ty\n" + numbers(100'000);
   CATCH_CHECK(copyIn(c, "COPY wire_trigger FROM STDIN", rows).find("ERROR TG400") == 0);
   CATCH_CHECK(copyIn(c, "COPY wire_trigger FROM STDIN", "1\tx\nbad\ty\n" + numbers(1000)).find("ERROR 22P02") == 0);
   CATCH_CHECK(copyIn(c, "COPY wire_trigger FROM STDIN WHERE a > 7", numbers(9)) == "COPY 1");
   CATCH_CHECK(c.run("SELECT count(*) FROM wire_trigger") == "10001\n");
   CATCH_CHECK(c.run("DROP TABLE wire_trigger, wire_trigger_log") == "DROP TABLE");
   CATCH_CHECK(c.run("DROP FUNCTION wire_before(), wire_note()") == "DROP FUNCTION");
}

} // namespace ouzel::wire
