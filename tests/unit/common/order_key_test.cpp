#include "common/type/order_key.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "common/base_type/cube.hpp"
#include "common/type/array.hpp"
#include "common/type/blanks.hpp"
#include "common/type/text_codec.hpp"
#include "common/value/range_types.hpp"

using namespace ouzel;

namespace {

constexpr SqlType bpchar{oid::bpchar, -1, defaultCollation}, char3{oid::bpchar, 7, defaultCollation};

std::string keyOf(const SqlType& type, std::string_view value) {
   std::string key;
   appendOrderKey(key, type, value);
   return key;
}

std::string arrayOf(std::initializer_list<const char*> texts) {
   std::vector<Value> elements;
   for (const char* text : texts)
      elements.push_back(Value::string(text));
   return makeArray(oid::bpchar, elements);
}

} // namespace

CATCH_TEST_CASE("bpchar compares by its bytes only if it has a length") {
   CATCH_CHECK(hasOrderKey(bpchar));
   CATCH_CHECK_FALSE(hasOrderKey(char3));
   CATCH_CHECK(hasOrderKey({oid::bpcharArray, -1, invalidOid}));
   CATCH_CHECK_FALSE(hasOrderKey({oid::text, -1, invalidOid}));
}

CATCH_TEST_CASE("order keys have the order of the values") {
   const char* const texts[] = {"", " ", "a", "a ", "a   ", "a b", "ab", "ab ", "b"};
   const SqlType array{oid::bpcharArray, -1, invalidOid};
   for (const std::string_view a : texts)
      for (const std::string_view b : texts) {
         const int order = compareWithoutBlanks(a, b);
         CATCH_CHECK((keyOf(bpchar, a) < keyOf(bpchar, b)) == (order < 0));
         CATCH_CHECK((keyOf(bpchar, a) == keyOf(bpchar, b)) == (order == 0));
         const std::string keyA = keyOf(array, arrayOf({"x ", a.data()})),
                           keyB = keyOf(array, arrayOf({"x", b.data()}));
         CATCH_CHECK((keyA < keyB) == (order < 0));
         CATCH_CHECK((keyA == keyB) == (order == 0));
      }
}

CATCH_TEST_CASE("order keys of a vector keep its NULLs") {
   const StringView values[] = {StringView("a  "), StringView("none"), StringView("longer than twelve bytes  ")};
   ValidityWord validity = 0b101;
   Arena arena;
   const Vector keys = orderKeys(bpchar, Vector::flat(PhysicalType::String, values, &validity), 3, arena);
   CATCH_CHECK(keys.value<StringView>(0).view() == "a");
   CATCH_CHECK(keys.isNull(1));
   CATCH_CHECK(keys.value<StringView>(2).view() == "longer than twelve bytes");
}

CATCH_TEST_CASE("blanks come back by the length") {
   const auto padded = [](std::string_view text, int32_t typmod) {
      std::string out = "<";
      appendWithBlanks(out, text, typmod);
      return out;
   };
   CATCH_CHECK(padded("a", 7) == "<a  ");
   CATCH_CHECK(padded("é", 7) == "<é  ");
   CATCH_CHECK(padded("abc", 7) == "<abc");
   CATCH_CHECK(padded("a ", -1) == "<a ");
}

CATCH_TEST_CASE("order keys of ranges and multiranges have PostgreSQL's order") {
   // In order; those of one line are equal.
   const std::vector<std::vector<const char*>> ranges{{"empty", "(1,1)"},
                                                      {"(,0]"},
                                                      {"(,)"},
                                                      {"[1,1]", "[1.0,1.00]"},
                                                      {"[1,2)", "[1.0,2)"},
                                                      {"[1,2]"},
                                                      {"[1,)"},
                                                      {"(1,2)", "(1.00,2.0)"},
                                                      {"(1,2]"},
                                                      {"[2,2]"},
                                                      {"[NaN,NaN]"}};
   const std::vector<std::vector<const char*>> multiranges{{"{}", "{empty}"}, {"{(,0]}"},
                                                           {"{(,0],[1,1]}"},  {"{[1,2)}", "{[1.0,1.5),[1.5,2)}"},
                                                           {"{[1,2),(2,3)}"}, {"{[1,2]}"}};
   const auto check = [](const SqlType& type, const std::vector<std::vector<const char*>>& lines) {
      CATCH_CHECK(hasOrderKey(type));
      std::vector<std::pair<size_t, std::string>> keys;
      for (size_t line = 0; line < lines.size(); ++line)
         for (const char* text : lines[line])
            keys.emplace_back(line, keyOf(type, parseText(type, text, SessionFormat()).bytes));
      for (const auto& [lineA, keyA] : keys)
         for (const auto& [lineB, keyB] : keys) {
            CATCH_CHECK((keyA < keyB) == (lineA < lineB));
            CATCH_CHECK((keyA == keyB) == (lineA == lineB));
         }
   };
   check({rangeTypes[1].range, -1, invalidOid}, ranges);
   check({rangeTypes[1].multirange, -1, invalidOid}, multiranges);
}

namespace {

/// Few different coordinates, so that many cubes begin like another one.
std::string randomCube(std::mt19937& random, uint32_t dimensions, bool isPoint) {
   constexpr double coordinates[] = {-2.5, -1, -0.0, 0, 0, 1, 3, std::numeric_limits<double>::quiet_NaN()};
   const auto coordinate = [&] { return coordinates[random() % std::size(coordinates)]; };
   CubeCorners corners;
   for (uint32_t i = 0; i < dimensions; ++i)
      corners.add(coordinate(), coordinate());
   return corners.stored(isPoint);
}

} // namespace

CATCH_TEST_CASE("order keys of cubes have the order of cube_cmp()") {
   std::mt19937 random(8);
   const SqlType type{oid::cube, -1, invalidOid};
   for (int i = 0; i < 20000; ++i) {
      // Points of any dimensions, or boxes of the same ones.
      const bool arePoints = random() % 2 == 0;
      const uint32_t dimensions = random() % 4;
      const std::string a = randomCube(random, dimensions, arePoints),
                        b = randomCube(random, arePoints ? random() % 4 : dimensions, arePoints);
      const int order = compareCubes(CubeView(a), CubeView(b));
      const std::string keyA = keyOf(type, a), keyB = keyOf(type, b);
      CATCH_REQUIRE((keyA < keyB) == (order < 0));
      CATCH_REQUIRE((keyA == keyB) == (order == 0));
      CATCH_REQUIRE(order == -compareCubes(CubeView(b), CubeView(a)));
   }
}
