#include <catch2/catch.hpp>
#include <random>

#include "common/error/sql_error.hpp"
#include "common/json/jsonb_text.hpp"
#include "common/memory/arena.hpp"
#include "common/number/decimal.hpp"
#include "storage/json/assembler.hpp"
#include "storage/json/shredder.hpp"
#include "tests/unit/storage/random_documents.hpp"

// Documents that are taken apart and put together again have the same bytes, whatever is in them.

using namespace ouzel;
using namespace ouzel::storage;
using json::JsonbView;
using json::JsonbWriter;
using test::RandomDocuments;

namespace {

ColumnSlice sliceOf(const std::vector<StringView>& documents, const ValidityWord* validity = nullptr) {
   return {PhysicalType::String, documents.data(), validity, static_cast<uint32_t>(documents.size())};
}

std::vector<StringView> viewsOf(const std::vector<std::string>& documents) {
   return {documents.begin(), documents.end()};
}

const void* valueAt(const ColumnSlice& slice, uint32_t row) {
   return static_cast<const char*>(slice.data) + size_t{row} * physicalSize(slice.type);
}

/// All documents again, through the bytes of the dictionary; empty for NULL.
std::vector<std::string> together(const ShreddedColumn& column, const ValidityWord* validity = nullptr) {
   std::string bytes;
   column.dictionary.serialize(bytes);
   const ShapeDictionary dictionary = ShapeDictionary::deserialize(bytes);
   const Assembler assembler(dictionary);
   std::vector<uint32_t> next(dictionary.leaves.size());
   uint32_t nextResidue = 0;
   JsonbWriter writer;
   std::vector<std::string> out;
   for (uint32_t row = 0; row < column.shapes.size(); ++row) {
      if (!isValidBit(validity, row)) {
         out.emplace_back();
         continue;
      }
      const auto shape = static_cast<uint32_t>(column.shapes[row]);
      std::vector<const void*> values;
      for (const uint32_t leaf : assembler.leavesOf(shape))
         values.push_back(valueAt(column.leafSlice(leaf), next[leaf]++));
      std::optional<JsonbView> residue;
      if (dictionary.shapes[shape].hasResidue) residue.emplace(column.residues[nextResidue++].view());
      assembler.assemble(shape, values, residue, writer);
      out.push_back(writer.finish());
   }
   for (uint32_t leaf = 0; leaf < next.size(); ++leaf)
      CATCH_CHECK(next[leaf] == dictionary.leaves[leaf].count);
   CATCH_CHECK(nextResidue == column.residues.size());
   return out;
}

std::string object(std::initializer_list<std::pair<std::string_view, int64_t>> members) {
   JsonbWriter writer;
   writer.beginObject();
   for (const auto& [key, value] : members) {
      writer.key(key);
      writer.number(decimal::fromInt64(value));
   }
   writer.endObject();
   return writer.finish();
}

} // namespace

CATCH_TEST_CASE("documents of random shapes come back byte for byte", "[json]") {
   const uint64_t seed = std::random_device()();
   CATCH_CAPTURE(seed);
   RandomDocuments random(seed);
   for (const uint32_t rows : {1u, 3u, 50u, 2'000u}) {
      std::vector<std::string> documents;
      for (uint32_t i = 0; i < rows; ++i)
         documents.push_back(random.next());
      const std::vector<StringView> views = viewsOf(documents);
      for (const ShredLimits limits :
           {ShredLimits{}, ShredLimits{1, 2048, 4096, 65'536}, ShredLimits{4, 3, 4096, 65'536},
            ShredLimits{2, 2048, 5, 65'536}, ShredLimits{1, 2048, 4096, 4}})
         CATCH_CHECK(together(shred(sliceOf(views), limits)) == documents);
   }
}

CATCH_TEST_CASE("documents of few shapes leave no residue", "[json]") {
   std::vector<std::string> documents;
   for (int64_t i = 0; i < 300; ++i)
      documents.push_back(i % 3 == 0 ? object({{"a", i}, {"b", 7}}) : object({{"c", i}}));
   const std::vector<StringView> views = viewsOf(documents);
   const ShreddedColumn column = shred(sliceOf(views));
   CATCH_CHECK(column.dictionary.shapes.size() == 2);
   CATCH_CHECK(column.dictionary.paths.size() == 4);
   CATCH_CHECK(column.residues.empty());
   CATCH_REQUIRE(column.dictionary.leaves.size() == 3);
   for (const Leaf& leaf : column.dictionary.leaves) {
      CATCH_CHECK(leaf.representation == Representation{PhysicalType::I64, 0});
      CATCH_CHECK(leaf.count == (column.dictionary.paths[leaf.node.path].key == "c" ? 200 : 100));
   }
   CATCH_CHECK(together(column) == documents);
}

CATCH_TEST_CASE("members that are rare stay in a residue, the others in columns", "[json]") {
   std::vector<std::string> documents;
   for (int64_t i = 0; i < 300; ++i)
      documents.push_back(object({{"a", i}, {"only" + std::to_string(i), 1}}));
   const std::vector<StringView> views = viewsOf(documents);
   const ShreddedColumn column = shred(sliceOf(views));
   CATCH_CHECK(column.dictionary.shapes.size() == 1);
   CATCH_REQUIRE(column.dictionary.leaves.size() == 1);
   CATCH_CHECK(column.dictionary.leaves[0].count == 300);
   CATCH_REQUIRE(column.residues.size() == 300);
   std::string text;
   json::appendText(text, JsonbView(column.residues[8].view()));
   CATCH_CHECK(text == "{\"only8\": 1}");
   CATCH_CHECK(together(column) == documents);
}

CATCH_TEST_CASE("numbers of one scale become integers, others stay decimals", "[json]") {
   Arena arena;
   for (const bool isMixed : {false, true}) {
      std::vector<std::string> documents;
      JsonbWriter writer;
      for (int32_t i = 0; i < 100; ++i) {
         writer.number(decimal::fromInt64(i, isMixed && i == 50 ? 3 : 2));
         documents.push_back(writer.finish());
      }
      const std::vector<StringView> views = viewsOf(documents);
      const ShreddedColumn column = shred(sliceOf(views));
      CATCH_REQUIRE(column.dictionary.leaves.size() == 1);
      CATCH_CHECK(column.dictionary.leaves[0].representation ==
                  (isMixed ? Representation{PhysicalType::Decimal, 0} : Representation{PhysicalType::I64, 2}));
      CATCH_CHECK(together(column) == documents);
   }
}

CATCH_TEST_CASE("NULL documents have no shape", "[json]") {
   std::vector<std::string> documents;
   std::vector<ValidityWord> validity(2, 0);
   for (uint32_t i = 0; i < 128; ++i) {
      setValidBit(validity.data(), i, i % 3 != 0);
      documents.push_back(i % 3 != 0 ? object({{"a", i}}) : std::string());
   }
   const std::vector<StringView> views = viewsOf(documents);
   CATCH_CHECK(together(shred(sliceOf(views, validity.data())), validity.data()) == documents);
}

CATCH_TEST_CASE("a damaged dictionary of shapes is refused or harmless", "[json]") {
   RandomDocuments random(7);
   std::vector<std::string> documents;
   for (uint32_t i = 0; i < 200; ++i)
      documents.push_back(random.next());
   const std::vector<StringView> views = viewsOf(documents);
   std::string bytes;
   shred(sliceOf(views), {2, 2048, 4096, 65'536}).dictionary.serialize(bytes);
   std::mt19937 mutate(3);
   uint32_t refused = 0;
   for (uint32_t i = 0; i < 2'000; ++i) {
      std::string damaged = bytes;
      damaged[mutate() % damaged.size()] = static_cast<char>(mutate());
      if (i % 4 == 0) damaged.resize(mutate() % damaged.size());
      try {
         const ShapeDictionary dictionary = ShapeDictionary::deserialize(damaged);
         const Assembler assembler(dictionary);
      } catch (const SqlError& error) {
         CATCH_CHECK(error.state() == sqlstate::dataCorrupted);
         ++refused;
      }
   }
   CATCH_CHECK(refused > 500);
}
