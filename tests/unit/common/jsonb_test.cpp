#include "common/json/jsonb.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <vector>

#include "common/error/sql_error.hpp"
#include "common/json/jsonb_text.hpp"
#include "common/json/jsonb_writer.hpp"
#include "common/number/decimal.hpp"
#include "common/type/order_key.hpp"

using namespace ouzel;
using json::JsonbView;
using json::JsonbWriter;

namespace {

struct Member;

/// A document as a tree, written so that nothing in it can be wrong: what the bytes must mean.
struct Document {
   json::Kind kind = json::Kind::Null;
   bool boolean = false;
   std::string text; ///< of a string; of a number, its digits
   std::vector<Document> elements;
   std::vector<Member> members; ///< as they were given, with duplicates
};

struct Member {
   std::string first;
   Document second;
};

using Random = std::mt19937_64;

std::string randomText(Random& random) {
   constexpr std::string_view pieces[] = {
       "", "a", "b", "aa", "Ab", "\n", "\"", "\\", "\x01", "ä", "longer than twelve bytes"};
   std::string text;
   for (uint64_t n = random() % 3; n-- > 0;)
      text += pieces[random() % std::size(pieces)];
   if (random() % 50 == 0) text.append(random() % 70000, 'x');
   return text;
}

std::string randomNumber(Random& random) {
   constexpr const char* numbers[] = {
       "0", "1", "31", "32", "-1", "1.0", "1.00", "0.0", "-2.5", "100000000000000000001", "1e400"};
   return numbers[random() % std::size(numbers)];
}

Document randomDocument(Random& random, uint32_t depth) {
   Document document;
   document.kind = static_cast<json::Kind>(random() % (depth == 0 ? 4 : 6));
   document.boolean = random() % 2 != 0;
   if (document.kind == json::Kind::String) document.text = randomText(random);
   if (document.kind == json::Kind::Number) document.text = randomNumber(random);
   const uint64_t size = random() % 40 == 0 ? 300 : random() % 4;
   for (uint64_t i = 0; i < size; ++i) {
      if (document.kind == json::Kind::Array) document.elements.push_back(randomDocument(random, depth - 1));
      if (document.kind == json::Kind::Object)
         document.members.emplace_back(randomText(random), randomDocument(random, depth - 1));
   }
   return document;
}

void write(JsonbWriter& writer, const Document& document) {
   Arena arena;
   switch (document.kind) {
   case json::Kind::Null: return writer.null();
   case json::Kind::Boolean: return writer.boolean(document.boolean);
   case json::Kind::Number: return writer.number(decimal::parse(document.text, arena));
   case json::Kind::String: return writer.string(document.text);
   case json::Kind::Array:
      writer.beginArray();
      for (const Document& element : document.elements)
         write(writer, element);
      return writer.endArray();
   case json::Kind::Object:
      writer.beginObject();
      for (const auto& [key, value] : document.members) {
         writer.key(key);
         write(writer, value);
      }
      return writer.endObject();
   }
}

std::string bytesOf(const Document& document) {
   JsonbWriter writer;
   write(writer, document);
   return writer.finish();
}

struct KeyOrder {
   bool operator()(const std::string& a, const std::string& b) const {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
   }
};

bool same(const Document& document, const JsonbView& view) {
   if (document.kind != view.kind()) return false;
   Arena arena;
   switch (document.kind) {
   case json::Kind::Null: return true;
   case json::Kind::Boolean: return document.boolean == view.boolean();
   case json::Kind::Number: return decimal::parse(document.text, arena) == view.number();
   case json::Kind::String: return document.text == view.string();
   case json::Kind::Array:
      if (view.size() != document.elements.size()) return false;
      for (uint32_t i = 0; i < view.size(); ++i)
         if (!same(document.elements[i], view.element(i))) return false;
      return true;
   case json::Kind::Object: break;
   }
   std::map<std::string, const Document*, KeyOrder> members;
   for (const auto& [key, value] : document.members)
      members[key] = &value;
   if (view.size() != members.size()) return false;
   uint32_t i = 0;
   for (const auto& [key, value] : members) {
      if (view.key(i) != key || view.indexOf(key) != i || !same(*value, view.element(i))) return false;
      ++i;
   }
   return !view.find("no such key");
}

std::string text(std::string_view bytes) {
   std::string out;
   json::appendText(out, JsonbView(bytes));
   return out;
}

} // namespace

CATCH_TEST_CASE("jsonb values are read as they were written") {
   const uint64_t seed = 20261124;
   Random random(seed);
   for (uint32_t round = 0; round < 3000; ++round) {
      const Document document = randomDocument(random, 4);
      const std::string bytes = bytesOf(document);
      const JsonbView view(bytes);
      CATCH_INFO("seed " << seed << " round " << round);
      CATCH_REQUIRE(view.bytes() == bytes);
      CATCH_REQUIRE(same(document, view));
      // Bytes behind a value do not matter, and a value can be taken over as a whole.
      const std::string longer = bytes + "tail";
      CATCH_REQUIRE(JsonbView(longer).bytes() == bytes);
      JsonbWriter writer;
      writer.beginArray();
      writer.value(view);
      writer.null();
      writer.endArray();
      const std::string array = writer.finish();
      CATCH_REQUIRE(same(document, JsonbView(array).element(0)));
      CATCH_REQUIRE(text(array) == "[" + text(bytes) + ", null]");
   }
}

CATCH_TEST_CASE("damaged jsonb values are XX001 or some value, never more") {
   Random random(7);
   for (uint32_t round = 0; round < 3000; ++round) {
      std::string bytes = bytesOf(randomDocument(random, 3));
      for (uint64_t n = 1 + random() % 3; n-- > 0;)
         bytes[random() % bytes.size()] = static_cast<char>(random());
      if (random() % 2 == 0) bytes.resize(random() % (bytes.size() + 1));
      // The copy has no byte to spare, so that sanitizers see reads beyond it.
      const std::vector<char> exact(bytes.begin(), bytes.end());
      try {
         const JsonbView view(std::string_view(exact.data(), exact.size()));
         std::string out;
         json::appendPretty(out, view);
         json::compare(view, view);
         json::contains(view, view);
      } catch (const SqlError& error) {
         CATCH_REQUIRE((error.state() == sqlstate::dataCorrupted || error.state() == sqlstate::numericValueOutOfRange));
      }
   }
}

CATCH_TEST_CASE("jsonb text escapes what escape_json escapes") {
   JsonbWriter writer;
   writer.string(std::string_view("\b\f\n\r\t\"\\/\x1f\x7fä", 12));
   CATCH_CHECK(text(writer.finish()) == "\"\\b\\f\\n\\r\\t\\\"\\\\/\\u001f\x7fä\"");
}

CATCH_TEST_CASE("jsonb compares as PostgreSQL's B-tree orders it") {
   const auto number = [](const char* digits) {
      Document document;
      document.kind = json::Kind::Number;
      document.text = digits;
      return document;
   };
   const auto string = [](const char* value) {
      Document document;
      document.kind = json::Kind::String;
      document.text = value;
      return document;
   };
   const auto array = [](std::vector<Document> elements) {
      Document document;
      document.kind = json::Kind::Array;
      document.elements = std::move(elements);
      return document;
   };
   const auto object = [](std::vector<Member> members) {
      Document document;
      document.kind = json::Kind::Object;
      document.members = std::move(members);
      return document;
   };
   Document yes, no;
   yes.kind = no.kind = json::Kind::Boolean;
   yes.boolean = true;
   const std::vector<Document> ascending{
       array({}),
       Document{},
       string(""),
       string("B"),
       string("a"),
       string("aa"),
       number("-1"),
       number("1"),
       number("1.5"),
       no,
       yes,
       array({string("z")}),
       array({number("0")}),
       array({yes}),
       array({array({})}),
       array({number("0"), number("0")}),
       object({}),
       object({{"b", number("1")}}),
       object({{"b", number("2")}}),
       object({{"aa", Document{}}, {"b", Document{}}}),
   };
   std::vector<std::string> bytes;
   for (const Document& document : ascending)
      bytes.push_back(bytesOf(document));
   for (size_t i = 0; i < bytes.size(); ++i)
      for (size_t j = 0; j < bytes.size(); ++j) {
         CATCH_INFO(text(bytes[i]) << " and " << text(bytes[j]));
         CATCH_CHECK(json::compare(JsonbView(bytes[i]), JsonbView(bytes[j])) == (i < j ? -1 : i > j));
         CATCH_CHECK(json::equal(JsonbView(bytes[i]), JsonbView(bytes[j])) == (i == j));
      }
   const std::string one = bytesOf(array({number("1.0")})), same = bytesOf(array({number("1.00")}));
   CATCH_CHECK(one != same);
   CATCH_CHECK(json::equal(JsonbView(one), JsonbView(same)));
}

CATCH_TEST_CASE("order keys of jsonb have the order of the values") {
   Random random(5);
   std::vector<std::string> values, keys;
   for (uint32_t i = 0; i < 300; ++i) {
      values.push_back(bytesOf(randomDocument(random, i % 3)));
      appendJsonbKey(keys.emplace_back(), values.back());
   }
   for (size_t i = 0; i < values.size(); ++i)
      for (size_t j = 0; j < values.size(); ++j) {
         const JsonbView a(values[i]), b(values[j]);
         const int order = json::compare(a, b);
         const int keyOrder = keys[i] < keys[j] ? -1 : keys[i] > keys[j];
         if (order == keyOrder && json::equal(a, b) == (order == 0) && json::compare(b, a) == -order) continue;
         CATCH_FAIL(text(values[i]) << " and " << text(values[j]));
      }
}
