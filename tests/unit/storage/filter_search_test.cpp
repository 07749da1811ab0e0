#include "storage/table/filter_search.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <thread>

#include "common/error/sql_error.hpp"
#include "common/hash/vector_hash.hpp"
#include "storage/block/block_builder.hpp"
#include "storage/buffer/memory_governor.hpp"
#include "storage/table/scan_state.hpp"
#include "tests/unit/storage/remote_directory.hpp"
#include "tests/unit/storage/storage_test_support.hpp"

// Scans for single values, over blocks in a directory and over blocks in a store that claims to be remote.

using namespace ouzel;
using namespace ouzel::storage;
using namespace ouzel::storage::test;

namespace {

constexpr uint32_t groupsPerBlock = 3, blockCount = 2;
constexpr uint32_t blockRows = groupsPerBlock * rowGroupRows;

int128 keyOf(uint64_t row) {
   return static_cast<int128>(hashU64(row)) << 64 | hashU64(row + 1'000'000'000);
}

/// Two blocks of rows (keyOf(row), row), every tenth key NULL, and a delta of 100 rows more.
struct Fixture {
   TemporaryDirectory directory;
   RemoteDirectory store;
   MemoryGovernor governor{size_t{1} << 30};
   ReadAheadBudget budget{governor.cache()};
   Reservation memory{governor.ledger()};
   std::vector<SegmentPtr> segments;
   std::shared_ptr<ScanState> state; ///< state of the latest scan

   explicit Fixture(bool isRemote) : store(directory.path(), isRemote) {
      for (uint32_t b = 0; b <= blockCount; ++b) {
         auto segment = std::make_shared<Segment>();
         segment->id = b + 1;
         segment->versions = std::make_shared<SegmentVersions>();
         auto delta = makeDelta(b * blockRows, b < blockCount ? blockRows : 100);
         if (b < blockCount) {
            BlockBuilder builder(delta->types());
            for (uint32_t first = 0; first < blockRows; first += rowGroupRows)
               builder.addRowGroup(rowGroupRows, delta->slices(first, rowGroupRows));
            segment->block = std::make_shared<Block>(store, governor.cache(), nameOf(b),
                                                     builder.finish(store, nameOf(b), segment->id));
         } else {
            segment->delta = std::move(delta);
         }
         segments.push_back(std::move(segment));
      }
   }
   static std::string nameOf(uint32_t b) { return "table/1/block/" + std::to_string(b); }

   std::shared_ptr<Delta> makeDelta(uint64_t firstRow, uint32_t rows) {
      auto delta = std::make_shared<Delta>(std::vector{PhysicalType::I128, PhysicalType::I64}, memory);
      for (uint32_t done = 0; done < rows; done += vectorRows) {
         TestColumn keys{PhysicalType::I128, {}}, numbers{PhysicalType::I64, {}};
         for (uint32_t i = done; i < std::min(rows, done + vectorRows); ++i) {
            const uint64_t row = firstRow + i;
            keys.values.push_back(row % 10 == 0 ? Value::null(PhysicalType::I128) : Value::wide(keyOf(row)));
            numbers.values.push_back(Value::integer(PhysicalType::I64, static_cast<int64_t>(row)));
         }
         Arena arena;
         delta->append(makeBatch({keys, numbers}, 0, keys.values.size(), arena));
      }
      return delta;
   }

   static ValuePredicate predicateFor(uint32_t column, const std::vector<int128>& keys) {
      ValuePredicate predicate{column, {}};
      for (const int128 key : keys)
         predicate.values.push_back({key, hashValue(PhysicalType::I128, &key)});
      std::sort(predicate.values.begin(), predicate.values.end(),
                [](const auto& a, const auto& b) { return a.key < b.key; });
      return predicate;
   }

   std::unique_ptr<ScanSource> scan(std::vector<ValuePredicate> predicates, std::vector<ZonePredicate> zones = {}) {
      state = std::make_shared<ScanState>();
      state->spec.columns = {0, 1};
      state->spec.valuePredicates = std::move(predicates);
      state->spec.zonePredicates = std::move(zones);
      std::vector<ColumnDefinition> columns(3);
      columns[0].representation.physical = PhysicalType::I128;
      columns[1].representation.physical = PhysicalType::I64;
      columns[2].representation.physical = PhysicalType::I128;
      state->columns = std::make_shared<const std::vector<ColumnDefinition>>(columns);
      for (uint32_t s = 0; s < segments.size(); ++s) {
         state->sources.push_back({segments[s], segments[s]->rowCount()});
         for (uint32_t group = 0; group * rowGroupRows < segments[s]->rowCount(); ++group)
            state->morsels.push_back(
                {s, group, std::min(rowGroupRows, segments[s]->rowCount() - group * rowGroupRows)});
      }
      state->filters = FilterSearch::makeFor(*state, budget, store.isRemote());
      if (store.isRemote()) state->readAhead = std::make_unique<ReadAhead>(*state, budget);
      return std::make_unique<ScanSource>(state);
   }

   /// Numbers of the blocks' row groups that the scan returns, counted over all blocks. The delta's group must always
   /// be returned.
   std::set<uint32_t> groupsOf(ScanSource& source, bool isRead = false) {
      std::set<uint32_t> groups;
      bool hasDelta = false;
      Morsel morsel;
      const auto reader = source.makeReader();
      while (source.next(morsel)) {
         if (morsel.segment == blockCount) {
            hasDelta = true;
            continue;
         }
         groups.insert(morsel.segment * groupsPerBlock + morsel.rowGroup);
         if (!isRead) continue;
         reader->open(morsel);
         const Vector numbers = reader->read(1, 0, vectorRows, Selection::dense(vectorRows));
         CATCH_CHECK(numbers.value<int64_t>(5) ==
                     (morsel.segment * groupsPerBlock + morsel.rowGroup) * rowGroupRows + 5);
      }
      CATCH_CHECK(hasDelta);
      return groups;
   }
   std::set<uint32_t> groupsWith(const std::vector<int128>& keys) {
      const auto source = scan({predicateFor(0, keys)});
      return groupsOf(*source);
   }
};

using Groups = std::set<uint32_t>;
constexpr uint32_t allGroups = groupsPerBlock * blockCount;

} // namespace

CATCH_TEST_CASE("a scan for single values gets the row groups that have them") {
   for (const bool isRemote : {false, true}) {
      Fixture f(isRemote);
      size_t handedOut = 0;
      for (uint32_t group = 0; group < allGroups; ++group)
         for (const uint32_t row : {1u, 17'777u, 32'767u}) {
            const Groups groups = f.groupsWith({keyOf(group * rowGroupRows + row)});
            CATCH_CHECK(groups.contains(group));
            handedOut += groups.size();
         }
      CATCH_CHECK(handedOut <= allGroups * 3 + 2);
      CATCH_CHECK(f.groupsWith({keyOf(99), keyOf(4 * rowGroupRows + 7)}) == Groups{0, 4});
      // Absent values, such as those of NULL rows, pass about one filter in 170.
      handedOut = 0;
      for (uint64_t row = 0; row < 200; ++row)
         handedOut += f.groupsWith({keyOf(row * 10)}).size();
      CATCH_CHECK(handedOut < 30);
      const auto source = f.scan({f.predicateFor(0, {keyOf(5 * rowGroupRows + 7)})});
      for (int pass = 0; pass < 2; ++pass) {
         CATCH_CHECK(f.groupsOf(*source, true) == Groups{5});
         CATCH_CHECK(source->morselsSkipped() == 5);
         CATCH_CHECK(source->morselsSkippedByFilter() == 5);
         source->rewind();
      }
   }
}

CATCH_TEST_CASE("where a filter cannot tell, nothing is left out") {
   Fixture f(false);
   std::vector<int128> many; // all absent
   for (uint64_t i = 0; i < 201; ++i)
      many.push_back(keyOf(i + 10'000'000));
   CATCH_CHECK(f.groupsWith(many).size() == allGroups);
   many.resize(2);
   CATCH_CHECK(f.groupsWith(many).empty());
   // A column that was added later.
   auto source = f.scan({f.predicateFor(2, {5})});
   CATCH_CHECK(f.groupsOf(*source).size() == allGroups);
   // A column without filters: zone maps exclude.
   const int128 number = 4 * rowGroupRows + 5;
   source = f.scan({f.predicateFor(1, {7, number})});
   CATCH_CHECK(f.groupsOf(*source) == Groups{0, 4});
   CATCH_CHECK(source->morselsSkipped() == 4);
   CATCH_CHECK(source->morselsSkippedByFilter() == 0);
   // Two conditions, each of which excludes one group.
   source = f.scan({f.predicateFor(1, {7, number}), f.predicateFor(0, {keyOf(9), keyOf(2 * rowGroupRows + 9)})});
   CATCH_CHECK(f.groupsOf(*source) == Groups{0});
   CATCH_CHECK(source->morselsSkippedByFilter() == 1);
}

CATCH_TEST_CASE("over a network filters are one read for each block, and excluded row groups none") {
   Fixture f(true);
   const uint32_t filterBytes = f.segments[0]->block->header().chunk(0, 0).filter.size;
   auto source = f.scan({f.predicateFor(0, {keyOf(rowGroupRows + 9)})});
   CATCH_CHECK(f.groupsOf(*source, true) == Groups{1});
   auto reads = source->networkReads();
   CATCH_CHECK(reads.reads == blockCount + 2); // and two columns of a row group
   const Block& block = *f.segments[0]->block;
   CATCH_CHECK(reads.bytes == Approx(filterBytes * 6 + block.storedBytes(0, 1) + block.storedBytes(1, 1)).epsilon(0.1));
   // Filters of groups that zone maps exclude are not read, and cached filters are not read again.
   f.governor.cache().evictSegment(1);
   ZonePredicate zone;
   zone.column = 1;
   zone.lower = 0;
   zone.upper = rowGroupRows - 1;
   source = f.scan({f.predicateFor(0, {keyOf(rowGroupRows + 9)})}, {zone});
   CATCH_CHECK(f.groupsOf(*source).empty());
   reads = source->networkReads();
   CATCH_CHECK(reads.reads == 1);
   CATCH_CHECK(reads.bytes == filterBytes);
   source = f.scan({f.predicateFor(0, {keyOf(11)})}, {zone});
   CATCH_CHECK(f.groupsOf(*source) == Groups{0});
   CATCH_CHECK(source->networkReads().reads == 2);
   f.state.reset();
   source.reset();
   CATCH_CHECK(f.governor.ledger().used() == f.governor.cachedBytes() + f.memory.used());
}

CATCH_TEST_CASE("without memory for reads ahead filters are read one by one") {
   Fixture f(true);
   CATCH_REQUIRE(f.budget.tryTake(f.budget.limit()));
   Reservation taken(f.governor.ledger());
   f.governor.setLimit(f.memory.used() + 300'000);
   taken.grow(200'000);
   CATCH_CHECK(f.groupsWith({keyOf(rowGroupRows + 9)}) == Groups{1});
   CATCH_CHECK(f.groupsWith({keyOf(5 * rowGroupRows + 9)}) == Groups{5});
}

CATCH_TEST_CASE("workers share what filters say") {
   for (const bool isRemote : {false, true}) {
      Fixture f(isRemote);
      for (const uint32_t group : {0u, 4u}) {
         const auto source = f.scan({f.predicateFor(0, {keyOf(group * rowGroupRows + 9)})});
         std::atomic<uint32_t> found{0}, handedOut{0};
         std::vector<std::thread> workers;
         for (int worker = 0; worker < 4; ++worker)
            workers.emplace_back([&] {
               Morsel morsel;
               while (source->next(morsel)) {
                  ++handedOut;
                  found += morsel.segment * groupsPerBlock + morsel.rowGroup == group;
               }
            });
         for (std::thread& worker : workers)
            worker.join();
         CATCH_CHECK(found == 1);
         CATCH_CHECK(handedOut + source->morselsSkipped() == allGroups + 1);
         f.governor.cache().evictSegment(1);
         f.governor.cache().evictSegment(2);
      }
   }
}

CATCH_TEST_CASE("a scan that is foreseen reads before it begins, and can be narrowed until then") {
   Fixture f(true);
   const auto source = f.scan({});
   CATCH_CHECK(source->isReadingAhead());
   CATCH_CHECK(source->networkReads().reads == 0);
   source->readAhead();
   CATCH_CHECK(!source->isReadingAhead());
   const auto reads = source->networkReads().reads;
   CATCH_CHECK(reads > 0);
   ZonePredicate zone;
   zone.column = 1;
   zone.lower = rowGroupRows + 7;
   zone.upper = rowGroupRows + 8;
   source->narrow(std::span(&zone, 1));
   CATCH_CHECK(f.groupsOf(*source, true) == Groups{1});
   CATCH_CHECK(source->networkReads().reads == reads);
   CATCH_CHECK(f.groupsOf(*f.scan({}, {zone}), true) == Groups{1});
}

CATCH_TEST_CASE("a damaged filter is an error of the statement that needs it") {
   for (const bool isRemote : {false, true}) {
      Fixture f(isRemote);
      const FilterEntry& filter = f.segments[1]->block->header().chunk(0, 1).filter;
      std::fstream file(f.directory.path() + "/" + Fixture::nameOf(1), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(filter.offset + filter.size / 2));
      file.write("!?!?", 4);
      file.close();
      const auto source = f.scan({f.predicateFor(0, {keyOf(9)})});
      Morsel morsel;
      CATCH_CHECK(source->next(morsel)); // the first block's filter is undamaged
      CATCH_CHECK(morsel.rowGroup == 0);
      for (int attempt = 0; attempt < 2; ++attempt) {
         const auto again = f.scan({f.predicateFor(0, {keyOf(9)})});
         try {
            f.groupsOf(*again);
            CATCH_FAIL("no error");
         } catch (const SqlError& error) {
            CATCH_CHECK(error.state() == sqlstate::dataCorrupted);
         }
      }
      // Other scans are not affected.
      ZonePredicate zone;
      zone.column = 1;
      zone.upper = blockRows - 1;
      zone.lower = 0;
      const auto first = f.scan({f.predicateFor(0, {keyOf(9)})}, {zone});
      CATCH_CHECK(f.groupsOf(*first) == Groups{0});
   }
}
