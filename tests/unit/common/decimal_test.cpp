#include <bit>
#include <catch2/catch.hpp>
#include <random>

#include "common/error/sql_error.hpp"
#include "common/hash/decimal_hash.hpp"
#include "common/text/number_text.hpp"
#include "common/value/sql_type.hpp"
#include "tests/unit/recorded_cases.hpp"

using namespace ouzel;

namespace {

std::string hex(const std::string& bytes) {
   std::string out = "\\x";
   for (const char c : bytes) {
      constexpr char digits[] = "0123456789abcdef";
      out.push_back(digits[static_cast<unsigned char>(c) >> 4]);
      out.push_back(digits[c & 15]);
   }
   return out;
}

std::string evaluate(const test::RecordedCase& c) {
   Arena arena;
   const std::string& op = c.operation;
   const auto text = [](StringView v) { return decimal::toString(v); };
   const auto number = [&](size_t i) { return decimal::parse(c.arguments[i], arena); };
   const auto integer = [&](size_t i) { return std::stoi(c.arguments[i]); };
   if (op == "parse") return text(number(0));
   if (op == "from_float8") return text(decimal::fromDouble(std::stod(c.arguments[0]), arena));
   if (op == "from_float4") return text(decimal::fromFloat(std::stof(c.arguments[0]), arena));
   if (op == "factorial") return text(decimal::factorial(integer(0), arena));
   const StringView a = number(0);
   if (op == "width_bucket") return std::to_string(decimal::widthBucket(a, number(1), number(2), integer(3)));
   if (op == "round") return text(decimal::round(a, integer(1), arena));
   if (op == "trunc") return text(decimal::truncate(a, integer(1), arena));
   if (op == "typmod") return text(decimal::applyTypmod(a, numericTypmod(integer(1), integer(2)), arena));
   if (op == "ceil") return text(decimal::ceil(a, arena));
   if (op == "floor") return text(decimal::floor(a, arena));
   if (op == "abs") return text(decimal::absolute(a, arena));
   if (op == "negate") return text(decimal::negate(a, arena));
   if (op == "sqrt") return text(decimal::sqrt(a, arena));
   if (op == "exp") return text(decimal::exp(a, arena));
   if (op == "ln") return text(decimal::ln(a, arena));
   if (op == "trim_scale") return text(decimal::trimScale(a, arena));
   if (op == "int2") return std::to_string(decimal::toInt2(a));
   if (op == "int4") return std::to_string(decimal::toInt4(a));
   if (op == "int8") return std::to_string(decimal::toInt8(a));
   std::string out;
   if (op == "float8") return appendDouble(out, decimal::toDouble(a)), out;
   if (op == "float4") return appendFloat(out, decimal::toFloat(a)), out;
   if (op == "numeric_send") {
      decimal::appendBinary(out, a);
      CATCH_CHECK(decimal::parseBinary(out, arena) == a);
      return hex(out);
   }
   const StringView b = number(1);
   if (op == "add") return text(decimal::add(a, b, arena));
   if (op == "subtract") return text(decimal::subtract(a, b, arena));
   if (op == "multiply") return text(decimal::multiply(a, b, arena));
   if (op == "divide") return text(decimal::divide(a, b, arena));
   if (op == "modulo") return text(decimal::modulo(a, b, arena));
   if (op == "div") return text(decimal::divideTruncated(a, b, arena));
   if (op == "gcd") return text(decimal::gcd(a, b, arena));
   if (op == "lcm") return text(decimal::lcm(a, b, arena));
   if (op == "power") return text(decimal::power(a, b, arena));
   if (op == "log") return text(decimal::log(a, b, arena));
   if (op == "compare") {
      const int order = decimal::compare(a, b);
      std::string keyA, keyB;
      decimal::appendSortKey(keyA, a);
      decimal::appendSortKey(keyB, b);
      CATCH_CHECK((keyA < keyB ? -1 : keyA > keyB) == order);
      CATCH_CHECK(decimal::equal(a, b) == (order == 0));
      if (order == 0) CATCH_CHECK(decimal::hash(a) == decimal::hash(b));
      return std::to_string(order);
   }
   throwInternal("unknown operation " + op);
}

} // namespace

CATCH_TEST_CASE("decimals compute as PostgreSQL's numeric does") {
   test::checkRecordedCases("decimal", evaluate);
}

CATCH_TEST_CASE("a decimal reads back what it printed, and up to 24 digits lie inline") {
   std::mt19937_64 rng(7);
   Arena arena;
   for (int i = 0; i < 5000; ++i) {
      std::string digits;
      const size_t count = 1 + rng() % 60;
      for (size_t d = 0; d < count; ++d)
         digits.push_back(static_cast<char>('0' + rng() % 10));
      if (digits[0] == '0') digits[0] = '1';
      const size_t scale = rng() % 20;
      if (scale != 0) {
         if (digits.size() <= scale) digits.insert(0, scale + 1 - digits.size(), '0');
         digits.insert(digits.size() - scale, 1, '.');
      }
      if (rng() % 2) digits.insert(0, 1, '-');
      const StringView v = decimal::parse(digits, arena);
      CATCH_REQUIRE(decimal::toString(v) == digits);
      CATCH_CHECK(decimal::scale(v) == static_cast<int32_t>(scale));
      if (count <= 24) CATCH_CHECK(v.isInline());
   }
}

CATCH_TEST_CASE("scaled integers and decimals of one value hash and compare alike") {
   std::mt19937_64 rng(8);
   Arena arena;
   for (int i = 0; i < 2000; ++i) {
      const int64_t v = static_cast<int64_t>(rng()) >> (rng() % 60);
      const int32_t scale = static_cast<int32_t>(rng() % 10), more = static_cast<int32_t>(rng() % 15);
      const StringView d = decimal::fromInt64(v, scale);
      const int128 wider =
          static_cast<int128>(v) * static_cast<int128>(decimal::powerOfTen(static_cast<uint32_t>(more)));
      const StringView e = decimal::fromInt128(wider, scale + more, arena);
      CATCH_CHECK(decimal::compare(d, e) == 0);
      CATCH_CHECK(decimal::hash(d) == decimal::hash(e));
      CATCH_CHECK(decimal::hashScaled(v, scale) == decimal::hash(e));
      CATCH_CHECK(decimal::hashScaled(wider, scale + more) == decimal::hash(e));
      CATCH_CHECK(decimal::toInt64(d, scale).value_or(0) == (v == INT64_MIN ? 0 : v));
   }
   CATCH_CHECK(decimal::sign(StringView()) == 0);
   CATCH_CHECK(decimal::toString(StringView()) == "0");
}

CATCH_TEST_CASE("floats print the shortest digits that are no tie between two floats") {
   const auto print = [](double v, int32_t extra = 1) {
      std::string out;
      appendDouble(out, v, extra);
      return out;
   };
   const auto printFloat = [](float v) {
      std::string out;
      appendFloat(out, v);
      return out;
   };
   CATCH_CHECK(print(5e22) == "4.9999999999999996e+22");
   CATCH_CHECK(print(0.1) == "0.1");
   CATCH_CHECK(print(1e20) == "1e+20");
   CATCH_CHECK(print(100000000000000) == "100000000000000");
   CATCH_CHECK(print(1e15) == "1e+15");
   CATCH_CHECK(print(0.0001) == "0.0001");
   CATCH_CHECK(print(0.00001234) == "1.234e-05");
   CATCH_CHECK(print(-0.0) == "-0");
   CATCH_CHECK(print(1.0 / 3, 0) == "0.333333333333333");
   CATCH_CHECK(print(123456.789) == "123456.789");
   CATCH_CHECK(printFloat(42049072.0f) == "4.2049072e+07");
   CATCH_CHECK(printFloat(999999.0f) == "999999");
   CATCH_CHECK(printFloat(1000000.0f) == "1e+06");
   std::mt19937_64 rng(9);
   for (int i = 0; i < 20000; ++i) {
      const double v = std::bit_cast<double>(rng());
      if (v != v) continue;
      double back = 0;
      CATCH_REQUIRE(parseDouble(print(v), back) == ParseStatus::Ok);
      CATCH_REQUIRE(std::bit_cast<uint64_t>(back) == std::bit_cast<uint64_t>(v));
   }
}
