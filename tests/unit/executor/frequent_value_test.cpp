#include "executor/operator/aggregate/frequent_value.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "common/hash/hash.hpp"

// Tests that rows of a frequent value are left out, and that no value is lost.

using namespace ouzel;
using namespace ouzel::executor;

CATCH_TEST_CASE("rows of a frequent text are left out once one of them has passed", "[frequent_value]") {
   FrequentValue frequent;
   std::set<std::string> given, expected;
   uint32_t passed = 0;
   constexpr uint32_t batches = 50;
   for (uint32_t batch = 0; batch < batches; ++batch) {
      std::vector<std::string> texts;
      std::vector<StringView> values;
      for (uint32_t i = 0; i < batchRowsMax; ++i) {
         const uint64_t random = hashU64(batch * batchRowsMax + i);
         texts.push_back(random % 8 != 0   ? ""
                         : random % 3 == 0 ? "x"
                                           : "a text of many letters " + std::to_string(random));
      }
      for (const std::string& text : texts) {
         values.emplace_back(text);
         expected.insert(text);
      }
      const Vector vector = Vector::flat(PhysicalType::String, values.data(), nullptr);
      const Selection kept = frequent.drop(vector, Selection::dense(batchRowsMax));
      forEachRow(kept, [&](uint32_t row) { given.insert(texts[row]); });
      passed += kept.count();
   }
   CATCH_CHECK(given == expected);
   CATCH_CHECK(passed < batches * batchRowsMax / 4);
}

CATCH_TEST_CASE("NULLs pass, dictionaries and lists are read by position, and what is frequent may change",
                "[frequent_value]") {
   FrequentValue frequent;
   const int32_t entries[] = {7, 8, 9, 0};
   const ValidityWord validity = 0b0111; // the last entry is NULL
   std::set<std::pair<bool, int32_t>> given, expected;
   uint32_t passedLate = 0;
   for (uint32_t batch = 0; batch < 40; ++batch) {
      uint16_t codes[batchRowsMax];
      std::vector<RowIndex> list;
      const uint16_t usual = batch < 20 ? 0 : 1;
      for (uint32_t row = 0; row < batchRowsMax; ++row) {
         codes[row] = row % 10 == 3 ? 3 : row % 17 == 5 ? 2 : usual;
         if (row % 2 == 1 || batch % 2 == 0) list.push_back(static_cast<RowIndex>(row));
      }
      Vector vector = Vector::flat(PhysicalType::I32, entries, &validity);
      vector.encoding = Encoding::Dictionary;
      vector.codes = codes;
      vector.dictionarySize = 4;
      const Selection rows = Selection::list(list);
      const auto note = [&](auto& values) {
         return [&](uint32_t row) {
            values.insert({vector.isNull(row), vector.isNull(row) ? 0 : entries[codes[row]]});
         };
      };
      forEachRow(rows, note(expected));
      const Selection kept = frequent.drop(vector, rows);
      forEachRow(kept, note(given));
      uint32_t nulls = 0;
      forEachRow(kept, [&](uint32_t row) { nulls += vector.isNull(row); });
      CATCH_CHECK(nulls > batchRowsMax / 40);
      if (batch >= 30) passedLate += kept.count();
   }
   CATCH_CHECK(given == expected);
   CATCH_CHECK(passedLate < 10 * batchRowsMax / 4);
}
