#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "executor/operator/sort/sort_buffer.hpp"
#include "tests/unit/executor/expression_support.hpp"

// A run that keeps the first rows of each partition has all rows that a rank by comparison finds, and few others.

namespace ouzel::executor {
namespace {

struct Keys {
   std::vector<int64_t> partitions, orders;
};

/// The rows that the run has of `keys`, as pairs of partition and order, sorted.
std::vector<std::pair<int64_t, int64_t>> kept(const Keys& keys, const PartitionLimit& limit) {
   MemoryLedger ledger(SIZE_MAX);
   Reservation memory(ledger);
   const SortRowLayout layout{{{PhysicalType::I64, 0}, {PhysicalType::I64, 0}},
                              SortKeyLayout({{PhysicalType::I64, false, false}, {PhysicalType::I64, true, false}}),
                              {UINT32_MAX, UINT32_MAX}};
   std::vector<std::pair<int64_t, int64_t>> rows;
   PartitionBounds bounds(layout.key, limit, memory);
   SortRun run(layout, memory);
   run.limitPartitions(&bounds);
   for (size_t from = 0; from < keys.orders.size(); from += 1000) {
      const size_t count = std::min<size_t>(1000, keys.orders.size() - from);
      Batch batch;
      batch.columns.push_back(Vector::flat(PhysicalType::I64, keys.partitions.data() + from, nullptr));
      batch.columns.push_back(Vector::flat(PhysicalType::I64, keys.orders.data() + from, nullptr));
      batch.setDense(static_cast<uint32_t>(count));
      run.append(batch, batch.columns);
   }
   run.seal();
   for (uint32_t row = 0; row < run.rowCount(); ++row) {
      std::pair<int64_t, int64_t> values;
      std::memcpy(&values.first, run.value(0, row), sizeof(int64_t));
      std::memcpy(&values.second, run.value(1, row), sizeof(int64_t));
      rows.push_back(values);
   }
   std::sort(rows.begin(), rows.end());
   return rows;
}

/// As kept(), but no row more than wanted.
std::vector<std::pair<int64_t, int64_t>> wanted(const Keys& keys, const PartitionLimit& limit) {
   std::map<int64_t, std::vector<int64_t>> orders;
   for (size_t i = 0; i < keys.orders.size(); ++i)
      orders[keys.partitions[i]].push_back(keys.orders[i]);
   std::vector<std::pair<int64_t, int64_t>> rows;
   for (auto& [partition, values] : orders) {
      std::sort(values.begin(), values.end(), std::greater<>());
      for (size_t i = 0; i < values.size(); ++i)
         if (i < limit.rows || (limit.withTies && values[i] == values[limit.rows - 1]))
            rows.emplace_back(partition, values[i]);
   }
   std::sort(rows.begin(), rows.end());
   return rows;
}

Keys randomKeys(size_t count, int64_t partitions, int64_t orders) {
   std::mt19937_64 random(static_cast<uint64_t>(partitions * 31 + orders));
   Keys keys;
   for (size_t i = 0; i < count; ++i) {
      keys.partitions.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(partitions)));
      keys.orders.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(orders)));
   }
   return keys;
}

} // namespace

CATCH_TEST_CASE("partition bounds: all wanted rows stay, and few others", "[sort]") {
   for (const int64_t partitions : {1, 9, 700, 200'000})
      for (const int64_t orders : {1, 50, 1'000'000})
         for (const uint64_t rows : {1, 10})
            for (const bool withTies : {false, true}) {
               CATCH_CAPTURE(partitions, orders, rows, withTies);
               const Keys keys = randomKeys(100'000, partitions, orders);
               const PartitionLimit limit{.rows = rows, .partitionKeys = 1, .withTies = withTies};
               const auto found = kept(keys, limit), expected = wanted(keys, limit);
               CATCH_CHECK(std::includes(found.begin(), found.end(), expected.begin(), expected.end()));
               if (partitions < 1000) CATCH_CHECK(found.size() <= 2 * expected.size() + 8192);
            }
}

CATCH_TEST_CASE("partition bounds: a partition is everything", "[sort]") {
   const SortKeyLayout layout({{PhysicalType::I64, true, false}});
   const PartitionLimit limit{.rows = 5, .partitionKeys = 0, .withTies = false};
   MemoryLedger ledger(SIZE_MAX);
   Reservation memory(ledger);
   PartitionBounds bounds(layout, limit, memory);
   std::vector<std::byte> key(layout.stride());
   const auto encode = [&](int64_t value) {
      const Vector vector = Vector::flat(PhysicalType::I64, &value, nullptr);
      layout.encode({&vector, 1}, Selection::dense(1), 0, 1, key.data());
      return key.data();
   };
   for (int64_t value = 0; value < 5000; ++value)
      CATCH_CHECK(bounds.count(encode(value)));
   CATCH_CHECK(bounds.isWorthDropping());
   CATCH_CHECK(bounds.partitionCount() == 1);
   const uint32_t partition = bounds.partitionOf(encode(0));
   bounds.keepFirst(partition, 5, encode(4995));
   CATCH_CHECK(!bounds.isWorthDropping());
   CATCH_CHECK(!bounds.count(encode(4995)));
   CATCH_CHECK(!bounds.count(encode(17)));
   CATCH_CHECK(bounds.count(encode(4996)));
}

} // namespace ouzel::executor
