#include "sql/parse/fingerprint.hpp"

#include <catch2/catch.hpp>

using namespace ouzel;
using namespace ouzel::sql;

namespace {

std::string normalized(const std::string& sql) {
   const auto script = ParsedScript::parse(sql);
   return normalizedText(script.statements().back());
}

/// Whether both texts are runs of one statement.
bool areOne(const char* a, const char* b) {
   return fingerprintOfText(a) == fingerprintOfText(b);
}

} // namespace

CATCH_TEST_CASE("statements that differ in constants and blanks have one fingerprint") {
   CATCH_CHECK(areOne("select a from t where b = 1", "SELECT a\n FROM t -- here\nWHERE b = 25;"));
   CATCH_CHECK(areOne("select 'a''b'", "select /* /* nested */ */ $x$c'd$x$"));
   CATCH_CHECK(areOne("select -1", "select 1"));
   CATCH_CHECK(areOne("insert into t values (1, 'x')", "insert into t values (-2, 'y')"));
}

CATCH_TEST_CASE("other statements have other fingerprints") {
   CATCH_CHECK_FALSE(areOne("select a from t", "select b from t"));
   CATCH_CHECK_FALSE(areOne("select 1", "select 'a'"));
   CATCH_CHECK_FALSE(areOne("select a from t order by 1", "select a from t order by 2"));
   CATCH_CHECK_FALSE(areOne("select a::numeric(3)", "select a::numeric(4)"));
   CATCH_CHECK_FALSE(areOne("select a in (1, 2)", "select a in (1, 2, 3)"));
   CATCH_CHECK_FALSE(areOne("select \"A\" from t", "select \"a\" from t"));
   CATCH_CHECK_FALSE(areOne("select a - 1", "select -1"));
   CATCH_CHECK_FALSE(areOne("set work_mem = 1", "set work_mem = 2")); // commands are as they are
   CATCH_CHECK(fingerprintOfText("no sql") == 0);
   CATCH_CHECK(fingerprintOfText("") == 0);
}

CATCH_TEST_CASE("constants show as parameters behind those of the query") {
   CATCH_CHECK(normalized("select 1; select a - 1, -1, - 2.5, a -1") == "select a - $1, $2, $3, a -$4");
   CATCH_CHECK(normalized("select $2, 'x' from t where a = $1 limit 5") ==
               "select $2, $3 from t where a = $1 limit $4");
   CATCH_CHECK(normalized("select 'a'\n  'b', E'it\\'s', u&'x', b'01', 1e+5, .5") == "select $1, $2, $3, $4, $5, $6");
   CATCH_CHECK(normalized("select true, null, a is null, interval '1' day") ==
               "select $1, $2, a is null, interval $3 day");
   CATCH_CHECK(normalized("select a from t group by 1 order by 1 limit all") ==
               "select a from t group by 1 order by 1 limit $1");
   CATCH_CHECK(normalized("prepare p as select 1") == "prepare p as select $1");
   CATCH_CHECK(normalized("create table u as select 1") == "create table u as select 1");
   CATCH_CHECK(normalized("select \"1\", a1 /* 2 */ from t -- 3") == "select \"1\", a1 /* 2 */ from t -- 3");
}

CATCH_TEST_CASE("a query that is nested too deep to be looked into has its literals replaced") {
   std::string deep = "select 1";
   for (int i = 0; i < 5000; ++i)
      deep += " + 1";
   const std::string text = normalized(deep);
   CATCH_CHECK(text.starts_with("select $1 + $2 +"));
   CATCH_CHECK(text.ends_with("+ $5001"));
}
