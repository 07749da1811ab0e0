#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <thread>

#include "common/number/decimal.hpp"
#include "executor/kernel/compare.hpp"
#include "executor/operator/sort/key_ranks.hpp"
#include "executor/operator/sort/radix_sort.hpp"
#include "executor/operator/sort/sort_merge.hpp"
#include "executor/pipeline/order_bound.hpp"
#include "tests/unit/executor/expression_support.hpp"
#include "tests/unit/io/spill_support.hpp"

// Compares sort orders with a comparison of values one by one.

namespace ouzel::executor {
namespace {

using test::Column;
using Row = std::vector<Value>;

int compareValue(const Value& a, const Value& b, const SortColumn& column) {
   if (a.isNull || b.isNull) return a.isNull == b.isNull ? 0 : a.isNull == column.nullsFirst ? -1 : 1;
   alignas(16) unsigned char x[16], y[16];
   a.store(x);
   b.store(y);
   const int order = valueOrder(column.type)(x, y);
   return column.descending ? -order : order;
}

int compareRows(const Row& a, const Row& b, const std::vector<SortColumn>& columns) {
   for (size_t i = 0; i < columns.size(); ++i)
      if (const int order = compareValue(a[i], b[i], columns[i])) return order;
   return 0;
}

Value randomValue(PhysicalType type, std::mt19937& random, uint32_t distinct) {
   if (random() % 7 == 0) return Value::null(type);
   const auto v = static_cast<int64_t>(random() % distinct) - distinct / 2;
   Arena arena;
   switch (type) {
   case PhysicalType::Bool: return Value::boolean(v & 1);
   case PhysicalType::I16:
   case PhysicalType::I32:
   case PhysicalType::I64:
      return Value::integer(type,
                            random() % 20 == 0 && type == PhysicalType::I64 ? std::numeric_limits<int64_t>::min() : v);
   case PhysicalType::I128: return Value::wide(static_cast<int128>(v) << (random() % 2 ? 70 : 0));
   case PhysicalType::F32:
   case PhysicalType::F64:
      switch (random() % 10) {
      case 0: return Value::real(type, std::numeric_limits<double>::quiet_NaN());
      case 1: return Value::real(type, -0.0);
      case 2: return Value::real(type, -std::numeric_limits<double>::infinity());
      default: return Value::real(type, static_cast<double>(v) / 4);
      }
   case PhysicalType::Interval:
      return Value::ofInterval(
          {v * 86'400'000'000LL, static_cast<int32_t>(random() % 40), static_cast<int32_t>(random() % 3)});
   case PhysicalType::Decimal: {
      static const char* const special[] = {"NaN",
                                            "Infinity",
                                            "-Infinity",
                                            "0",
                                            "0.000",
                                            "1",
                                            "1.00",
                                            "-1.0",
                                            "123456789012345678901234567890.5",
                                            "123456789012345678901234567890.50",
                                            "123456789012345678901234567890.51",
                                            "-123456789012345678901234567890.51",
                                            "-123456789012345678901234567890.5",
                                            "1e60",
                                            "10000000000000000000000000000000000000000000000000000000000001",
                                            "-1e60",
                                            "1e-50",
                                            "0.00000000000000000000000000000000000000000000000000011"};
      const std::string text = random() % 3 == 0 ? special[random() % std::size(special)]
                                                 : std::to_string(v) + "." + std::to_string(random() % 100);
      return Value::string(std::string(decimal::parse(text, arena).view()), type);
   }
   case PhysicalType::String:
      switch (random() % 5) {
      case 0: return Value::string(std::string(random() % 20, 'a'));
      case 3: // the common prefix is longer than the part compared at once
         return Value::string(std::string(random() % 3 + 40, 'b') + std::string(random() % 2, '\0') +
                              std::to_string(v));
      case 1: return Value::string("a long common prefix" + std::to_string(v));
      case 2: return Value::string(std::string("a\0", random() % 3) + (random() % 2 ? "" : "b"));
      default: return Value::string(std::to_string(v));
      }
   }
   return Value::null(type);
}

struct Fixture {
   MemoryLedger ledger{size_t{1} << 30};
   Reservation memory{ledger};
};

/// The place of the rows when they are merged.
enum class Place : uint8_t { Memory, Both, Disk };

void check(const std::vector<SortColumn>& columns, uint32_t count, uint32_t distinct, uint32_t runs, uint32_t workers,
           uint32_t batchRows, uint64_t keep, Place place = Place::Memory, uint64_t rowsPerRange = 0) {
   Fixture fixture;
   io::test::SpillDirectories directories;
   io::SpillManager manager(directories.options);
   io::SpillSpace space(manager);
   std::vector<SpilledRun> spilled;
   std::mt19937 random(count * 31 + distinct);
   std::vector<Row> rows(count);
   for (uint32_t i = 0; i < count; ++i) {
      for (const SortColumn& column : columns)
         rows[i].push_back(randomValue(column.type, random, distinct));
      rows[i].push_back(Value::integer(PhysicalType::I64, i));
   }
   std::vector<Representation> stored;
   std::vector<uint32_t> keyColumns;
   for (uint32_t i = 0; i < columns.size(); ++i) {
      stored.push_back({columns[i].type, 0});
      keyColumns.push_back(isVariableSize(columns[i].type) ? i : UINT32_MAX);
   }
   stored.push_back({PhysicalType::I64, 0});
   SortBuffer buffer(SortRowLayout{stored, SortKeyLayout(columns), keyColumns});
   for (uint32_t run = 0; run < runs; ++run) {
      auto lane = std::make_unique<SortRun>(buffer.layout(), fixture.memory, keep);
      for (uint32_t from = run * batchRows; from < count; from += runs * batchRows) {
         const uint32_t end = std::min(count, from + batchRows);
         std::vector<Column> owned;
         Batch batch;
         std::vector<RowIndex> live; // every batch has a dead first row
         for (uint32_t c = 0; c < stored.size(); ++c) {
            std::vector<Value> values{Value::null(stored[c].physical)};
            for (uint32_t i = from; i < end; ++i)
               values.push_back(rows[i][c]);
            owned.push_back(c % 2 ? Column::dictionary(stored[c].physical, values)
                                  : Column::flat(stored[c].physical, values));
            batch.columns.push_back(owned.back().vector());
         }
         for (uint32_t i = 1; i <= end - from; ++i)
            live.push_back(static_cast<RowIndex>(i));
         batch.rowCount = end - from + 1;
         batch.selection = Selection::list(live);
         lane->append(batch, std::span<const Vector>(batch.columns).first(columns.size()));
      }
      if (place == Place::Memory || (place == Place::Both && run % 2 == 1)) {
         buffer.addRun(std::move(lane));
         continue;
      }
      lane->seal();
      const SortRun* pointer = lane.get();
      spilled.push_back(spillRuns(buffer.layout(), {&pointer, 1}, keep, space, fixture.memory, 2048, [] {}));
   }
   while (const uint32_t tasks = buffer.sortTasks(workers, fixture.memory, place == Place::Memory))
      for (uint32_t task = tasks; task-- > 0;)
         buffer.sortTask(task);
   buffer.finishSort();
   std::vector<Row> expected = rows;
   std::stable_sort(expected.begin(), expected.end(),
                    [&](const Row& a, const Row& b) { return compareRows(a, b, columns) < 0; });
   const size_t wanted = std::min<uint64_t>(count, keep);
   std::vector<bool> seen(count, false);
   size_t given = 0;
   const auto expect = [&](int64_t number, const auto& isNull) {
      CATCH_REQUIRE(!seen[static_cast<size_t>(number)]);
      seen[static_cast<size_t>(number)] = true;
      CATCH_REQUIRE(compareRows(rows[static_cast<size_t>(number)], expected[given++], columns) == 0);
      for (uint32_t c = 0; c < columns.size(); ++c)
         CATCH_REQUIRE(isNull(c) == rows[static_cast<size_t>(number)][c].isNull);
   };
   const auto numberColumn = static_cast<uint32_t>(columns.size());
   if (place == Place::Memory) {
      CATCH_REQUIRE(buffer.order().size() >= wanted);
      if (keep == SortRun::keepAll) CATCH_REQUIRE(buffer.order().size() == count);
      for (const RowAddress address : buffer.order().first(wanted)) {
         const SortRun& run = *buffer.runs()[address.run];
         int64_t number;
         std::memcpy(&number, run.value(numberColumn, address.row), 8);
         expect(number, [&](uint32_t c) { return run.isNull(c, address.row); });
      }
      return;
   }
   {
      MergeRanges ranges(buffer.layout(), fixture.memory);
      for (const SpilledRun& run : spilled)
         ranges.addRun(run, space, 4096);
      ranges.addResident(buffer);
      uint64_t offset = 0;
      if (keep == SortRun::keepAll && count % 2 == 1) {
         offset = random() % count;
         given = ranges.skip(offset);
         if (offset > count / 2 && count > 2100) CATCH_CHECK(given > 0);
         CATCH_REQUIRE(given <= offset);
      }
      if (rowsPerRange > 0) ranges.cut(rowsPerRange, offset - given);
      ranges.start();
      // Ranges are open at the same time, and read a little at a time: their pages overlap.
      std::vector<std::vector<int64_t>> numbers(ranges.count());
      std::vector<std::vector<bool>> nulls(ranges.count());
      std::vector<std::unique_ptr<SortMerge>> merges;
      for (uint32_t range = 0; range < ranges.count(); ++range)
         merges.push_back(ranges.open(range));
      for (bool isLast = false; !isLast;) {
         isLast = true;
         for (uint32_t range = 0; range < ranges.count(); ++range) {
            if (!merges[range]) continue;
            const auto some = merges[range]->next(1 + static_cast<uint32_t>(random() % 1000));
            if (some.empty()) {
               merges[range].reset();
               continue;
            }
            isLast = false;
            std::vector<int64_t> found(some.size());
            gatherRefs(some, numberColumn, PhysicalType::I64, found.data(), nullptr);
            numbers[range].insert(numbers[range].end(), found.begin(), found.end());
            for (const RowRef& row : some)
               for (uint32_t c = 0; c < columns.size(); ++c)
                  nulls[range].push_back(!isValidBit(row.piece->validity[c], row.row));
         }
      }
      if (given < offset) CATCH_REQUIRE(numbers[0].size() >= offset - given);
      size_t toSkip = offset - given;
      given = offset;
      for (uint32_t range = 0; range < ranges.count(); ++range)
         for (size_t i = 0; i < numbers[range].size() && given < wanted; ++i) {
            if (toSkip > 0) {
               --toSkip;
               continue;
            }
            expect(numbers[range][i], [&](uint32_t c) { return nulls[range][i * columns.size() + c]; });
         }
      CATCH_REQUIRE(given == wanted);
      if (place == Place::Disk && count > 100 * rowsPerRange && rowsPerRange > 0 && distinct > 10'000)
         CATCH_CHECK(ranges.count() > 10);
   }
   buffer.clear();
   CATCH_REQUIRE(fixture.memory.used() == 0);
}

CATCH_TEST_CASE("sort: every type in every direction", "[sort]") {
   for (uint32_t type = 0; type < physicalTypeCount; ++type)
      for (const bool descending : {false, true})
         for (const bool nullsFirst : {false, true}) {
            const SortColumn column{static_cast<PhysicalType>(type), descending, nullsFirst};
            CATCH_INFO("type " << type << " descending " << descending << " nulls first " << nullsFirst);
            check({column}, 500, 40, 2, 2, 2047, SortRun::keepAll);
            check(
                {column, {PhysicalType::String, !descending, nullsFirst}, {PhysicalType::I32, descending, nullsFirst}},
                700, 4, 3, 2, 100, SortRun::keepAll);
         }
}

CATCH_TEST_CASE("sort: sizes, lanes and batches", "[sort]") {
   const std::vector<SortColumn> columns{{PhysicalType::I32, false, false}, {PhysicalType::Decimal, true, true}};
   for (const uint32_t count : {0u, 1u, 2u, 63u, 64u, 65u, 2047u, 2048u, 2049u})
      for (const uint32_t batchRows : {2u, 2047u}) {
         check(columns, count, 10, 1, 1, batchRows, SortRun::keepAll);
         check(columns, count, 1000, 3, 2, batchRows, SortRun::keepAll);
         check(columns, count, 10, 2, 2, batchRows, 5);
      }
   check({}, 3000, 10, 2, 2, 1000, SortRun::keepAll);
   check({{PhysicalType::I64, false, false}}, 70'000, 1'000'000, 3, 4, 2047, SortRun::keepAll);
   check({{PhysicalType::String, true, false}}, 40'000, 500, 2, 4, 2047, SortRun::keepAll);
   // 8 bytes beside an address and a text, 16 bytes that do not hold the key, and one range of equal keys after
   // another.
   check({{PhysicalType::Bool, true, false}, {PhysicalType::String, false, false}, {PhysicalType::I64, true, true}},
         30'000, 50, 2, 4, 2047, SortRun::keepAll);
   check({{PhysicalType::F64, false, false}, {PhysicalType::I128, true, false}, {PhysicalType::I64, false, true}},
         30'000, 3, 2, 4, 2047, SortRun::keepAll);
   check({{PhysicalType::Bool, false, false}}, 70'000, 2, 2, 4, 2047, SortRun::keepAll);
}

CATCH_TEST_CASE("sort: texts that repeat are sorted by their ranks", "[sort]") {
   for (const bool descending : {false, true})
      for (const bool nullsFirst : {false, true})
         for (const uint32_t distinct : {2u, 300u, 100'000u}) // of the last, no text has a rank
            for (const Place place : {Place::Memory, Place::Both})
               check({{PhysicalType::String, descending, nullsFirst},
                      {PhysicalType::I32, false, false},
                      {PhysicalType::String, !descending, !nullsFirst},
                      {PhysicalType::Decimal, false, false}},
                     20'000, distinct, 3, 2, 2047, SortRun::keepAll, place);

   Fixture fixture;
   const SortRowLayout layout{
       {{PhysicalType::String, 0}, {PhysicalType::String, 0}},
       SortKeyLayout({{PhysicalType::String, false, false}, {PhysicalType::String, true, false}}),
       {0, 1}};
   for (const uint32_t rowCount : {100u, 50'000u})
      for (const uint32_t distinct : {700u, 5000u}) {
         std::vector<std::unique_ptr<SortRun>> runs(1);
         runs[0] = std::make_unique<SortRun>(layout, fixture.memory);
         for (uint32_t from = 0; from < rowCount; from += 1000) {
            std::vector<Value> first, second;
            for (uint32_t i = from; i < std::min(rowCount, from + 1000); ++i) {
               first.push_back(Value::string("a text that is long " + std::to_string(i % distinct)));
               second.push_back(i % 7 == 0 ? Value::null(PhysicalType::String) : Value::string(std::to_string(i % 3)));
            }
            const Column a = Column::flat(PhysicalType::String, first), b = Column::flat(PhysicalType::String, second);
            Batch rows;
            rows.columns = {a.vector(), b.vector()};
            rows.setDense(static_cast<uint32_t>(first.size()));
            runs[0]->append(rows, rows.columns);
         }
         runs[0]->seal();
         const auto ranks = KeyRanks::plan(layout, runs, 2, fixture.memory);
         CATCH_REQUIRE((ranks != nullptr) == (rowCount > 100));
         if (!ranks) continue;
         const std::vector<std::byte> before(runs[0]->key(0), runs[0]->key(0) + layout.key.width());
         for (uint32_t part = 0; part < ranks->parts(); ++part)
            ranks->collect(part);
         CATCH_REQUIRE(ranks->endCollect());
         for (uint32_t part = 0; part < ranks->parts(); ++part)
            ranks->replace(part);
         const SortKeyLayout ranked = ranks->endReplace();
         // With few texts both columns are exact. Of 5000, the first column keeps its texts.
         CATCH_CHECK(ranked.columns()[0].isExact == (distinct == 700));
         CATCH_CHECK(ranked.columns()[1].isExact);
         CATCH_CHECK(KeyPacking(ranked, runs[0]->spread()).isEnough() == (distinct == 700));
         CATCH_CHECK((std::memcmp(before.data(), runs[0]->key(0), ranked.columns()[0].end) == 0) == (distinct == 5000));
      }
   const SortRowLayout onlyText{
       {{PhysicalType::String, 0}}, SortKeyLayout({{PhysicalType::String, false, false}}), {0}};
   CATCH_CHECK(KeyRanks::plan(onlyText, {}, 2, fixture.memory) == nullptr);
}

CATCH_TEST_CASE("sort: entries by digits of their keys", "[sort]") {
   using Entry = WideEntry<uint32_t>;
   std::mt19937_64 random(7);
   for (const size_t count : {0, 1, 24, 25, 1000, 70'000})
      for (const uint64_t mask : {~uint64_t{0}, uint64_t{0xff}, uint64_t{0xf000'0000'0000'0001}, uint64_t{0}}) {
         std::vector<Entry> entries(count), scratch(count);
         for (uint32_t i = 0; i < count; ++i)
            entries[i] = {{random() & mask, random() & ~mask & 0xffff'0000'0000'ffff}, i};
         std::vector<Entry> expected = entries;
         std::stable_sort(expected.begin(), expected.end(), keyBefore<Entry>);
         radixSort(entries.data(), scratch.data(), count);
         for (size_t i = 0; i < count; ++i)
            CATCH_REQUIRE(entries[i].address == expected[i].address);
      }
}

CATCH_TEST_CASE("sort: rows with equal keys stay in the order of their lane", "[sort]") {
   Fixture fixture;
   const SortRowLayout layout{
       {{PhysicalType::I32, 0}}, SortKeyLayout({{PhysicalType::I32, false, false}}), {UINT32_MAX}};
   SortBuffer buffer(layout);
   auto run = std::make_unique<SortRun>(layout, fixture.memory);
   for (uint32_t batch = 0; batch < 60; ++batch) {
      std::vector<Value> values;
      for (uint32_t i = 0; i < 1000; ++i)
         values.push_back(Value::integer(PhysicalType::I32, i % 7 == 0 ? 3 : 4));
      const Column column = Column::flat(PhysicalType::I32, values);
      Batch rows;
      rows.columns.push_back(column.vector());
      rows.setDense(1000);
      run->append(rows, rows.columns);
   }
   buffer.addRun(std::move(run));
   while (const uint32_t tasks = buffer.sortTasks(4, fixture.memory, true))
      for (uint32_t task = 0; task < tasks; ++task)
         buffer.sortTask(task);
   const auto order = buffer.order();
   for (size_t i = 1; i < order.size(); ++i)
      CATCH_REQUIRE((order[i - 1].row % 1000 % 7 == 0) >= (order[i].row % 1000 % 7 == 0));
   for (size_t i = 1; i < order.size(); ++i)
      if ((order[i - 1].row % 1000 % 7 == 0) == (order[i].row % 1000 % 7 == 0))
         CATCH_REQUIRE(order[i - 1].row < order[i].row);
}

CATCH_TEST_CASE("sort: top n", "[sort]") {
   for (const uint64_t keep : {1, 10, 2048, 5000})
      for (const uint32_t distinct : {1u, 20u, 100'000u}) {
         check({{PhysicalType::I64, true, false}}, 12'000, distinct, 2, 2, 1000, keep);
         check({{PhysicalType::String, false, true}, {PhysicalType::I64, false, false}}, 12'000, distinct, 2, 2, 1000,
               keep);
      }
}

CATCH_TEST_CASE("sort: runs on disk give the same order", "[sort]") {
   for (const Place place : {Place::Both, Place::Disk}) {
      for (uint32_t type = 0; type < physicalTypeCount; ++type)
         for (const bool descending : {false, true}) {
            const SortColumn column{static_cast<PhysicalType>(type), descending, !descending};
            CATCH_INFO("type " << type << " descending " << descending);
            check({column}, 900, 40, 5, 2, 100, SortRun::keepAll, place);
            check({column}, 2501, 4000, 5, 2, 100, SortRun::keepAll, place);
            check(
                {column, {PhysicalType::String, !descending, descending}, {PhysicalType::I32, descending, descending}},
                700, 4, 3, 2, 100, SortRun::keepAll, place);
         }
      for (const uint32_t count : {0u, 1u, 2u, 64u, 2049u})
         check({{PhysicalType::Decimal, true, true}}, count, 10, 3, 2, 64, SortRun::keepAll, place);
      check({{PhysicalType::String, false, false}}, 40'000, 500, 9, 2, 2047, SortRun::keepAll, place);
      check({{PhysicalType::I64, false, false}}, 20'000, 1000, 4, 2, 2047, 300, place);
      check({}, 3000, 10, 3, 2, 1000, SortRun::keepAll, place);
      check({}, 3000, 10, 3, 2, 1000, SortRun::keepAll, place, 50);
      // In ranges of keys.
      for (uint32_t type = 0; type < physicalTypeCount; ++type)
         for (const bool descending : {false, true})
            for (const uint64_t rowsPerRange : {1u, 60u, 1000u}) {
               const SortColumn column{static_cast<PhysicalType>(type), descending, !descending};
               CATCH_INFO("type " << type << " descending " << descending << " rows per range " << rowsPerRange);
               check({column}, 900, 40, 5, 2, 100, SortRun::keepAll, place, rowsPerRange);
               check({column}, 2501, 4000, 5, 2, 100, SortRun::keepAll, place, rowsPerRange);
               check({column, {PhysicalType::String, !descending, descending}}, 700, 4, 3, 2, 100, SortRun::keepAll,
                     place, rowsPerRange);
            }
      for (const uint32_t distinct : {1u, 2u, 100'000u})
         check({{PhysicalType::I64, false, false}}, 30'000, distinct, 7, 2, 2047, SortRun::keepAll, place, 200);
   }
}

CATCH_TEST_CASE("sort: values larger than a page of the spill space", "[sort]") {
   Fixture fixture;
   io::test::SpillDirectories directories;
   io::SpillManager manager(directories.options);
   io::SpillSpace space(manager);
   const SortRowLayout layout{{{PhysicalType::String, 0}}, SortKeyLayout({{PhysicalType::String, false, false}}), {0}};
   std::vector<SpilledRun> spilled;
   std::vector<std::string> expected;
   for (uint32_t r = 0; r < 2; ++r) {
      SortRun run(layout, fixture.memory);
      for (const size_t size : {size_t{3}, size_t{100'000}, io::SpillSpace::pageBytesMax + 77}) {
         expected.push_back(std::string(40, 'x') + std::string(size, static_cast<char>('a' + r)));
         const Column column = Column::flat(PhysicalType::String, {Value::string(expected.back())});
         Batch batch;
         batch.columns.push_back(column.vector());
         batch.setDense(1);
         run.append(batch, batch.columns);
      }
      run.seal();
      const SortRun* pointer = &run;
      spilled.push_back(spillRuns(layout, {&pointer, 1}, SortRun::keepAll, space, fixture.memory, 256 << 10, [] {}));
   }
   std::sort(expected.begin(), expected.end());
   MergeRanges ranges(layout, fixture.memory);
   for (const SpilledRun& run : spilled)
      ranges.addRun(run, space, 256 << 10);
   ranges.start();
   const auto merge = ranges.open(0);
   size_t at = 0;
   for (auto rows = merge->next(10); !rows.empty(); rows = merge->next(10))
      for (const RowRef& row : rows) {
         StringView view;
         gatherRefs({&row, 1}, 0, PhysicalType::String, &view, nullptr);
         CATCH_REQUIRE(view.view() == expected[at++]);
      }
   CATCH_REQUIRE(at == expected.size());
}

namespace {

/// A run on disk of rows with one column, the key.
SpilledRun spillKeys(const SortRowLayout& layout, Reservation& memory, io::SpillSpace& space,
                     std::span<const int64_t> keys) {
   SortRun run(layout, memory);
   for (size_t from = 0; from < keys.size(); from += 1000) {
      const auto some = keys.subspan(from, std::min<size_t>(1000, keys.size() - from));
      Batch batch;
      batch.columns.push_back(Vector::flat(PhysicalType::I64, some.data(), nullptr));
      batch.setDense(static_cast<uint32_t>(some.size()));
      run.append(batch, batch.columns);
   }
   run.seal();
   const SortRun* pointer = &run;
   return spillRuns(layout, {&pointer, 1}, SortRun::keepAll, space, memory, 2048, [] {});
}

} // namespace

CATCH_TEST_CASE("sort: ranges merged by several threads", "[sort]") {
   Fixture fixture;
   io::test::SpillDirectories directories;
   io::SpillManager manager(directories.options);
   io::SpillSpace space(manager);
   const SortRowLayout layout{
       {{PhysicalType::I64, 0}}, SortKeyLayout({{PhysicalType::I64, true, false}}), {UINT32_MAX}};
   std::vector<SpilledRun> spilled;
   std::vector<int64_t> expected;
   std::mt19937 random(3);
   for (uint32_t r = 0; r < 6; ++r) {
      const size_t first = expected.size();
      for (uint32_t i = 0; i < 20'000; ++i)
         expected.push_back(static_cast<int64_t>(random() % 50'000));
      spilled.push_back(spillKeys(layout, fixture.memory, space, std::span(expected).subspan(first)));
   }
   std::sort(expected.begin(), expected.end(), std::greater<>());
   {
      MergeRanges ranges(layout, fixture.memory);
      for (const SpilledRun& run : spilled)
         ranges.addRun(run, space, 8192);
      ranges.cut(700);
      ranges.start();
      std::vector<std::vector<int64_t>> found(ranges.count());
      std::atomic<uint32_t> next{0};
      std::vector<std::thread> threads;
      for (int t = 0; t < 4; ++t)
         threads.emplace_back([&] {
            for (uint32_t range = next++; range < ranges.count(); range = next++) {
               const auto merge = ranges.open(range);
               for (auto rows = merge->next(100); !rows.empty(); rows = merge->next(100)) {
                  const size_t at = found[range].size();
                  found[range].resize(at + rows.size());
                  gatherRefs(rows, 0, PhysicalType::I64, found[range].data() + at, nullptr);
               }
            }
         });
      for (std::thread& thread : threads)
         thread.join();
      CATCH_CHECK(ranges.count() > 50);
      std::vector<int64_t> all;
      for (const auto& some : found)
         all.insert(all.end(), some.begin(), some.end());
      CATCH_CHECK(all == expected);
   }
   CATCH_CHECK(fixture.memory.used() == 0);
}

CATCH_TEST_CASE("sort: memory of ranges, one of them large", "[sort]") {
   Fixture fixture;
   io::test::SpillDirectories directories;
   io::SpillManager manager(directories.options);
   io::SpillSpace space(manager);
   const SortRowLayout layout{
       {{PhysicalType::I64, 0}}, SortKeyLayout({{PhysicalType::I64, false, false}}), {UINT32_MAX}};
   std::vector<SpilledRun> spilled;
   size_t ofHeavyKey = 0;
   // 0 .. 999, 10,000 times 5000, then 11,000 .. 11,999.
   std::vector<int64_t> keys;
   for (int64_t i = 0; i < 12'000; ++i)
      keys.push_back(i >= 1000 && i < 11'000 ? 5000 : i);
   for (uint32_t r = 0; r < 3; ++r) {
      spilled.push_back(spillKeys(layout, fixture.memory, space, keys));
      ofHeavyKey += spilled.back().bytes / 12 * 10;
   }
   MergeRanges ranges(layout, fixture.memory);
   for (const SpilledRun& run : spilled)
      ranges.addRun(run, space, 8192);
   ranges.cut(300);
   const uint32_t count = ranges.count();
   CATCH_CHECK(count > 6);
   // However many lanes, the large range is among theirs.
   CATCH_CHECK(ranges.bytesOfRanges(1) > ofHeavyKey / 10 * 9);
   CATCH_CHECK(ranges.bytesOfRanges(1) < ofHeavyKey / 10 * 12);
   CATCH_CHECK(ranges.bytesOfRanges(2) > ranges.bytesOfRanges(1));
   CATCH_CHECK(ranges.bytesOfRanges(count) == ranges.bytesOfRanges(count + 5));
   ranges.uncut();
   CATCH_CHECK(ranges.count() == 1);
   ranges.start();
   uint64_t rows = 0;
   const auto merge = ranges.open(0);
   for (auto some = merge->next(1000); !some.empty(); some = merge->next(1000))
      rows += some.size();
   CATCH_CHECK(rows == 36'000);
}

CATCH_TEST_CASE("sort: ranges of texts with a common prefix", "[sort]") {
   Fixture fixture;
   io::test::SpillDirectories directories;
   io::SpillManager manager(directories.options);
   io::SpillSpace space(manager);
   for (const bool descending : {false, true})
      for (const size_t prefix :
           {size_t{3}, size_t{14}, size_t{30}, CutKey::textBytesMax - 2, CutKey::textBytesMax + 1}) {
         CATCH_INFO("descending " << descending << ", prefix of " << prefix);
         const SortRowLayout layout{
             {{PhysicalType::String, 0}}, SortKeyLayout({{PhysicalType::String, descending, false}}), {0}};
         std::vector<SpilledRun> spilled;
         std::vector<std::string> expected;
         std::mt19937 random(3);
         for (uint32_t r = 0; r < 4; ++r) {
            SortRun run(layout, fixture.memory);
            for (uint32_t from = 0; from < 2000; from += 500) {
               std::vector<Value> values;
               for (uint32_t i = 0; i < 500; ++i) {
                  expected.push_back(std::string(prefix, 'p') + std::to_string(random() % 900));
                  values.push_back(Value::string(expected.back()));
               }
               const Column column = Column::flat(PhysicalType::String, values);
               Batch batch;
               batch.columns.push_back(column.vector());
               batch.setDense(500);
               run.append(batch, batch.columns);
            }
            run.seal();
            const SortRun* pointer = &run;
            spilled.push_back(spillRuns(layout, {&pointer, 1}, SortRun::keepAll, space, fixture.memory, 2048, [] {}));
         }
         std::sort(expected.begin(), expected.end());
         if (descending) std::reverse(expected.begin(), expected.end());
         MergeRanges ranges(layout, fixture.memory);
         for (const SpilledRun& run : spilled)
            ranges.addRun(run, space, 8192);
         ranges.cut(200);
         ranges.start();
         // Two bytes of the text tell little, and none tells nothing.
         CATCH_CHECK(ranges.count() >= (prefix < CutKey::textBytesMax - 2 ? 15u
                                        : prefix < CutKey::textBytesMax   ? 5u
                                                                          : 1u));
         size_t at = 0;
         for (uint32_t range = 0; range < ranges.count(); ++range) {
            const auto merge = ranges.open(range);
            for (auto rows = merge->next(50); !rows.empty(); rows = merge->next(50))
               for (const RowRef& row : rows) {
                  StringView view;
                  gatherRefs({&row, 1}, 0, PhysicalType::String, &view, nullptr);
                  CATCH_REQUIRE(view.view() == expected.at(at++));
               }
         }
         CATCH_CHECK(at == expected.size());
      }
}

/// Sorted runs of small numbers, in pages.
struct NumberRuns {
   std::vector<std::vector<std::vector<uint64_t>>> pages; // by run
   std::vector<std::vector<CutKey>> firsts;
   std::vector<std::vector<uint32_t>> rows;
   std::vector<RunFences> fences;
   size_t all = 0;

   NumberRuns(std::mt19937& random, uint32_t runs, uint32_t rowsMax, uint64_t distinct) {
      for (uint32_t run = 0; run < runs; ++run) {
         std::vector<uint64_t> keys(random() % (rowsMax + 1)); // perhaps none
         for (uint64_t& key : keys)
            key = random() % distinct;
         std::sort(keys.begin(), keys.end());
         all += keys.size();
         pages.emplace_back();
         firsts.emplace_back();
         rows.emplace_back();
         for (size_t from = 0; from < keys.size();) {
            const size_t count = std::min<size_t>(1 + random() % 20, keys.size() - from);
            pages.back().emplace_back(keys.begin() + static_cast<ptrdiff_t>(from),
                                      keys.begin() + static_cast<ptrdiff_t>(from + count));
            firsts.back().push_back({{keys[from], 0}, {}});
            rows.back().push_back(static_cast<uint32_t>(count));
            from += count;
         }
      }
      for (uint32_t run = 0; run < runs; ++run)
         fences.push_back({firsts[run], rows[run]});
   }
};

CATCH_TEST_CASE("sort: cuts into ranges", "[sort]") {
   std::mt19937 random(7);
   for (const uint32_t runs : {0u, 1u, 2u, 9u})
      for (const uint64_t distinct : {1u, 2u, 40u, 1'000'000u})
         for (const uint64_t perRange : {1u, 50u, 400u, 100'000u})
            for (const uint64_t firstRows : {0u, 30u, 700u, 1'000'000u}) {
               const NumberRuns numbers(random, runs, 600, distinct);
               const CutOrder order;
               const auto cuts = chooseCuts(order, numbers.fences, perRange, firstRows);
               for (size_t i = 1; i < cuts.size(); ++i)
                  CATCH_REQUIRE(order.isBefore(cuts[i - 1], cuts[i]));
               size_t found = 0;
               for (size_t range = 0; range <= cuts.size(); ++range) {
                  const CutKey* lower = range > 0 ? &cuts[range - 1] : nullptr;
                  const CutKey* upper = range < cuts.size() ? &cuts[range] : nullptr;
                  size_t inRange = 0;
                  for (size_t run = 0; run < runs; ++run) {
                     const PageSpan span = pagesOfRange(order, numbers.fences[run], lower, upper);
                     for (size_t page = 0; page < numbers.pages[run].size(); ++page)
                        for (size_t row = 0; row < numbers.pages[run][page].size(); ++row) {
                           const CutKey key{{numbers.pages[run][page][row], 0}, {}};
                           const bool isBefore = lower && order.isBefore(key, *lower);
                           const bool isAfter = upper && !order.isBefore(key, *upper);
                           const bool isOfRange = !isBefore && !isAfter;
                           if (!isOfRange) {
                              // What lies before the range can only be in its first page, what lies after it in the
                              // last.
                              if (isBefore) CATCH_REQUIRE((page <= span.from || page >= span.end));
                              if (isAfter) CATCH_REQUIRE(page + 1 >= span.end);
                              continue;
                           }
                           CATCH_REQUIRE((page >= span.from && page < span.end));
                           ++inRange;
                        }
                  }
                  found += inRange;
                  if (range == 0 && !cuts.empty()) CATCH_REQUIRE(inRange >= firstRows);
                  // With many different keys, ranges differ from what was asked for by the last pages of runs.
                  if (distinct > 1000 && range > 0 && range < cuts.size()) {
                     CATCH_REQUIRE(inRange <= perRange + 20 * (runs + 1));
                     CATCH_REQUIRE(inRange + 20 * (runs + 1) >= perRange);
                  }
               }
               CATCH_REQUIRE(found == numbers.all);
               if (distinct == 1) CATCH_REQUIRE(cuts.empty());
            }
}

CATCH_TEST_CASE("sort: groups of a merging pass", "[sort]") {
   for (const uint32_t runs : {2u, 3u, 10u, 17u, 100u, 1000u})
      for (const uint32_t fanIn : {2u, 3u, 16u, 64u})
         for (const uint32_t tasks : {1u, 2u, 5u}) {
            uint32_t left = runs;
            for (uint32_t passes = 0; left > fanIn; ++passes) {
               CATCH_REQUIRE(passes < 20);
               uint32_t at = 0, next = left;
               for (const MergeGroup& group : mergeGroups(left, fanIn, tasks)) {
                  CATCH_REQUIRE(group.from >= at);
                  CATCH_REQUIRE(group.end <= left);
                  CATCH_REQUIRE(group.end - group.from >= 2);
                  CATCH_REQUIRE(group.end - group.from <= fanIn);
                  next -= group.end - group.from - 1;
                  at = group.end;
               }
               CATCH_REQUIRE(next < left);
               CATCH_REQUIRE(next >= std::min(fanIn, left));
               left = next;
            }
         }
}

CATCH_TEST_CASE("the first integer of a key is read back") {
   for (const PhysicalType type : {PhysicalType::I16, PhysicalType::I32, PhysicalType::I64})
      for (const bool descending : {false, true})
         for (const bool nullsFirst : {false, true}) {
            const SortKeyLayout layout({{type, descending, nullsFirst}, {PhysicalType::I32, false, false}});
            const int64_t least = type == PhysicalType::I16   ? std::numeric_limits<int16_t>::min()
                                  : type == PhysicalType::I32 ? std::numeric_limits<int32_t>::min()
                                                              : std::numeric_limits<int64_t>::min();
            for (const int64_t value : {least, least + 1, int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{258}, ~least}) {
               alignas(16) std::byte place[16] = {};
               Value::integer(type, value).store(place);
               const int32_t second = 7;
               std::vector<std::byte> key(layout.stride());
               const Vector columns[] = {Vector::constant(type, place, nullptr),
                                         Vector::constant(PhysicalType::I32, &second, nullptr)};
               layout.encode(columns, Selection::dense(1), 0, 1, key.data());
               CATCH_CHECK(layout.firstInteger(key.data()) == value);
               const ValidityWord none = 0;
               const Vector withNull[] = {Vector::constant(type, place, &none), columns[1]};
               layout.encode(withNull, Selection::dense(1), 0, 1, key.data());
               CATCH_CHECK(!layout.firstInteger(key.data()));
            }
         }
}

CATCH_TEST_CASE("a bound of an order only becomes tighter") {
   OrderBound ascending(false, false, true), descending(true, true, true), first(false, false, false),
       last(true, false, false);
   for (OrderBound* bound : {&ascending, &descending, &first, &last}) {
      CATCH_CHECK(!bound->value());
      for (const int64_t value : {5, 3, 7, 4})
         bound->tighten(value);
   }
   CATCH_CHECK(ascending.value() == 3);
   CATCH_CHECK(descending.value() == 7);
   CATCH_CHECK(first.value() == 2); // no row is wanted besides the one that has 3
   CATCH_CHECK(last.value() == 8);
   first.tighten(INT64_MIN);
   CATCH_CHECK(first.value() == INT64_MIN);
   ascending.reset();
   CATCH_CHECK(!ascending.value());
}

} // namespace
} // namespace ouzel::executor
