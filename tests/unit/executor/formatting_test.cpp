#include "executor/function/date_time/formatting.hpp"

#include <catch2/catch.hpp>

#include "common/error/sql_error.hpp"
#include "common/number/decimal.hpp"
#include "common/text/number_text.hpp"
#include "common/type/date_time.hpp"
#include "tests/unit/recorded_cases.hpp"

using namespace ouzel;

namespace {

std::string evaluate(const test::RecordedCase& c) {
   const std::string &op = c.operation, &text = c.arguments[0], &pattern = c.arguments[1];
   const SessionFormat format = SessionFormat::fromSettings(c.arguments[2], "ISO, MDY", "postgres", 1, false);
   Arena arena;
   std::string out;
   double number = 0;
   if (op == "timestamp_to_char") return formatTimestamp(out, pattern, parseTimestamp(text, format)), out;
   if (op == "timestamptz_to_char") return formatTimestampTz(out, pattern, parseTimestampTz(text, format), format), out;
   if (op == "interval_to_char") return formatInterval(out, pattern, parseInterval(text, format)), out;
   if (op == "to_date") return appendDate(out, toDate(text, pattern), format), out;
   if (op == "to_timestamp") return appendTimestampTz(out, toTimestamp(text, pattern, format), format), out;
   if (op == "numeric_to_char") return formatDecimal(out, pattern, decimal::parse(text, arena)), out;
   if (op == "to_number") return pattern.empty() ? "NULL" : decimal::toString(toNumber(text, pattern, arena));
   if (op == "int8_to_char") return formatInteger(out, pattern, std::stoll(text)), out;
   parseDouble(text, number);
   if (op == "float8_to_char") return formatDouble(out, pattern, number), out;
   if (op == "float4_to_char") return formatFloat(out, pattern, static_cast<float>(number)), out;
   throwInternal("unknown operation " + op);
}

} // namespace

CATCH_TEST_CASE("templates print and read as PostgreSQL's do") {
   test::checkRecordedCases("formatting", evaluate);
}
