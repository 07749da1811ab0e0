#include "storage/chunk/document_order.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/unit/storage/block_fixture.hpp"

using namespace ouzel;
using namespace ouzel::storage;
using namespace ouzel::storage::test;

namespace {

std::string documentOf(const std::vector<std::string>& keys, int64_t value) {
   json::JsonbWriter writer;
   writer.beginObject();
   for (const std::string& key : keys) {
      writer.key(key);
      writer.number(decimal::fromInt64(value));
   }
   writer.endObject();
   return writer.finish();
}

std::vector<StringView> viewsOf(const std::vector<std::string>& documents) {
   return {documents.begin(), documents.end()};
}

} // namespace

CATCH_TEST_CASE("rows of documents with the same keys come together, in their order", "[json]") {
   std::vector<std::string> documents;
   for (int64_t i = 0; i < 1000; ++i)
      documents.push_back(i % 3 == 0 ? documentOf({"a"}, i) : documentOf({"b", "c"}, i));
   const std::vector<StringView> views = viewsOf(documents);
   std::vector<ValidityWord> validity(validityWords(1000), ~ValidityWord{0});
   setValidBit(validity.data(), 500, false);
   const ColumnSlice slice{PhysicalType::String, views.data(), validity.data(), 1000};
   const std::vector<uint32_t> order = orderByKeys(std::span(&slice, 1));
   CATCH_REQUIRE(order.size() == 1000);
   std::vector<uint32_t> expected;
   for (const auto& isOfKind : {+[](uint32_t row) { return row % 3 != 0 && row != 500; },
                                +[](uint32_t row) { return row % 3 == 0; }, +[](uint32_t row) { return row == 500; }})
      for (uint32_t row = 0; row < 1000; ++row)
         if (isOfKind(row)) expected.push_back(row);
   CATCH_CHECK(order == expected);

   std::vector<int32_t> numbers(1000);
   for (int32_t i = 0; i < 1000; ++i)
      numbers[static_cast<size_t>(i)] = i;
   SortedColumns sorted;
   const std::vector<std::vector<ColumnSlice>> groups{{slice, {PhysicalType::I32, numbers.data(), nullptr, 1000}}};
   const std::vector<ColumnSlice> columns = sorted.sort(groups, order);
   for (uint32_t row = 0; row < 1000; ++row) {
      CATCH_CHECK(columns[1].values<int32_t>()[row] == static_cast<int32_t>(order[row]));
      CATCH_CHECK(columns[0].isValid(row) == (order[row] != 500));
      CATCH_CHECK(columns[0].values<StringView>()[row] == views[order[row]]);
   }
}

CATCH_TEST_CASE("rows stay where documents of different keys lie apart or are one kind", "[json]") {
   std::vector<std::string> apart, alike, endless;
   for (int64_t i = 0; i < 2000; ++i) {
      apart.push_back(i / 100 % 2 == 0 ? documentOf({"a"}, i) : documentOf({"b"}, i));
      alike.push_back(documentOf({"a", "b"}, i));
      endless.push_back(documentOf({"k" + std::to_string(i)}, i));
   }
   const auto orderOf = [](const std::vector<std::string>& documents) {
      const std::vector<StringView> views = viewsOf(documents);
      const ColumnSlice slice{PhysicalType::String, views.data(), nullptr, static_cast<uint32_t>(views.size())};
      return orderByKeys(std::span(&slice, 1));
   };
   CATCH_CHECK(orderOf(apart).empty());
   CATCH_CHECK(orderOf(alike).empty());
   std::vector<uint32_t> order = orderOf(endless); // more kinds than are told apart
   CATCH_REQUIRE(order.size() == endless.size());
   std::sort(order.begin(), order.end());
   for (uint32_t row = 0; row < order.size(); ++row)
      CATCH_CHECK(order[row] == row);
}

CATCH_TEST_CASE("rows of a kind come together from several row groups", "[json]") {
   constexpr uint32_t rows = 2 * rowGroupRows + 1000;
   const std::string kinds[] = {documentOf({"a"}, 1), documentOf({"b", "c"}, 2)};
   std::vector<StringView> views;
   std::vector<int32_t> numbers(rows);
   for (uint32_t row = 0; row < rows; ++row) {
      views.emplace_back(kinds[row % 4 == 0 ? 0 : 1]);
      numbers[row] = static_cast<int32_t>(row);
   }
   std::vector<ValidityWord> validity(validityWords(rowGroupRows), ~ValidityWord{0});
   setValidBit(validity.data(), 7, false); // of the second row group's numbers
   std::vector<std::vector<ColumnSlice>> groups;
   std::vector<ColumnSlice> documents;
   for (uint32_t first = 0; first < rows; first += rowGroupRows) {
      const uint32_t count = std::min(rowGroupRows, rows - first);
      documents.push_back({PhysicalType::String, views.data() + first, nullptr, count});
      groups.push_back(
          {documents.back(),
           {PhysicalType::I32, numbers.data() + first, first == rowGroupRows ? validity.data() : nullptr, count}});
   }
   const std::vector<uint32_t> order = orderByKeys(documents);
   CATCH_REQUIRE(order.size() == rows);
   const uint32_t others = (rows + 3) / 4, frequent = rows - others;
   CATCH_CHECK(std::is_sorted(order.begin(), order.begin() + frequent));
   CATCH_CHECK(std::is_sorted(order.begin() + frequent, order.end()));
   SortedColumns sorted;
   for (uint32_t first = 0; first < rows; first += rowGroupRows) {
      const uint32_t count = std::min(rowGroupRows, rows - first);
      const std::vector<ColumnSlice> columns = sorted.sort(groups, std::span(order).subspan(first, count));
      bool areRight = columns[0].count == count && columns[1].count == count;
      for (uint32_t row = 0; row < count; ++row) {
         const uint32_t from = order[first + row];
         areRight = areRight && (from % 4 == 0) == (first + row >= frequent) &&
                    columns[1].values<int32_t>()[row] == numbers[from] &&
                    columns[1].isValid(row) == (from != rowGroupRows + 7) &&
                    columns[0].values<StringView>()[row] == views[from];
      }
      CATCH_CHECK(areRight);
   }
}
