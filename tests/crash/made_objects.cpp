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
   default: return count + table + " WHERE " + (madeBy(number) == Made::Range ? "r @> 1::bigint" : "a = " + n);
   }
}

} // namespace ouzel::crash
