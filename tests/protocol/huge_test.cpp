#include <catch2/catch.hpp>

#include "protocol/message_reader.hpp"
#include "tests/protocol/support.hpp"
#include "tests/unit/protocol/fake_backend.hpp"

using namespace ouzel::wire;
namespace raw = ouzel::protocol::test;

// Statements of extreme depth, length and width, and rows that COPY cannot accept. Each gets PostgreSQL's answer or an
// error of the same kind, and the server keeps running.

namespace {

std::string repeat(const std::string& text, size_t count) {
   std::string out;
   out.reserve(text.size() * count);
   for (size_t i = 0; i < count; ++i)
      out += text;
   return out;
}

/// `text`, `count` times, with separators.
std::string list(const std::string& text, const std::string& separator, size_t count) {
   return text + repeat(separator + text, count - 1);
}

std::string stateOf(const std::string& answer) {
   return answer.starts_with("ERROR ") ? answer.substr(6, 5) : answer;
}

constexpr size_t deep = 100'000;

} // namespace

CATCH_TEST_CASE("expressions nested 100,000 deep are refused, not run into the end of the stack") {
   const Connection c;
   const auto nested = [](const std::string& open, const std::string& inner, const std::string& close) {
      return repeat(open, deep) + inner + repeat(close, deep);
   };
   for (const std::string& sql :
        {"SELECT " + nested("(", "1", ")"), "SELECT " + repeat("(", deep), "SELECT " + list("1", "+", deep),
         "SELECT " + list("g", "+", deep) + " FROM generate_series(1, 2) g", "SELECT " + repeat("NOT ", deep) + "true",
         "SELECT " + repeat("- ", deep) + "1", "SELECT " + nested("CASE WHEN true THEN ", "1", " END"),
         "SELECT " + nested("(SELECT ", "1", ")"), "SELECT * FROM " + nested("(SELECT * FROM ", "pg_class", ") x"),
         nested("(", "SELECT 1", ")"), "SELECT " + nested("abs(", "1", ")"), "SELECT 1" + repeat("::int", deep),
         "SELECT " + list("'x'", "||", deep), "SELECT " + nested("ARRAY[", "1", "]"),
         "SELECT 1 WHERE " + nested("EXISTS (SELECT 1 WHERE ", "true", ")"), list("SELECT 1", " UNION ALL ", 20'000),
         "SELECT " + nested("coalesce(NULL, ", "1", ")")}) {
      const std::string state = stateOf(c.run(sql));
      CATCH_INFO(sql.substr(0, 60));
      CATCH_CHECK((state == "42601" || state == "54001"));
   }
   CATCH_CHECK(stateOf(c.run("SELECT '" + repeat("{", deep) + repeat("}", deep) + "'::int[]")) == "54000");
   CATCH_CHECK(stateOf(c.run("SELECT 'a' ~ '" + repeat("(", deep) + "a" + repeat(")", deep) + "'")) == "2201B");
   CATCH_CHECK(c.run("SELECT 'alive'") == "alive\n");
}

CATCH_TEST_CASE("lists of 100,000 are only long") {
   const Connection c;
   c.run("DROP TABLE IF EXISTS wire_long; CREATE TABLE wire_long (a int); INSERT INTO wire_long VALUES (1), (77777)");
   std::string numbers, conditions;
   for (size_t i = 0; i < deep; ++i) {
      numbers += (i ? "," : "") + std::to_string(i);
      conditions += (i ? " OR a = " : "a = ") + std::to_string(i);
   }
   CATCH_CHECK(c.run("SELECT count(*) FROM wire_long WHERE a IN (" + numbers + ")") == "2\n");
   CATCH_CHECK(c.run("SELECT count(*) FROM wire_long WHERE " + list("a = 1", " AND ", deep)) == "1\n");
   CATCH_CHECK(c.run("SELECT count(*) FROM (VALUES " + list("(1)", ",", deep) + ") v") == "100000\n");
   CATCH_CHECK(c.run(repeat("SELECT 1;", 5000)) == "1\n");
   if (!sharedServer().isForeign()) // PostgreSQL takes minutes for it
      CATCH_CHECK(c.run("SELECT count(*) FROM wire_long WHERE " + conditions) == "2\n");
   c.run("DROP TABLE wire_long");
}

CATCH_TEST_CASE("a statement of 100 MB") {
   const Connection c;
   CATCH_CHECK(c.run("SELECT length('" + std::string(100'000'000, 'x') + "')") == "100000000\n");
   CATCH_CHECK(c.run("SELECT 1 --" + std::string(100'000'000, 'x')) == "1\n");
}

CATCH_TEST_CASE("more columns, entries and parameters than there may be") {
   const Connection c;
   std::string columns, outputs;
   for (int i = 0; i < 1601; ++i)
      columns += (i ? ", c" : "c") + std::to_string(i) + " int";
   CATCH_CHECK(stateOf(c.run("CREATE TABLE wire_wide (" + columns + ")")) == "54011");
   columns.resize(columns.rfind(','));
   c.run("DROP TABLE IF EXISTS wire_wide");
   CATCH_CHECK(c.run("CREATE TABLE wire_wide (" + columns + ")") == "CREATE TABLE");
   CATCH_CHECK(c.run("INSERT INTO wire_wide VALUES (" + list("7", ",", 1600) + "); SELECT c0, c1599 FROM wire_wide") ==
               "7|7\n");
   CATCH_CHECK(c.run("DROP TABLE wire_wide") == "DROP TABLE");
   CATCH_CHECK(stateOf(c.run("SELECT " + list("1", ",", 1665))) == "54011");
   CATCH_CHECK(stateOf(c.run("SELECT concat(" + list("1", ",", 101) + ")")) == "54023");
   CATCH_CHECK(stateOf(c.run("SELECT $65536")) == "42P02");
   std::string sum = "SELECT count(*) FROM generate_series(1, 3) g WHERE g IN ($1";
   std::vector<const char*> values{"1"};
   for (int i = 2; i <= 65'535; ++i) {
      sum += ",$" + std::to_string(i);
      values.push_back(i % 2 ? "2" : "100");
   }
   CATCH_CHECK(describe(c.parameters(sum + ")", values).get()) == "2\n");
}

CATCH_TEST_CASE("rows that COPY cannot take: the code, the place, and no row kept") {
   const Connection c;
   c.run("DROP TABLE IF EXISTS wire_bad; CREATE TABLE wire_bad (a int NOT NULL, b varchar(3), d date)");
   struct Case {
      std::string options, data, state, message, context;
   };
   const Case cases[] = {
       {"", "1\tx\t\\N\n2\n", "22P04", "missing data for column \"b\"", "COPY wire_bad, line 2: \"2\""},
       {"", "1\tx\t\\N\ty\n", "22P04", "extra data after last expected column",
        "COPY wire_bad, line 1: \"1\tx\t\\N\ty\""},
       {"", "1\tx\t\\N\n2\tx\t\\N\nx\ty\t\\N\n", "22P02", "invalid input syntax for type integer: \"x\"",
        "COPY wire_bad, line 3, column a: \"x\""},
       {"", "1\tabcd\t\\N\n", "22001", "value too long for type character varying(3)",
        "COPY wire_bad, line 1, column b: \"abcd\""},
       {"", "1\ta\t2024-13-01\n", "22008", "date/time field value out of range: \"2024-13-01\"",
        "COPY wire_bad, line 1, column d: \"2024-13-01\""},
       {"", "99999999999\ta\t\\N\n", "22003", "value \"99999999999\" is out of range for type integer",
        "COPY wire_bad, line 1, column a: \"99999999999\""},
       {"", "\\N\ta\t\\N\n", "23502",
        "null value in column \"a\" of relation \"wire_bad\" violates not-null constraint",
        "COPY wire_bad, line 1: \"\\N\ta\t\\N\""},
       {"", "1\ta\t\\N\r\n2\ta\t\\N\n", "22P04", "literal newline found in data", "COPY wire_bad, line 2"},
       {"", "1\ta\t\\N\n2\ta\t\\N\r\n", "22P04", "literal carriage return found in data", "COPY wire_bad, line 2"},
       {"", "1\ta\\\n\t\\N\n2\\\n\ta\n", "22P04", "missing data for column \"d\"",
        "COPY wire_bad, line 2: \"2\\\n\ta\""},
       {"", "1\t\xff\t\\N\n", "22021", "invalid byte sequence for encoding \"UTF8\": 0xff", "COPY wire_bad, line 1"},
       {"(FORMAT csv)", "1,\"open,\n", "22P04", "unterminated CSV quoted field",
        "COPY wire_bad, line 1: \"1,\"open,\n\""},
       {"(FORMAT csv)", "1,\"a\nb\",\n2,\"o\npen,\nx", "22P04", "unterminated CSV quoted field",
        "COPY wire_bad, line 4: \"2,\"o\npen,\nx\""},
       {"(FORMAT csv)", "1,\"a\nb\",\n2,\"a\nb\",\n,\"c\nd\",\n", "23502",
        "null value in column \"a\" of relation \"wire_bad\" violates not-null constraint",
        "COPY wire_bad, line 5: \",\"c\nd\",\""},
       {"(FORMAT csv)", "1,\"a\nb\",,\"7\"\n", "22P04", "extra data after last expected column",
        "COPY wire_bad, line 1: \"1,\"a\nb\",,\"7\"\""},
       {"(FORMAT csv)", "1,a,\r\n2,b,\n", "22P04", "unquoted newline found in data", "COPY wire_bad, line 2"},
       {"(FORMAT csv, HEADER match)", "a,\"b\",c\n1,2,3\n", "22P04",
        "column name mismatch in header line field 3: got \"c\", expected \"d\"",
        "COPY wire_bad, line 1: \"a,\"b\",c\""},
       {"(HEADER match)", "a\tb\n1,2,3\n", "22P04", "wrong number of fields in header line: got 2, expected 3",
        "COPY wire_bad, line 1: \"a\tb\""},
       {"(FORMAT csv)", "1,a\n", "22P04", "missing data for column \"d\"", "COPY wire_bad, line 1: \"1,a\""},
       {"(FORMAT binary)", "no signature", "22P04", "COPY file signature not recognized", ""},
   };
   std::string many;
   // Lines are parsed a megabyte at a time, side by side: the first bad one counts, whatever is wrong with it.
   const auto manyLines = [&many](int bad, const char* text, int worse, const char* other) {
      many.clear();
      for (int line = 1; line <= 400'000; ++line)
         many += line == bad ? text : line == worse ? other : std::to_string(line) + "\tabc\t2020-01-01\n";
      return many;
   };
   std::vector<Case> all(std::begin(cases), std::end(cases));
   all.push_back({"", manyLines(200'001, "x\ty\t\\N\n", 200'002, "\\N\tz\t\\N\n"), "22P02",
                  "invalid input syntax for type integer: \"x\"", "COPY wire_bad, line 200001, column a: \"x\""});
   all.push_back({"", manyLines(150'001, "\\N\ty\t\\N\n", 390'001, "x\tz\t\\N\n"), "23502",
                  "null value in column \"a\" of relation \"wire_bad\" violates not-null constraint",
                  "COPY wire_bad, line 150001: \"\\N\ty\t\\N\""});
   for (const Case& one : all) {
      CATCH_INFO(one.data.substr(0, 100));
      CATCH_REQUIRE(c.run("COPY wire_bad FROM STDIN " + one.options) == "(copy in)");
      PQputCopyData(c.get(), one.data.data(), static_cast<int>(one.data.size()));
      PQputCopyEnd(c.get(), nullptr);
      while (const Result result = Result(PQgetResult(c.get()))) {
         CATCH_CHECK(describe(result.get()) == "ERROR " + one.state + " " + one.message);
         const char* context = PQresultErrorField(result.get(), PG_DIAG_CONTEXT);
         CATCH_CHECK(std::string(context ? context : "").starts_with(one.context));
      }
      CATCH_CHECK(c.run("SELECT count(*) FROM wire_bad") == "0\n");
   }
   c.run("DROP TABLE wire_bad");
}
