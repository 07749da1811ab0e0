#include "storage/json/document_summary.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "common/hash/hash.hpp"
#include "common/json/jsonb_writer.hpp"
#include "tests/unit/storage/random_documents.hpp"

// What a summary says is exact, it has counted: in one go, merged from parts, and after some paths were left out.

using namespace ouzel;
using namespace ouzel::storage;
using json::JsonbView;
using test::RandomDocuments;

namespace {

using Keys = std::vector<std::string>;

/// Counts of all paths, found by walking.
void count(const JsonbView& value, const Keys& path, std::map<Keys, PathSummary>& found) {
   PathSummary& values = found[path];
   ++values.counts[static_cast<size_t>(nodeKindOf(value))];
   if (value.kind() == json::Kind::Number) values.addNumber(value.number());
   if (value.kind() != json::Kind::Object) return;
   for (uint32_t i = 0; i < value.size(); ++i) {
      Keys member = path;
      member.emplace_back(value.key(i));
      count(value.element(i), member, found);
   }
}

void check(const DocumentSummary& summary, const std::map<Keys, PathSummary>& found, bool isAll) {
   size_t exact = 0;
   for (const auto& [path, expected] : found) {
      const PathSummary values = summary.find(path);
      exact += values.isExact;
      if (!values.isExact) continue;
      for (uint32_t kind = 0; kind < nodeKindCount; ++kind)
         CATCH_CHECK(values.counts[kind] == expected.counts[kind]);
      CATCH_CHECK(values.areAlike == expected.areAlike);
      if (!values.areAlike || values.count(NodeKind::Number) == 0) continue;
      CATCH_CHECK(values.scale == expected.scale);
      CATCH_CHECK(values.smallest == expected.smallest);
      CATCH_CHECK(values.largest == expected.largest);
   }
   CATCH_CHECK((isAll ? exact == found.size() : exact > 0));
   const PathSummary none = summary.find(std::vector<std::string>{"no such key"});
   CATCH_CHECK(none.isExact == summary.isComplete());
   CATCH_CHECK(none.total() == 0);
}

} // namespace

CATCH_TEST_CASE("a summary of documents counts all that it says it does", "[json]") {
   const uint64_t seed = std::random_device()();
   CATCH_CAPTURE(seed);
   std::mt19937_64 random(seed);
   for (const uint32_t limit : {100'000u, 200u, 30u, 2u}) {
      std::map<Keys, PathSummary> found;
      DocumentSummary whole(limit), merged(limit);
      RandomDocuments documents(random());
      for (uint32_t part = 0; part < 6; ++part) {
         DocumentSummary own(100'000);
         for (uint32_t i = 0; i < 300; ++i) {
            const std::string bytes = documents.next();
            count(JsonbView(bytes), {}, found);
            whole.add(JsonbView(bytes));
            own.add(JsonbView(bytes));
         }
         merged.merge(part % 2 == 0 ? own.frequent(limit) : own);
      }
      CATCH_CHECK(whole.size() <= limit);
      CATCH_CHECK(merged.size() <= limit);
      CATCH_CHECK(merged.documentCount() == whole.documentCount());
      CATCH_CHECK(whole.isComplete() == (limit == 100'000));
      check(whole, found, limit == 100'000);
      check(merged, found, limit == 100'000);
      std::string bytes;
      merged.serialize(bytes);
      ByteReader reader(bytes);
      const DocumentSummary again = DocumentSummary::deserialize(reader);
      CATCH_CHECK(reader.atEnd());
      std::string bytesAgain;
      again.serialize(bytesAgain);
      CATCH_CHECK(bytes == bytesAgain);
      check(again, found, limit == 100'000);
   }
}

CATCH_TEST_CASE("a document that is there many times counts as so many", "[json]") {
   RandomDocuments any{std::random_device()()};
   for (int i = 0; i < 100; ++i) {
      const std::string document = any.next();
      DocumentSummary once, often;
      once.add(json::JsonbView(document));
      once.multiply(7);
      for (int k = 0; k < 7; ++k)
         often.add(json::JsonbView(document));
      std::string a, b;
      once.serialize(a);
      often.serialize(b);
      CATCH_CHECK(a == b);
   }
}

namespace {

PathSketch sketchOf(int64_t first, int64_t count) {
   PathSketch sketch;
   for (int64_t i = first; i < first + count; ++i)
      sketch.distinct.add(hashI64(i));
   sketch.count = static_cast<uint64_t>(count);
   return sketch;
}

DocumentSummary summaryWithSketches(int64_t first, int64_t count) {
   json::JsonbWriter writer;
   writer.beginObject();
   for (const char* key : {"a", "b", "c"}) {
      writer.key(key);
      writer.number(decimal::fromInt64(1));
   }
   writer.endObject();
   const std::string document = writer.finish();
   DocumentSummary summary;
   summary.add(json::JsonbView(document));
   summary.addSketch(std::vector<std::string>{"a"}, sketchOf(first, count));
   summary.addSketch(std::vector<std::string>{"b"}, sketchOf(first, count / 2));
   summary.addSketch(std::vector<std::string>{"unknown"}, sketchOf(first, count));
   return summary;
}

} // namespace

CATCH_TEST_CASE("a summary tells how many of a path's values differ", "[json]") {
   DocumentSummary summary = summaryWithSketches(0, 10'000);
   summary.merge(summaryWithSketches(5'000, 10'000));
   const auto sketchAt = [&](const char* key) { return summary.find(std::vector<std::string>{key}).sketch; };
   CATCH_REQUIRE(sketchAt("a"));
   CATCH_CHECK(sketchAt("a")->count == 20'000);
   CATCH_CHECK(std::abs(sketchAt("a")->distinct.estimate() - 15'000) < 1'500);
   CATCH_CHECK(sketchAt("b")->count == 10'000);
   CATCH_CHECK_FALSE(sketchAt("c"));

   std::string bytes, again;
   summary.serialize(bytes);
   ByteReader reader(bytes);
   summary = DocumentSummary::deserialize(reader);
   summary.serialize(again);
   CATCH_CHECK(bytes == again);
   CATCH_CHECK(reader.atEnd());

   summary.limitSketches(1);
   CATCH_CHECK(sketchAt("a"));
   CATCH_CHECK_FALSE(sketchAt("b"));
}
