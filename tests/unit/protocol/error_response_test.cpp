#include "protocol/error_response.hpp"

#include <catch2/catch.hpp>
#include <map>

using namespace ouzel;
using namespace ouzel::protocol;

namespace {

/// The fields of an ErrorResponse or NoticeResponse by their codes.
std::map<char, std::string> fieldsOf(const std::string& message) {
   std::map<char, std::string> fields;
   for (size_t at = 5; message.at(at) != '\0';) { // behind the type and the length
      const char code = message[at];
      fields[code] = message.c_str() + at + 1;
      at += fields[code].size() + 2;
   }
   return fields;
}

} // namespace

CATCH_TEST_CASE("an error within a function has its query, position and context", "[error]") {
   SqlError error = SqlError(sqlstate::divisionByZero, "division by zero")
                        .internal("SELECT 1/0", 8)
                        .context("PL/pgSQL function f() line 3 at RETURN")
                        .dataType("money");
   error.addContext("SQL statement \"SELECT f()\"");
   std::string message;
   appendErrorResponse(message, error, ErrorSeverity::Error, ClientText(CharacterEncoding::Utf8));
   auto fields = fieldsOf(message);
   CATCH_CHECK(fields['q'] == "SELECT 1/0");
   CATCH_CHECK(fields['p'] == "8");
   CATCH_CHECK(fields.count('P') == 0);
   CATCH_CHECK(fields['W'] == "PL/pgSQL function f() line 3 at RETURN\nSQL statement \"SELECT f()\"");
   CATCH_CHECK(fields['d'] == "money");
}

CATCH_TEST_CASE("a notice has the fields that RAISE gives it", "[error]") {
   Notice notice{Notice::Severity::Notice, sqlstate::successfulCompletion, "m", "", "h"};
   notice.context = "PL/pgSQL function f() line 3 at RAISE";
   notice.tableName = "t";
   notice.dataTypeName = "money";
   std::string message;
   appendNoticeResponse(message, notice, ClientText(CharacterEncoding::Utf8));
   auto fields = fieldsOf(message);
   CATCH_CHECK(fields['W'] == notice.context);
   CATCH_CHECK(fields['F'] == "error_response_test.cpp");
   CATCH_CHECK(fields['t'] == "t");
   CATCH_CHECK(fields['d'] == "money");
   CATCH_CHECK(fields['H'] == "h");
   CATCH_CHECK(fields.count('D') == 0);
}

CATCH_TEST_CASE("an SQLSTATE is five digits and capital letters", "[error]") {
   CATCH_CHECK(SqlState::fromText("22012") == sqlstate::divisionByZero);
   CATCH_CHECK(SqlState::fromText("U0001")->text() == "U0001");
   for (const std::string_view wrong : {"", "2201", "220123", "2201a", "22-12"})
      CATCH_CHECK_FALSE(SqlState::fromText(wrong));
}
