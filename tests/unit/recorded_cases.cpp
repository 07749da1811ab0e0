#include "tests/unit/recorded_cases.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "common/error/sql_error.hpp"

namespace ouzel::test {

namespace {

std::string unescape(const std::string& text) {
   std::string out;
   for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\\' || i + 1 == text.size()) {
         out.push_back(text[i]);
         continue;
      }
      const char c = text[++i];
      out.push_back(c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c);
   }
   return out;
}

} // namespace

std::vector<RecordedCase> readRecordedCases(const std::string& family) {
   std::ifstream in(std::string(OUZEL_SOURCE_DIR "/tests/unit/data/") + family + ".tsv");
   CATCH_REQUIRE(in.good());
   std::vector<RecordedCase> cases;
   for (std::string line; std::getline(in, line);) {
      std::vector<std::string> fields;
      size_t start = 0;
      while (true) {
         const size_t tab = line.find('\t', start);
         fields.push_back(unescape(line.substr(start, tab - start)));
         if (tab == std::string::npos) break;
         start = tab + 1;
      }
      RecordedCase c;
      c.operation = fields.front();
      c.expected = fields.back();
      c.arguments.assign(fields.begin() + 1, fields.end() - 1);
      cases.push_back(std::move(c));
   }
   return cases;
}

void checkRecordedCases(const std::string& family, const std::function<std::string(const RecordedCase&)>& evaluate,
                        const std::function<bool(const RecordedCase&)>& isKnownDeviation) {
   const std::vector<RecordedCase> cases = readRecordedCases(family);
   CATCH_REQUIRE(!cases.empty());
   size_t wrong = 0;
   for (const RecordedCase& c : cases) {
      std::string got;
      try {
         got = evaluate(c);
      } catch (const SqlError& error) {
         got = "!" + std::string(error.state().text()) + " " + error.what();
      }
      if (got == c.expected || (isKnownDeviation && isKnownDeviation(c))) continue;
      if (++wrong > 60) continue;
      std::string call = c.operation;
      for (const std::string& a : c.arguments)
         call += " [" + a + "]";
      CATCH_FAIL_CHECK(family << ": " << call << "\n   expected " << c.expected << "\n   got      " << got);
   }
   CATCH_CHECK(wrong == 0);
}

} // namespace ouzel::test
