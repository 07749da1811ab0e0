#include "tests/crash/made_objects.hpp"

namespace ouzel::crash {

namespace {

enum class Made : uint8_t {
   Table,
   Partitioned,
   Heir,
   Enum,
   MaterializedView,
   Range,
   Rule,
   Statistics,
   ComputedIndex,
   Exclusion,
   Typed,
   UserRange,
   Domain,
   Function,
   Program,
   Trigger,
   Aggregate,
   EventTrigger,
   Foreign,
   kinds
};

Made madeBy(int64_t number) {
   return static_cast<Made>(number % static_cast<int64_t>(Made::kinds));
}

} // namespace

std::vector<std::string> creation(const std::string& table, int64_t number) {
   const std::string n = std::to_string(number), insert = "INSERT INTO " + table + " VALUES (" + n;
   switch (madeBy(number)) {
   case Made::Partitioned:
      return {"CREATE TABLE " + table + " (a bigint PRIMARY KEY) PARTITION BY RANGE (a)",
              "CREATE TABLE p1_" + table + " PARTITION OF " + table + " FOR VALUES FROM (MINVALUE) TO (0)",
              "CREATE TABLE p2_" + table + " PARTITION OF " + table + " DEFAULT", insert + ")"};
   case Made::Heir:
      return {"CREATE TABLE " + table + " (a bigint)", "CREATE TABLE h_" + table + " (b int) INHERITS (" + table + ")",
              "INSERT INTO h_" + table + " VALUES (" + n + ", 1)", "ALTER TABLE " + table + " ADD c int DEFAULT 5"};
   case Made::Enum:
      return {"CREATE TYPE e_" + table + " AS ENUM ('x', 'z')", "ALTER TYPE e_" + table + " RENAME VALUE 'z' TO 'y'",
              "CREATE TABLE " + table + " (a bigint, e e_" + table + " DEFAULT 'y')", insert + ")"};
   case Made::MaterializedView:
      return {"CREATE MATERIALIZED VIEW " + table + " AS SELECT " + n + "::bigint AS a",
              "REFRESH MATERIALIZED VIEW " + table};
   case Made::Range:
      return {"CREATE TABLE " + table + " (a bigint, r int8range UNIQUE)",
              insert + ", '[1," + std::to_string(number + 2) + ")')"};
   case Made::Rule:
      return {"CREATE TABLE " + table + " (a bigint)", "CREATE TABLE l_" + table + " (a bigint)",
              "CREATE RULE r_" + table + " AS ON INSERT TO " + table + " DO ALSO INSERT INTO l_" + table +
                  " VALUES (NEW.a)",
              insert + ")"};
   case Made::Statistics:
      return {"CREATE TABLE " + table + " (a bigint, b bigint)", insert + ", " + n + ")",
              "CREATE STATISTICS s_" + table + " (ndistinct, dependencies, mcv) ON a, b FROM " + table};
   case Made::ComputedIndex:
      return {"CREATE TABLE " + table + " (a bigint, b text)",
              "CREATE UNIQUE INDEX i_" + table + " ON " + table + " (lower(b), (a % 7)) INCLUDE (a) WHERE a > 0",
              insert + ", 'X" + n + "')"};
   case Made::Exclusion:
      return {"CREATE TABLE " + table + " (a bigint, r int8range, CONSTRAINT x_" + table +
                  " EXCLUDE USING gist (a WITH =, r WITH &&))",
              insert + ", '[1," + std::to_string(number + 2) + ")')"};
   case Made::Typed:
      return {"CREATE TYPE c_" + table + " AS (a bigint, b text)", "CREATE TABLE " + table + " OF c_" + table,
              "ALTER TYPE c_" + table + " ADD ATTRIBUTE d int CASCADE", insert + ", 'x', 3)"};
   case Made::UserRange:
      return {"CREATE TYPE g_" + table + " AS RANGE (subtype = text, multirange_type_name = m_" + table + ")",
              "CREATE TABLE " + table + " (a bigint, r g_" + table + ", m m_" + table + ")",
              insert + ", '[a,b" + n + ")', '{[a,c)}')"};
   case Made::Domain:
      return {"CREATE DOMAIN d_" + table + " AS bigint DEFAULT 4 NOT NULL CHECK (VALUE > 0)",
              "CREATE TABLE " + table + " (a bigint, d d_" + table + ")", insert + ")"};
   case Made::Function: // inlined into a default and a view, which follow its name
      return {"CREATE FUNCTION f_" + table + "(x bigint) RETURNS bigint IMMUTABLE LANGUAGE sql AS 'SELECT x * 2'",
              "CREATE TABLE " + table + " (a bigint, b bigint DEFAULT f_" + table + "(21))",
              "CREATE VIEW v_" + table + " AS SELECT f_" + table + "(a) AS t FROM " + table,
              "ALTER FUNCTION f_" + table + "(bigint) RENAME TO g_" + table, insert + ")"};
   case Made::Program: // writes the row, and what its handler undoes
      return {"CREATE TABLE " + table + " (a bigint, b bigint)",
              "CREATE FUNCTION f_" + table + "(x bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN INSERT INTO " +
                  table + " VALUES (x, 7); BEGIN INSERT INTO " + table + " VALUES (x, 8); PERFORM 1 / (x - x); " +
                  "EXCEPTION WHEN division_by_zero THEN NULL; END; RETURN x; END $$",
              "SELECT f_" + table + "(" + n + ")"};
   case Made::Trigger: { // each function writes its own line: before, row by row, for the statement, and at the commit
      const auto trigger = [&](const std::string& kind, const std::string& when, const std::string& body) {
         const std::string function = kind + "_" + table;
         return std::vector<std::string>{"CREATE FUNCTION " + function +
                                             "() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " + body + " END $$",
                                         "CREATE " + when + " EXECUTE FUNCTION " + function + "()"};
      };
      std::vector<std::string> all{"CREATE TABLE " + table + " (a bigint, b bigint)",
                                   "CREATE TABLE l_" + table + " (a bigint, what text)"};
      const std::string log = "INSERT INTO l_" + table;
      for (const auto& part :
           {trigger("t1", "TRIGGER t1 BEFORE INSERT ON " + table + " FOR EACH ROW", "NEW.b := NEW.a * 2; RETURN NEW;"),
            trigger("t2", "TRIGGER t2 AFTER INSERT ON " + table + " FOR EACH ROW",
                    log + " VALUES (NEW.a, 'row'); RETURN NULL;"),
            trigger("t3", "TRIGGER t3 AFTER INSERT ON " + table + " REFERENCING NEW TABLE AS n",
                    log + " SELECT a, 'statement' FROM n; RETURN NULL;"),
            trigger("t4",
                    "CONSTRAINT TRIGGER t4 AFTER INSERT ON " + table + " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW",
                    log + " VALUES (NEW.b, 'commit'); RETURN NULL;")})
         all.insert(all.end(), part.begin(), part.end());
      all.push_back(insert + ")");
      return all;
   }
   case Made::Aggregate:
      return {"CREATE FUNCTION f_" + table +
                  "(x bigint, y bigint) RETURNS bigint IMMUTABLE LANGUAGE sql AS 'SELECT x * 3 + y'",
              "CREATE AGGREGATE s_" + table + "(bigint) (sfunc = f_" + table + ", stype = bigint, initcond = '1')",
              "CREATE TABLE " + table + " (a bigint)", insert + ")"};
   case Made::EventTrigger: // it writes the row, and is disabled before others see it
      return {"CREATE TABLE " + table + " (a bigint)",
              "CREATE FUNCTION f_" + table + "() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN " + insert +
                  "); END $$",
              "CREATE EVENT TRIGGER e_" + table + " ON ddl_command_end WHEN TAG IN ('COMMENT') EXECUTE FUNCTION f_" +
                  table + "()",
              "COMMENT ON TABLE " + table + " IS 'fired'", "ALTER EVENT TRIGGER e_" + table + " DISABLE"};
   case Made::Foreign: // beside a table that has the row
      return {"CREATE FOREIGN DATA WRAPPER w_" + table + " OPTIONS (a 'b')",
              "CREATE SERVER s_" + table + " TYPE 't' FOREIGN DATA WRAPPER w_" + table,
              "CREATE USER MAPPING FOR PUBLIC SERVER s_" + table + " OPTIONS (c 'd')",
              "CREATE TABLE " + table + " (a bigint)",
              "CREATE FOREIGN TABLE f_" + table + " (a bigint) SERVER s_" + table + " OPTIONS (e 'f')",
              "ALTER FOREIGN TABLE f_" + table + " ALTER a OPTIONS (g 'h')",
              insert + ")"};
   default: return {"CREATE TABLE " + table + " (a bigint PRIMARY KEY)", insert + ")"};
   }
}

std::vector<std::string> removal(const std::string& table, int64_t number) {
   const std::string drop = "DROP TABLE " + table;
   switch (madeBy(number)) {
   case Made::Heir: return {drop + " CASCADE"};
   case Made::Enum: return {drop, "DROP TYPE e_" + table};
   case Made::MaterializedView: return {"DROP MATERIALIZED VIEW " + table};
   case Made::Rule: return {drop, "DROP TABLE l_" + table};
   case Made::Typed: return {drop, "DROP TYPE c_" + table};
   case Made::UserRange: return {drop, "DROP TYPE g_" + table};
   case Made::Domain: return {drop, "DROP DOMAIN d_" + table};
   case Made::Function: return {"DROP VIEW v_" + table, drop, "DROP FUNCTION g_" + table};
   case Made::Program: return {"DROP FUNCTION f_" + table, drop};
   case Made::Trigger:
      return {drop, "DROP TABLE l_" + table,
              "DROP FUNCTION t1_" + table + "(), t2_" + table + ", t3_" + table + ", t4_" + table};
   case Made::Aggregate: return {drop, "DROP FUNCTION f_" + table + " CASCADE"};
   case Made::EventTrigger: return {"DROP EVENT TRIGGER e_" + table, drop, "DROP FUNCTION f_" + table};
   case Made::Foreign: return {"DROP FOREIGN DATA WRAPPER w_" + table + " CASCADE", drop};
   default: return {drop};
   }
}

std::string proof(const std::string& table, int64_t number) {
   const std::string count = "SELECT count(*) FROM ", n = std::to_string(number);
   switch (madeBy(number)) {
   case Made::Partitioned: return count + "p2_" + table;
   case Made::Heir: return count + table + " WHERE c = 5";
   case Made::Enum: return count + table + " WHERE e > 'x'";
   case Made::Rule: return count + "pg_rules r, l_" + table + " l WHERE r.tablename = '" + table + "' AND l.a = " + n;
   case Made::Statistics: return count + "pg_statistic_ext WHERE stxname = 's_" + table + "'";
   case Made::ComputedIndex:
      return count + table + " WHERE lower(b) = 'x" + n + "' AND a % 7 = " + n + " % 7 AND a > 0";
   case Made::Exclusion:
      return count + "pg_constraint c, " + table + " t WHERE conname = 'x_" + table +
             "' AND contype = 'x' AND t.r @> 1::bigint";
   case Made::Typed: return count + table + " WHERE b = 'x' AND d = 3";
   case Made::UserRange: return count + table + " WHERE r @> 'a'::text AND m @> 'b'::text";
   case Made::Domain: return count + table + " WHERE d = 4";
   case Made::Function: return count + table + " WHERE b = 42 AND g_" + table + "(a) = (SELECT t FROM v_" + table + ")";
   case Made::Program: return count + table + " WHERE b = 7 AND (SELECT count(*) FROM " + table + ") = 1";
   case Made::Trigger:
      return "SELECT count(*) FROM " + table +
             " WHERE b = 2 * a AND (SELECT string_agg(what || a, ' ' ORDER BY what) FROM l_" + table +
             ") = 'commit' || b || ' row' || a || ' statement' || a";
   case Made::Aggregate:
      return "SELECT count(*) FROM (SELECT s_" + table + "(a) AS s FROM " + table + ") q WHERE s = 3 + " + n;
   case Made::EventTrigger:
      return count + table + " t, pg_event_trigger e WHERE e.evtname = 'e_" + table + "' AND e.evtenabled = 'D' AND " +
             "t.a = " + n + " AND obj_description(t.tableoid, 'pg_class') = 'fired'";
   case Made::Foreign:
      return count + table + " t, pg_foreign_table f, pg_attribute c, pg_user_mappings m WHERE t.a = " + n +
             " AND ftrelid = 'f_" + table + "'::regclass AND ftoptions = '{e=f}' AND attrelid = ftrelid AND " +
             "attfdwoptions = '{g=h}' AND srvid = ftserver AND umoptions = '{c=d}'";
   default: return count + table + " WHERE " + (madeBy(number) == Made::Range ? "r @> 1::bigint" : "a = " + n);
   }
}

} // namespace ouzel::crash
