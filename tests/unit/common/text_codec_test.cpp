#include "common/type/text_codec.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "common/error/sql_error.hpp"
#include "common/number/decimal.hpp"
#include "common/type/array.hpp"
#include "common/type/binary_codec.hpp"
#include "common/type/date_time.hpp"
#include "tests/unit/recorded_cases.hpp"

using namespace ouzel;

namespace {

Oid typeNamed(const std::string& name) {
   if (name.size() > 2 && name.ends_with("[]")) return arrayTypeOf(typeNamed(name.substr(0, name.size() - 2)));
   static const std::map<std::string, Oid> types{{"bool", oid::boolean},
                                                 {"int2", oid::int2},
                                                 {"int4", oid::int4},
                                                 {"int8", oid::int8},
                                                 {"oid", oid::oid},
                                                 {"float4", oid::float4},
                                                 {"float8", oid::float8},
                                                 {"uuid", oid::uuid},
                                                 {"bytea", oid::bytea},
                                                 {"text", oid::text},
                                                 {"name", oid::name},
                                                 {"\"char\"", oid::character},
                                                 {"json", oid::json},
                                                 {"jsonb", oid::jsonb},
                                                 {"xid8", oid::xid8},
                                                 {"numeric", oid::numeric},
                                                 {"date", oid::date},
                                                 {"time", oid::time},
                                                 {"timetz", oid::timetz},
                                                 {"timestamp", oid::timestamp},
                                                 {"timestamptz", oid::timestamptz},
                                                 {"interval", oid::interval},
                                                 {"varchar", oid::varchar},
                                                 {"bpchar", oid::bpchar},
                                                 {"int2vector", oid::int2vector},
                                                 {"oidvector", oid::oidvector}};
   return types.at(name);
}

std::string evaluate(const test::RecordedCase& c) {
   const std::vector<std::string>& a = c.arguments;
   SessionFormat format;
   if (c.operation == "bytea_escape") {
      std::string out;
      appendBytea(out, parseBytea(a[0]), ByteaOutput::Escape);
      return out;
   }
   SqlType type{typeNamed(a[0]), -1, invalidOid};
   if (c.operation == "text") {
      format = SessionFormat::fromSettings(a[4], a[2], a[3], 1, false);
      return textOf(type, parseText(type, a[1], format), format);
   }
   if (c.operation == "typmod") {
      type.typmod = std::stoi(a[1]);
      return textOf(type, parseText(type, a[2], format), format);
   }
   if (c.operation == "binary") {
      const Value v = parseText(type, a[1], format);
      alignas(16) unsigned char place[16] = {};
      v.store(place);
      std::string bytes, hex;
      appendBinary(bytes, type, storedRepresentation(type), place, nullptr);
      CATCH_CHECK(parseBinary(type, bytes, nullptr).identical(v));
      for (size_t cut = 0; cut < bytes.size(); ++cut) // shorter messages are refused or mean something else
         try {
            parseBinary(type, std::string_view(bytes).substr(0, cut), nullptr);
         } catch (const SqlError&) {
         }
      appendBytea(hex, bytes, ByteaOutput::Hex);
      return hex;
   }
   throwInternal("unknown operation " + c.operation);
}

} // namespace

CATCH_TEST_CASE("values read and print as PostgreSQL's do") {
   test::checkRecordedCases("text", evaluate);
}

CATCH_TEST_CASE("a column prints what its values print") {
   const int64_t values[] = {150, -5, 0, 7};
   const ValidityWord validity[] = {0b1011};
   const Vector vector = Vector::flat(PhysicalType::I64, values, validity);
   std::string bytes;
   uint32_t ends[4];
   const SqlType type{oid::numeric, numericTypmod(15, 2), invalidOid};
   appendTextColumn(bytes, ends, type, {PhysicalType::I64, 2}, vector, Selection::dense(4), SessionFormat());
   CATCH_CHECK(bytes == "1.50-0.050.07");
   CATCH_CHECK((ends[0] == 4 && ends[1] == 9 && ends[2] == 9 && ends[3] == 13));
   const RowIndex rows[] = {1, 3};
   bytes.clear();
   appendTextColumn(bytes, ends, type, {PhysicalType::I64, 2}, vector, Selection::list(rows), SessionFormat());
   CATCH_CHECK(bytes == "-0.050.07");
}

CATCH_TEST_CASE("dates read back what they print, over the whole range") {
   std::mt19937_64 rng(3);
   const SessionFormat format;
   for (int i = 0; i < 20000; ++i) {
      const int32_t date =
          static_cast<int32_t>(dateMin + static_cast<int64_t>(rng() % (static_cast<int64_t>(dateEnd) - dateMin)));
      std::string text;
      appendDate(text, date, format);
      CATCH_REQUIRE(parseDate(text, format) == date);
      const uint64_t span = static_cast<uint64_t>(timestampEnd) - static_cast<uint64_t>(timestampMin);
      const int64_t timestamp = static_cast<int64_t>(static_cast<uint64_t>(timestampMin) + rng() % span);
      text.clear();
      appendTimestampTz(text, timestamp, format);
      CATCH_REQUIRE(parseTimestampTz(text, format) == timestamp);
      const Interval interval{static_cast<int64_t>(rng()) >> (rng() % 60), static_cast<int32_t>(rng()) >> (rng() % 30),
                              static_cast<int32_t>(rng()) >> (rng() % 30)};
      for (const IntervalStyle style : {IntervalStyle::Postgres, IntervalStyle::PostgresVerbose, IntervalStyle::Iso8601,
                                        IntervalStyle::SqlStandard}) {
         SessionFormat styled;
         styled.intervalStyle = style;
         text.clear();
         appendInterval(text, interval, styled);
         if (interval.months == INT32_MIN || interval.days == INT32_MIN || interval.micros == INT64_MIN) continue;
         CATCH_REQUIRE(parseInterval(text, styled) == interval);
      }
   }
}

CATCH_TEST_CASE("fields of COPY: the fast form agrees with the input function") {
   Arena arena;
   const SqlType price{oid::numeric, numericTypmod(15, 2), invalidOid};
   int64_t v = 0;
   CATCH_CHECK((parseScaled("123.45", 15, 2, v) && v == 12345));
   CATCH_CHECK((parseScaled("-0.5", 15, 2, v) && v == -50));
   CATCH_CHECK((parseScaled("007", 15, 2, v) && v == 700));
   CATCH_CHECK((parseScaled("9999999999999.99", 15, 2, v) && v == 999999999999999));
   CATCH_CHECK((parseScaled("0.05", 2, 2, v) && v == 5));
   CATCH_CHECK((parseScaled("999999999999999999", 18, 0, v) && v == 999999999999999999));
   for (const char* refused : {"", "-", ".", "1.234", "1e3", "10000000000000", " 1", "1 ", "NaN", "+1", "1.2.3", "abc"})
      CATCH_CHECK_FALSE(parseScaled(refused, 15, 2, v));
   int128 w = 0;
   CATCH_CHECK((parseScaled("12345678901234567890.123", 30, 3, w) && decimal::compareScaled(w, 3, 0, 0) > 0));
   std::mt19937_64 rng(4);
   for (int i = 0; i < 2000; ++i) {
      std::string text = std::to_string(static_cast<int64_t>(rng() % 100000000));
      if (rng() % 2) text.insert(rng() % text.size(), ".");
      if (rng() % 3 == 0) text.insert(0, "-");
      int64_t fast = 0;
      if (parseScaled(text, 15, 2, fast))
         CATCH_CHECK(fast == static_cast<int64_t>(decimal::toScaledColumn(decimal::parse(text, arena), price.typmod)));
   }
   CATCH_CHECK(fieldParser({oid::interval, -1, invalidOid}) == nullptr);
}
