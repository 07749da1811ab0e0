#include "executor/operator/window/row_starts.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "tests/unit/executor/expression_support.hpp"

namespace ouzel::executor {
namespace {

CATCH_TEST_CASE("row starts appended range by range are those of all rows", "[executor][window]") {
   MemoryLedger ledger{size_t{64} << 20};
   Reservation memory{ledger};
   std::mt19937 random(7);
   for (int round = 0; round < 50; ++round) {
      std::vector<uint32_t> starts; // of the groups
      RowStarts all(memory);
      uint32_t rows = 0;
      for (uint32_t range = 0; range < 12; ++range) {
         RowStarts part(memory);
         const auto count = static_cast<uint32_t>(random() % 300);
         const bool goesOn = rows > 0 && random() % 2 == 0;
         for (uint32_t row = 0; row < count; ++row) {
            const bool isStart = row == 0 || random() % (1 + random() % 150) == 0;
            part.add(isStart);
            if (isStart && (row > 0 || !goesOn)) starts.push_back(rows + row);
         }
         all.append(part, !goesOn);
         rows += count;
      }
      all.seal();
      CATCH_REQUIRE(all.rowCount() == rows);
      CATCH_REQUIRE(all.groupCount() == starts.size());
      starts.push_back(rows);
      for (uint32_t group = 0; group + 1 < starts.size(); ++group) {
         CATCH_REQUIRE(all.groupStart(group) == starts[group]);
         for (uint32_t row = starts[group]; row < starts[group + 1]; ++row) {
            const RowStarts::Group found = all.groupAround(row);
            CATCH_REQUIRE(all.groupOf(row) == group);
            CATCH_REQUIRE(found.from == starts[group]);
            CATCH_REQUIRE(found.end == starts[group + 1]);
            CATCH_REQUIRE(all.isStart(row) == (row == starts[group]));
         }
      }
   }
}

} // namespace
} // namespace ouzel::executor
