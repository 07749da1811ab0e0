#include <catch2/catch.hpp>
#include <numeric>

#include "common/json/jsonb_text.hpp"
#include "common/json/path_access.hpp"
#include "tests/unit/storage/block_fixture.hpp"

// A scan gives the same values of a path from documents that are taken apart, and from documents that are whole.

using namespace ouzel;
using namespace ouzel::storage;
using namespace ouzel::storage::test;
using json::PathAccess;
using json::PathForm;
using json::PathTarget;

namespace {

constexpr PathTarget targets[] = {PathTarget::Boolean, PathTarget::Int2,    PathTarget::Int4, PathTarget::Int8,
                                  PathTarget::Float8,  PathTarget::Numeric, PathTarget::Date};

std::vector<PathAccess> accesses() {
   const std::vector<std::vector<std::string>> paths = {{"a"},
                                                        {"b"},
                                                        {"c"},
                                                        {"a", "b"},
                                                        {"c", "d", "e"},
                                                        {"rare7"},
                                                        {"a", "rare7"},
                                                        {"order"},
                                                        {"customer"},
                                                        {"customer", "name"},
                                                        {"customer", "name", "none"},
                                                        {"line"},
                                                        {"price"},
                                                        {"flag"},
                                                        {"day"},
                                                        {"none"},
                                                        {""}};
   std::vector<PathAccess> all;
   for (const std::vector<std::string>& keys : paths) {
      all.push_back({keys, PathForm::Json});
      all.push_back({keys, PathForm::Text});
      all.push_back({keys, PathForm::HasValue});
      all.push_back({keys, PathForm::KindName});
      all.push_back({keys, PathForm::HasKey});
      all.push_back({keys, PathForm::HasText});
      for (const PathTarget target : targets) {
         all.push_back({keys, PathForm::Value, target});
         all.push_back({keys, PathForm::Rest, target});
      }
   }
   all.push_back({{}, PathForm::HasValue});
   all.push_back({{}, PathForm::KindName});
   return all;
}

/// All values of the paths, read by random parts of random rows; NULL for rows that were not selected.
std::vector<std::vector<Value>> read(BlockFixture& fixture, const std::vector<PathAccess>& wanted, uint64_t seed) {
   fixture.scan->spec.paths.clear();
   for (const PathAccess& access : wanted)
      fixture.scan->spec.paths.push_back({0, access});
   std::mt19937_64 random(seed);
   RowGroupReader reader(fixture.scan);
   const uint32_t rows = fixture.block->header().rowCount;
   reader.open({.segment = 0, .rowGroup = 0, .rowCount = rows});
   std::vector<std::vector<Value>> values(wanted.size());
   for (uint32_t first = 0; first < rows;) {
      const uint32_t vectorEnd = (first / vectorRows + 1) * vectorRows;
      const uint32_t most = std::min(vectorEnd, rows) - first;
      const uint32_t count = random() % 2 == 0 ? most : 1 + static_cast<uint32_t>(random() % most);
      std::vector<RowIndex> list;
      const uint64_t every = 1 + (random() % 4 == 0 ? random() % 40 : random() % 3);
      for (uint32_t row = 0; row < count; ++row)
         if (random() % every == 0) list.push_back(static_cast<RowIndex>(row));
      const bool isSkipped = list.empty() || random() % 4 == 0; // as by zone maps
      for (size_t i = 0; i < wanted.size(); ++i) {
         values[i].resize(first + count, Value::null(wanted[i].resultType()));
         if (isSkipped) continue;
         const Selection selection = list.size() == count
                                         ? Selection::dense(count)
                                         : Selection::list(list.data(), static_cast<uint32_t>(list.size()));
         const Vector vector =
             reader.read(static_cast<uint32_t>(fixture.scan->spec.columns.size() + i), first, count, selection);
         CATCH_CHECK(vector.type == wanted[i].resultType());
         for (const RowIndex row : list)
            values[i][first + row] = Value::fromVector(vector, row);
      }
      first += count;
   }
   return values;
}

/// The rows whose value of a path lies in a range, found by random parts of random rows, and of which part each row
/// was.
std::vector<uint32_t> filter(BlockFixture& fixture, const PathAccess& access, int64_t lower, int64_t upper,
                             const std::vector<uint8_t>& isSelected, uint64_t seed) {
   fixture.scan->spec.paths = {{0, access}};
   std::mt19937_64 random(seed);
   RowGroupReader reader(fixture.scan);
   const uint32_t rows = fixture.block->header().rowCount;
   const auto column = static_cast<uint32_t>(fixture.scan->spec.columns.size());
   reader.open({.segment = 0, .rowGroup = 0, .rowCount = rows});
   CATCH_REQUIRE(reader.canFilterRange(column));
   std::vector<uint32_t> found;
   for (uint32_t first = 0; first < rows;) {
      const uint32_t vectorEnd = (first / vectorRows + 1) * vectorRows;
      const uint32_t most = std::min(vectorEnd, rows) - first;
      const uint32_t count = random() % 2 == 0 ? most : 1 + static_cast<uint32_t>(random() % most);
      std::vector<RowIndex> list(vectorRows + 8);
      uint32_t listed = 0;
      for (uint32_t row = 0; row < count; ++row) {
         list[listed] = static_cast<RowIndex>(row);
         listed += isSelected[first + row];
      }
      const Selection selection = listed == count ? Selection::dense(count) : Selection::list(list.data(), listed);
      // In place, as scans do it.
      const uint32_t kept = reader.filterRange(column, first, count, {lower, upper}, selection, list.data());
      for (uint32_t i = 0; i < kept; ++i)
         found.push_back(first + list[i]);
      first += count;
   }
   return found;
}

std::string described(const PathAccess& access) {
   return "." +
          std::accumulate(access.keys.begin(), access.keys.end(), std::string(),
                          [](auto all, const auto& key) { return all + "/" + key; }) +
          " form " + std::to_string(static_cast<int>(access.form)) + " target " +
          std::to_string(static_cast<int>(access.target));
}

} // namespace

CATCH_TEST_CASE("a path has the same values in whole documents and in their columns", "[json]") {
   const std::vector<PathAccess> wanted = accesses();
   const uint64_t seed = std::random_device()();
   CATCH_CAPTURE(seed);
   std::mt19937_64 random(seed);
   constexpr JsonExtraction extractions[] = {JsonExtraction::Shapes, JsonExtraction::Tiles, JsonExtraction::Global,
                                             JsonExtraction::None};
   uint32_t round = 0;
   for (const bool areOrders : {true, false})
      for (const uint32_t rows : {40u, 5'000u})
         for (const bool hasNulls : {false, true}) {
            std::vector<Value> documents;
            RandomDocuments any{random()};
            for (uint32_t i = 0; i < rows; ++i)
               documents.push_back(hasNulls && random() % 5 == 0 ? Value::null(PhysicalType::String)
                                   : areOrders                   ? orderDocument(random)
                                                                 : Value::string(any.next()));
            const JsonExtraction extraction = round < 4 ? extractions[round] : JsonExtraction::Shapes;
            ++round;
            BlockFixture apart(PhysicalType::String, documents, {{0}, extraction});
            BlockFixture whole(PhysicalType::String, documents);
            const uint64_t parts = random();
            const auto values = read(apart, wanted, parts), expected = read(whole, wanted, parts);
            for (size_t i = 0; i < wanted.size(); ++i) {
               CATCH_INFO(described(wanted[i]));
               CATCH_REQUIRE(values[i].size() == expected[i].size());
               size_t different = 0;
               for (size_t row = 0; row < values[i].size(); ++row)
                  different += !values[i][row].identical(expected[i][row]);
               CATCH_CHECK(different == 0);
            }
         }
}

CATCH_TEST_CASE("a range of a path has the same rows in whole documents and in their columns", "[json]") {
   const uint64_t seed = std::random_device()();
   CATCH_CAPTURE(seed);
   std::mt19937_64 random(seed);
   for (const uint32_t rows : {40u, 5'000u})
      for (const bool hasNulls : {false, true}) {
         std::vector<Value> documents;
         std::vector<uint8_t> isSelected;
         const uint64_t every = 1 + random() % 10;
         for (uint32_t i = 0; i < rows; ++i) {
            documents.push_back(hasNulls && random() % 5 == 0 ? Value::null(PhysicalType::String)
                                                              : orderDocument(random));
            isSelected.push_back(random() % every == 0);
         }
         BlockFixture apart(PhysicalType::String, documents, {{0}}), whole(PhysicalType::String, documents);
         for (const char* key : {"order", "customer", "line", "price", "flag", "day", "none"})
            for (const PathTarget target :
                 {PathTarget::Boolean, PathTarget::Int4, PathTarget::Int8, PathTarget::Date}) {
               const PathAccess access{{key}, PathForm::Value, target};
               CATCH_INFO(described(access));
               const auto bound = [&] { return static_cast<int64_t>(random() % 200'000) - 20'000; };
               const int64_t a = bound(), b = random() % 4 == 0 ? INT64_MAX : bound();
               const int64_t lower = std::min(a, b), upper = std::max(a, b);
               const uint64_t parts = random();
               CATCH_CHECK(filter(apart, access, lower, upper, isSelected, parts) ==
                           filter(whole, access, lower, upper, isSelected, parts));
            }
      }
}

CATCH_TEST_CASE("a path of typed form and its rest have every text once", "[json]") {
   RandomDocuments any{std::random_device()()};
   Arena arena;
   for (int i = 0; i < 20'000; ++i) {
      const std::string bytes = any.next();
      for (const char* key : {"a", "b", "c"})
         for (const PathTarget target : targets) {
            const auto found = json::find(json::JsonbView(bytes), std::vector<std::string>{key});
            if (!found) continue;
            alignas(16) char value[16];
            StringView rest, text;
            const bool isValue = json::give({{key}, PathForm::Value, target}, *found, value, arena);
            const bool isRest = json::give({{key}, PathForm::Rest, target}, *found, &rest, arena);
            const bool isText = json::give({{key}, PathForm::Text}, *found, &text, arena);
            CATCH_CHECK(isText == (found->kind() != json::Kind::Null));
            CATCH_CHECK(int{isValue} + int{isRest} == int{isText});
            if (isRest) CATCH_CHECK(rest.view() == text.view());
            if (!isText) continue;
            std::string expected;
            json::appendPlain(expected, *found);
            CATCH_CHECK(text.view() == expected);
            if (isValue && target == PathTarget::Int8) {
               int64_t number;
               std::memcpy(&number, value, sizeof number);
               CATCH_CHECK(std::to_string(number) == expected);
            }
         }
      arena.reset();
   }
}
