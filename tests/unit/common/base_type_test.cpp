#include <catch2/catch.hpp>
#include <random>
#include <tuple>
#include <vector>

#include "common/base_type/bit_string.hpp"
#include "common/base_type/cube.hpp"
#include "common/base_type/hstore.hpp"
#include "common/base_type/ltree.hpp"
#include "common/base_type/ltree_query.hpp"
#include "common/base_type/network_address.hpp"
#include "common/base_type/ts_query.hpp"
#include "common/base_type/ts_vector.hpp"
#include "common/error/sql_error.hpp"

using namespace ouzel;

namespace {

int signOf(int order) {
   return order < 0 ? -1 : order > 0 ? 1 : 0;
}

std::string textOf(const TypeForm& form, const StringView& value) {
   std::string text;
   form.appendText(text, &value);
   return text;
}

/// Few different bits and lengths about the ends of groups, so that many strings begin like another one.
std::string randomBits(std::mt19937& random) {
   constexpr uint32_t lengths[] = {0, 1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 129, 200};
   std::string bits(lengths[random() % std::size(lengths)], random() % 2 ? '1' : '0');
   if (!bits.empty() && random() % 2) bits[random() % bits.size()] ^= 1;
   return bits;
}

/// network_cmp() of PostgreSQL, by its definition.
int compareNetworks(const NetworkAddress& a, const NetworkAddress& b) {
   const auto three = [](auto x, auto y) { return x < y ? -1 : x > y ? 1 : 0; };
   if (a.isV6 != b.isV6) return a.isV6 ? 1 : -1;
   const uint32_t common = a.prefix < b.prefix ? a.prefix : b.prefix;
   for (uint32_t bit = 0; bit < common; ++bit) {
      const uint32_t shift = a.maxPrefix() - 1 - bit;
      if (const int found = three((a.address >> shift) & 1, (b.address >> shift) & 1); found != 0) return found;
   }
   if (a.prefix != b.prefix) return three(a.prefix, b.prefix);
   return three(a.address, b.address);
}

NetworkAddress randomAddress(std::mt19937& random) {
   NetworkAddress value;
   value.isV6 = random() % 2;
   value.prefix = static_cast<uint8_t>(random() % 3 ? random() % (value.maxPrefix() + 1) : value.maxPrefix());
   for (int i = 0; i < 16; ++i)
      value.address = (value.address << 8) | (random() % 3 ? 0 : random() % 256);
   value.address &= value.allBits();
   return value;
}

} // namespace

CATCH_TEST_CASE("The bytes of bit strings have the order of their bits") {
   std::mt19937 random(1);
   Arena arena;
   for (int i = 0; i < 20000; ++i) {
      const std::string a = randomBits(random), b = randomBits(random);
      const StringView x = parseBits(a, arena), y = parseBits(b, arena);
      CATCH_REQUIRE(signOf(x.compare(y)) == signOf(a.compare(b)));
      CATCH_REQUIRE((x == y) == (a == b));
      CATCH_REQUIRE(textOf(varbitForm, x) == a);
      CATCH_REQUIRE(BitView(x.view()).size() == a.size());
   }
}

CATCH_TEST_CASE("Bits can be read from any place of a bit string") {
   std::mt19937 random(2);
   Arena arena;
   std::string text;
   for (int i = 0; i < 300; ++i)
      text.push_back(random() % 2 ? '1' : '0');
   const StringView value = parseBits(text, arena);
   for (uint32_t from = 0; from < 400; ++from) {
      uint64_t expected = 0;
      for (uint32_t i = 0; i < 64; ++i)
         expected = (expected << 1) | (from + i < text.size() && text[from + i] == '1' ? 1 : 0);
      CATCH_REQUIRE(BitView(value.view()).bitsFrom(from) == expected);
   }
}

CATCH_TEST_CASE("Bit strings survive their binary form") {
   std::mt19937 random(3);
   Arena arena;
   for (int i = 0; i < 1000; ++i) {
      const StringView value = parseBits(randomBits(random), arena);
      std::string bytes;
      varbitForm.appendBinary(bytes, &value);
      StringView read;
      varbitForm.parseBinary(&read, bytes, -1, arena);
      CATCH_REQUIRE(read == value);
   }
}

CATCH_TEST_CASE("The bytes of network addresses have PostgreSQL's order") {
   std::mt19937 random(4);
   Arena arena;
   for (int i = 0; i < 20000; ++i) {
      const NetworkAddress a = randomAddress(random), b = randomAddress(random);
      const StringView x = networkAddressBytes(a, arena), y = networkAddressBytes(b, arena);
      CATCH_REQUIRE(signOf(x.compare(y)) == compareNetworks(a, b));
      const NetworkAddress read = readNetworkAddress(x.view());
      CATCH_REQUIRE(read.isV6 == a.isV6);
      CATCH_REQUIRE(read.prefix == a.prefix);
      CATCH_REQUIRE(bool(read.address == a.address));
   }
}

CATCH_TEST_CASE("Network addresses survive their text and binary forms") {
   std::mt19937 random(5);
   Arena arena;
   for (int i = 0; i < 5000; ++i) {
      const StringView value = networkAddressBytes(randomAddress(random), arena);
      StringView read;
      inetForm.parseText(&read, textOf(inetForm, value), -1, arena);
      CATCH_REQUIRE(read == value);
      std::string bytes;
      inetForm.appendBinary(bytes, &value);
      inetForm.parseBinary(&read, bytes, -1, arena);
      CATCH_REQUIRE(read == value);
   }
}

CATCH_TEST_CASE("The bytes of hstore have the order of hstore_cmp()") {
   Arena arena;
   // As PostgreSQL sorts them.
   const char* ascending[] = {
       R"()",     R"(""=>"")", R"(""=>NULL)",   R"(""=>1)", R"(1=>"")",  R"(a=>1b, ""=>2)", R"(a=>"")", R"(a=>NULL)",
       R"(a=>1)", R"(a=>1b2)", R"(a=>1, b=>2)", R"(a=>a)",  R"(aa=>"")", R"(aa=>NULL)",     R"(b=>2)"};
   StringView before;
   for (const char* text : ascending) {
      StringView value, read;
      hstoreForm.parseText(&value, text, -1, arena);
      CATCH_CHECK((*text == 0 || before.compare(value) < 0));
      hstoreForm.parseText(&read, textOf(hstoreForm, value), -1, arena);
      CATCH_CHECK(read == value);
      std::string bytes;
      hstoreForm.appendBinary(bytes, &value);
      hstoreForm.parseBinary(&read, bytes, -1, arena);
      CATCH_CHECK(read == value);
      before = value;
   }
}

namespace {

std::string randomOf(std::mt19937& random, std::string_view letters, size_t sizeMax) {
   std::string text(random() % (sizeMax + 1), ' ');
   for (char& c : text)
      c = letters[random() % letters.size()];
   return text;
}

/// ltree_cmp() by its definition: label by label.
int comparePaths(std::string_view a, std::string_view b) {
   const std::vector<std::string_view> left = ltreeLabels(a), right = ltreeLabels(b);
   return left < right ? -1 : left > right ? 1 : 0;
}

} // namespace

CATCH_TEST_CASE("The bytes of ltree have the order of ltree_cmp()") {
   std::mt19937 random(6);
   Arena arena;
   const auto path = [&] {
      for (;;) {
         StringView value;
         try {
            ltreeForm.parseText(&value, randomOf(random, "a0_Z..", 8), -1, arena);
            return value;
         } catch (const SqlError&) {
         }
      }
   };
   for (int i = 0; i < 5000; ++i) {
      const StringView a = path(), b = path();
      CATCH_REQUIRE(signOf(a.compare(b)) == comparePaths(a.view(), b.view()));
   }
}

CATCH_TEST_CASE("Types of ltree survive their text and binary forms, and refuse what is malformed") {
   std::mt19937 random(7);
   Arena arena;
   int accepted = 0;
   for (const TypeForm* form : {&ltreeForm, &lqueryForm, &ltxtqueryForm}) {
      for (int i = 0; i < 20000; ++i) {
         std::string bytes = "\1" + randomOf(random, "ab_.|&!*@%{1,}()\xc3\xa4 ", 9);
         if (random() % 16 == 0) bytes[0] = static_cast<char>(random() % 4);
         if (random() % 64 == 0) bytes.clear();
         try {
            StringView value, read;
            form->parseBinary(&value, bytes, -1, arena);
            ++accepted;
            form->parseText(&read, textOf(*form, value), -1, arena);
            CATCH_REQUIRE(read == value);
            std::string sent;
            form->appendBinary(sent, &value);
            form->parseBinary(&read, sent, -1, arena);
            CATCH_REQUIRE(read == value);
         } catch (const SqlError& error) {
            CATCH_REQUIRE((error.state() != sqlstate::internalError || bytes[0] != 1));
         }
      }
   }
   CATCH_CHECK(accepted > 1000);
}

CATCH_TEST_CASE("lquery finds the labels that its items repeat") {
   for (const auto& [pattern, path, expected] : {std::tuple{"*", "", true},
                                                 {"a{0}", "", true},
                                                 {"a", "", false},
                                                 {"a.*.b{2}", "a.b.b", true},
                                                 {"a.*.b{2}", "a.b", false},
                                                 {"*{2,3}.c", "a.b.c", true},
                                                 {"*{2,3}.c", "a.c", false},
                                                 {"!a{1,}.a", "b.c.a", true},
                                                 {"!a{1,}.a", "b.a.a", false},
                                                 {"*.a.*.a.*.a.*.b", "a.a.a.a.a.a.a.a", false},
                                                 {"a|B@{,2}.c*", "b.a.cd", true},
                                                 {"c_a%", "a_b_c", true},
                                                 {"c_a%", "a_b_cd", false}}) {
      CATCH_INFO(pattern << " and " << path);
      CATCH_CHECK(Lquery(pattern).matches(path) == expected);
   }
}

CATCH_TEST_CASE("Cubes survive their text and binary forms, and refuse what is malformed") {
   std::mt19937 random(9);
   Arena arena;
   const auto check = [&](StringView value) {
      StringView read;
      std::string sent;
      cubeForm.appendBinary(sent, &value);
      cubeForm.parseBinary(&read, sent, -1, arena);
      CATCH_REQUIRE(read == value);
      cubeForm.parseText(&read, textOf(cubeForm, value), -1, arena);
      CATCH_REQUIRE(textOf(cubeForm, read) == textOf(cubeForm, value));
   };
   int accepted = 0;
   for (int i = 0; i < 20000; ++i) {
      std::string bytes{random() % 2 ? '\0' : '\x80', 0, 0, static_cast<char>(random() % 3)};
      bytes += randomOf(random, std::string_view("\0\x3f\xf0\x7f\xf8\x80", 6), 33);
      if (random() % 2) bytes.resize(random() % 2 ? 4 + 8 * (bytes[3] % 3) : random() % 36);
      StringView value;
      try {
         if (random() % 2)
            cubeForm.parseBinary(&value, bytes, -1, arena);
         else
            cubeForm.parseText(&value, randomOf(random, "[(1,2.)]e-+nai ", 12), -1, arena);
         ++accepted;
      } catch (const SqlError& error) {
         CATCH_REQUIRE(error.state() != sqlstate::internalError);
         continue;
      }
      check(value);
   }
   CATCH_CHECK(accepted > 500);
}

namespace {

struct TestWord {
   std::string text;
   std::vector<TsPlace> places;
};

std::vector<TestWord> randomWords(std::mt19937& random) {
   constexpr const char* texts[] = {"a", "ab", "b", "ba", "c"};
   std::vector<TestWord> words;
   for (const char* text : texts) {
      if (random() % 2) continue;
      words.push_back({text, {}});
      for (uint16_t position = 1; position < 4; ++position)
         if (random() % 2) words.back().places.push_back({position, static_cast<uint8_t>(random() % 2)});
   }
   return words;
}

/// The bytes that PostgreSQL gives words and places.
size_t sizeInPostgres(const std::vector<TestWord>& words) {
   size_t size = 0;
   for (const TestWord& word : words) {
      size += word.text.size();
      if (!word.places.empty()) size += size % 2 + 2 + 2 * word.places.size();
   }
   return size + 4 * words.size();
}

/// tsvector_cmp() of PostgreSQL, by its definition.
int compareVectors(const std::vector<TestWord>& a, const std::vector<TestWord>& b) {
   const auto three = [](auto x, auto y) { return x < y ? -1 : x > y ? 1 : 0; };
   if (const int order = three(sizeInPostgres(a), sizeInPostgres(b))) return order;
   if (const int order = three(a.size(), b.size())) return order;
   for (size_t i = 0; i < a.size(); ++i) {
      if (const int order = three(b[i].places.empty() ? 0 : 1, a[i].places.empty() ? 0 : 1)) return order;
      if (const int order = three(a[i].text, b[i].text)) return order;
      if (const int order = three(b[i].places.size(), a[i].places.size())) return order;
      for (size_t j = 0; j < a[i].places.size(); ++j) {
         if (const int order = three(b[i].places[j].position, a[i].places[j].position)) return order;
         if (const int order = three(b[i].places[j].weight, a[i].places[j].weight)) return order;
      }
   }
   return 0;
}

} // namespace

CATCH_TEST_CASE("the bytes of tsvectors sort as tsvector_cmp() does, and read as they were written") {
   std::mt19937 random(11);
   for (int i = 0; i < 20'000; ++i) {
      const std::vector<TestWord> words[] = {randomWords(random), randomWords(random)};
      std::string bytes[2];
      for (size_t side = 0; side < 2; ++side) {
         TsVectorDraft draft;
         for (size_t j = words[side].size(); j-- > 0;) { // in any order
            const TestWord& word = words[side][j];
            draft.add(word.text);
            for (const TsPlace place : word.places)
               draft.add(word.text, place);
         }
         bytes[side] = draft.store();
      }
      CATCH_REQUIRE(signOf(bytes[0].compare(bytes[1])) == compareVectors(words[0], words[1]));
      const TsVectorView view(bytes[0]);
      CATCH_REQUIRE(view.size() == words[0].size());
      for (uint32_t j = 0; j < view.size(); ++j) {
         CATCH_REQUIRE(view.word(j).text() == words[0][j].text);
         CATCH_REQUIRE(view.lowerBound(words[0][j].text) == j);
         CATCH_REQUIRE(view.word(j).placeCount() == words[0][j].places.size());
         for (uint32_t k = 0; k < view.word(j).placeCount(); ++k)
            CATCH_REQUIRE(view.word(j).place(k) == words[0][j].places[k]);
      }
   }
}

CATCH_TEST_CASE("queries that differ in weights and prefixes have the same key") {
   Arena arena;
   const auto keyOf = [&](const char* text) {
      StringView value;
      tsqueryForm.parseText(&value, text, -1, arena);
      return std::string(tsQueryKey(value.view()));
   };
   CATCH_CHECK(keyOf("a:A & b") == keyOf("a:* & b"));
   CATCH_CHECK(keyOf("a & b") != keyOf("b & a"));
   CATCH_CHECK(keyOf("a <-> b") != keyOf("a <2> b"));
   CATCH_CHECK(keyOf("a") < keyOf("!a"));
   CATCH_CHECK(keyOf("") < keyOf("a"));
}
