#include <catch2/catch.hpp>
#include <fstream>
#include <iostream>

#include "tests/unit/sql/bind/test_catalog.hpp"
#include "tests/unit/sql/program/program_support.hpp"

using namespace ouzel;
using namespace ouzel::sql;
using namespace ouzel::sql::program;

namespace {

constexpr std::string_view variables =
    "declare x int; y text; r record; c refcursor; v t; k constant int := 3; arr int[]; bc cursor for select 1; pc "
    "cursor (p int, q text) for select p, q; n numeric(10,2);";

std::string oneLine(std::string text) {
   for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2)
      text.replace(at, 1, "\\n");
   return text;
}

/// As scripts/record_programs.py writes what PostgreSQL answers.
std::string answerTo(const std::string& signature, const std::string& body, const BindContext& context) {
   const std::string begin = signature == "do" ? "do $body$" : "create " + signature + " language plpgsql as $body$";
   try {
      parseDefinition(begin + body + "$body$", context);
      return "ok";
   } catch (const SqlError& error) {
      std::string text = errorText(error);
      if (!error.contextText().empty()) text += " {" + error.contextText() + "}";
      return oneLine(text);
   }
}

} // namespace

// Recorded from PostgreSQL by scripts/record_programs.py.
CATCH_TEST_CASE("bodies of programs are accepted and refused as PostgreSQL does", "[program]") {
   TestCatalog catalog;
   catalog.run("create table t (a int, b text); create schema s; create table s.t2 (x numeric(10,2))");
   const BindContext context = catalog.context(nullptr);
   std::ifstream file(OUZEL_SOURCE_DIR "/tests/unit/sql/program/bodies.txt");
   CATCH_REQUIRE(file.is_open());
   std::string line, signature, body;
   size_t count = 0;
   while (std::getline(file, line)) {
      if (line.starts_with("## ")) {
         signature = line.substr(3);
         body.clear();
      } else if (line.starts_with("=> ")) {
         body.pop_back();
         if (const size_t at = body.find("<variables>"); at != std::string::npos)
            body.replace(at, std::string_view("<variables>").size(), variables);
         CATCH_INFO(signature << "\n" << body);
         CATCH_CHECK(answerTo(signature, body, context) == line.substr(3));
         ++count;
      } else {
         body += line + "\n";
      }
   }
   CATCH_CHECK(count > 1000);
}
