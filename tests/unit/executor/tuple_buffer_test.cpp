#include "executor/materialize/tuple_buffer.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <set>
#include <thread>

#include "common/hash/hash.hpp"
#include "executor/pipeline/memory_grant.hpp"
#include "tests/unit/io/spill_support.hpp"

// Tests when rows are stored by partition, which rows are spilled when memory is short, and that all rows come back.

using namespace ouzel;
using namespace ouzel::executor;

namespace {

constexpr uint32_t bits = 6;
constexpr size_t pageSize = 4 << 10;

RowLayout& layoutOfNumbers() {
   static RowLayout layout;
   static const bool isSealed = [] {
      for (int i = 0; i < 6; ++i)
         layout.addColumn(PhysicalType::I64);
      layout.seal();
      return true;
   }();
   static_cast<void>(isSealed);
   return layout;
}

constexpr uint32_t batch = 128;

/// Stores the rows first .. first + batch and relieves the buffer afterwards, as operators do.
void storeBatch(TupleBuffer& buffer, const RowLayout& layout, uint64_t first) {
   uint64_t hashes[batch];
   std::byte* rows[batch];
   char* heap[batch];
   for (uint32_t i = 0; i < batch; ++i)
      hashes[i] = hashU64(first + i);
   buffer.store(hashes, nullptr, batch, rows, heap);
   for (uint32_t i = 0; i < batch; ++i) {
      const uint64_t number = first + i;
      std::memcpy(rows[i] + layout.offset(0), &number, sizeof number);
   }
   if (buffer.wantsRelief()) buffer.relieve();
}

void storeNumbers(TupleBuffer& buffer, const RowLayout& layout, uint64_t first, uint64_t count) {
   for (uint64_t begin = first; begin < first + count; begin += batch)
      storeBatch(buffer, layout, begin);
}

struct Setting {
   MemoryLedger ledger{size_t{1} << 30};
   Reservation memory{ledger};
   io::test::SpillDirectories directories;
   io::SpillManager manager{directories.options};
   io::SpillSpace space{manager, io::test::atLevel(0)};
};

struct Outcome {
   uint64_t rows = 0, numbers = 0; ///< numbers: distinct ones
   uint64_t spilledRows = 0;
   size_t partitions = 0; ///< spilled partitions
};

/// How the workers' batches follow each other. In turn, the workers are equally fast and what is spilled is the same in
/// every run. As threads, a worker may rest for long while others spill what it should have spilled.
enum class Workers { Threads, InTurn };

/// Stores `rowsEach` rows in each of `workers` buffers within `limit` bytes, and reads all rows back.
Outcome run(Workers kind, size_t limit, MemoryPolicy policy, uint32_t workers, uint64_t rowsEach,
            size_t partitionsFrom = 0) {
   Setting setting;
   const RowLayout& layout = layoutOfNumbers();
   QueryBudget budget(setting.memory, limit, nullptr, policy);
   MemoryGrant grant(budget);
   SpilledPartitions partitions(&setting.space, bits);
   std::vector<TuplePages> pages(workers);
   std::vector<std::unique_ptr<TupleBuffer>> buffers;
   for (uint32_t worker = 0; worker < workers; ++worker)
      buffers.push_back(std::make_unique<TupleBuffer>(
          layout, grant, partitions,
          TupleBuffer::Options{.partitionPageSize = pageSize, .partitionsFrom = partitionsFrom}));
   if (kind == Workers::Threads) {
      std::vector<std::thread> threads;
      for (uint32_t worker = 0; worker < workers; ++worker)
         threads.emplace_back([&, worker] { storeNumbers(*buffers[worker], layout, worker * rowsEach, rowsEach); });
      for (std::thread& thread : threads)
         thread.join();
   } else {
      for (uint64_t begin = 0; begin < rowsEach; begin += batch)
         for (uint32_t worker = 0; worker < workers; ++worker)
            storeBatch(*buffers[worker], layout, worker * rowsEach + begin);
   }
   for (uint32_t worker = 0; worker < workers; ++worker)
      pages[worker] = buffers[worker]->finish();
   Outcome outcome;
   std::set<uint64_t> numbers;
   const auto take = [&](const TuplePage& page) {
      for (const std::byte* row = page.begin; row != page.cursor; row += layout.rowSize()) {
         uint64_t number;
         std::memcpy(&number, row + layout.offset(0), sizeof number);
         numbers.insert(number);
         ++outcome.rows;
      }
   };
   std::set<uint32_t> spilled;
   TupleReader reader(layout, grant.memory(), setting.space);
   for (const TuplePages& each : pages) {
      for (const auto& page : each.pages()) {
         CATCH_CHECK((partitions.isEmpty() || page->partition != TuplePage::anyPartition));
         take(*page);
      }
      for (const SpilledTuplePage& page : each.spilled()) {
         spilled.insert(page.partition);
         outcome.spilledRows += page.rowCount;
         reader.add(page);
      }
   }
   while (const auto page = reader.next())
      take(*page);
   outcome.partitions = spilled.size();
   outcome.numbers = numbers.size();
   return outcome;
}

} // namespace

CATCH_TEST_CASE("rows are stored by partition when the setting says so", "[tuple_buffer]") {
   Setting setting;
   const RowLayout& layout = layoutOfNumbers();
   const auto isPartitionedAfter = [&](Partitioning partitioning, uint64_t rows) {
      MemoryPolicy policy;
      policy.partitioning = partitioning;
      QueryBudget budget(setting.memory, SIZE_MAX, nullptr, policy);
      MemoryGrant grant(budget);
      SpilledPartitions partitions(&setting.space, bits);
      TupleBuffer buffer(layout, grant, partitions, {.firstPageSize = pageSize, .partitionPageSize = pageSize});
      storeNumbers(buffer, layout, 0, rows);
      CATCH_CHECK(buffer.rowCount() == rows);
      return buffer.isPartitioned();
   };
   constexpr uint64_t few = 128, many = 128 << 10;
   CATCH_CHECK_FALSE(isPartitionedAfter(Partitioning::Adaptive, few));
   CATCH_CHECK(isPartitionedAfter(Partitioning::Adaptive, many));
   CATCH_CHECK_FALSE(isPartitionedAfter(Partitioning::Never, many));
   CATCH_CHECK(isPartitionedAfter(Partitioning::Always, few));
}

CATCH_TEST_CASE("a buffer that is short of memory spills what is too much, or all", "[tuple_buffer]") {
   constexpr uint64_t rowsEach = 256 << 10;
   const uint32_t workers = 2;
   const size_t all = workers * rowsEach * layoutOfNumbers().rowSize();
   for (const Partitioning partitioning : {Partitioning::Adaptive, Partitioning::Never, Partitioning::Always}) {
      MemoryPolicy hybrid, everything;
      hybrid.partitioning = everything.partitioning = partitioning;
      everything.spillsEverything = true;
      for (const auto& [kind, isShort] :
           {std::pair(Workers::Threads, false), std::pair(Workers::Threads, true), std::pair(Workers::InTurn, true)}) {
         const size_t limit = isShort ? all / 11 * 10 : 2 * all;
         const Outcome some = run(kind, limit, hybrid, workers, rowsEach);
         const Outcome whole = run(kind, limit, everything, workers, rowsEach);
         for (const Outcome& outcome : {some, whole}) {
            CATCH_CHECK(outcome.rows == workers * rowsEach);
            CATCH_CHECK(outcome.numbers == workers * rowsEach);
         }
         if (!isShort) {
            CATCH_CHECK(some.spilledRows == 0);
            CATCH_CHECK(whole.spilledRows == 0);
            continue;
         }
         CATCH_INFO("partitioning " << int(partitioning) << ": " << some.spilledRows << " rows, " << some.partitions
                                    << " partitions");
         CATCH_CHECK(whole.partitions == size_t{1} << bits);
         CATCH_CHECK(whole.spilledRows == workers * rowsEach);
         CATCH_CHECK(some.spilledRows > 0);
         // An eleventh of the rows exceeds the limit, and open pages take some memory. Rows without partitions must be
         // copied before they free memory, so for them there is no bound.
         if (kind == Workers::InTurn && partitioning != Partitioning::Never)
            CATCH_CHECK(some.spilledRows * 3 < whole.spilledRows);
      }
   }
}

CATCH_TEST_CASE("the hashes of all spilled rows are in the filter, and few others", "[tuple_buffer]") {
   Setting setting;
   const RowLayout& layout = layoutOfNumbers();
   QueryBudget budget(setting.memory, 1 << 20, nullptr);
   MemoryGrant grant(budget);
   SpilledPartitions partitions(&setting.space, bits);
   partitions.collectHashes(setting.memory, (64 << 10) + 5); // not a power of two: 8,192 words
   constexpr uint64_t rowsEach = 16 << 10;
   TupleBuffer first(layout, grant, partitions, TupleBuffer::Options{.partitionPageSize = pageSize});
   TupleBuffer second(layout, grant, partitions, TupleBuffer::Options{.partitionPageSize = pageSize});
   std::thread other([&] { storeNumbers(second, layout, rowsEach, rowsEach); });
   storeNumbers(first, layout, 0, rowsEach);
   other.join();
   TuplePages pages = first.finish();
   pages.merge(second.finish());
   CATCH_REQUIRE(!pages.spilled().empty());
   const std::shared_ptr<HashFilter> filter = partitions.takeHashes();
   CATCH_REQUIRE(filter);
   CATCH_CHECK(filter->words() == 8192);
   CATCH_CHECK(!partitions.takeHashes());
   std::set<uint64_t> spilled;
   TupleReader reader(layout, grant.memory(), setting.space);
   for (const SpilledTuplePage& page : pages.spilled())
      reader.add(page);
   while (const auto page = reader.next())
      for (const std::byte* row = page->begin; row != page->cursor; row += layout.rowSize())
         spilled.insert(rowHash(row));
   const auto check = [&](double othersMax) {
      uint64_t passed = 0;
      for (uint64_t number = 0; number < 4 * rowsEach; ++number) {
         const uint64_t hash = hashU64(number);
         if (spilled.contains(hash))
            CATCH_REQUIRE(filter->mayContain(hash));
         else
            passed += filter->mayContain(hash);
      }
      CATCH_CHECK(static_cast<double>(passed) < othersMax * static_cast<double>(4 * rowsEach - spilled.size()));
   };
   check(0.05); // 16 bits a hash
   filter->shrink();
   CATCH_CHECK(filter->words() == 8192); // a smaller one would let too many pass
}

CATCH_TEST_CASE("a filter tells by its bits what passes, however often hashes were added", "[tuple_buffer]") {
   MemoryLedger ledger{8 << 20};
   Reservation memory{ledger};
   const auto passing = [](const HashFilter& filter) {
      uint64_t passed = 0;
      constexpr uint64_t others = 200'000;
      for (uint64_t number = 0; number < others; ++number)
         passed += filter.mayContain(hashU64(1'000'000'000 + number));
      return static_cast<double>(passed) / others;
   };
   HashFilter few(8192, memory), many(8192, memory);
   CATCH_CHECK(few.passingShare() == 0);
   for (uint64_t row = 0; row < 200'000; ++row)
      few.add(hashU64(row % 100));
   few.shrink();
   CATCH_CHECK(few.words() >= 16);
   CATCH_CHECK(few.words() <= 64);
   CATCH_CHECK(few.passingShare() == Approx(passing(few)).margin(0.005));
   CATCH_CHECK(passing(few) < 0.02);
   for (uint64_t number = 0; number < 100; ++number)
      CATCH_CHECK(few.mayContain(hashU64(number)));
   for (uint64_t row = 0; row < 8192 * 17; ++row)
      many.add(hashU64(row));
   many.shrink();
   CATCH_CHECK(many.words() == 8192);
   CATCH_CHECK(many.passingShare() == Approx(passing(many)).margin(0.01));
   CATCH_CHECK(many.passingShare() > HashFilter::passingShareMax);
}

CATCH_TEST_CASE("without room for a filter, rows are spilled all the same", "[tuple_buffer]") {
   MemoryLedger small{8 << 20};
   Setting setting;
   Reservation memory{small};
   const RowLayout& layout = layoutOfNumbers();
   QueryBudget budget(memory, 1 << 20, nullptr);
   MemoryGrant grant(budget);
   SpilledPartitions partitions(&setting.space, bits);
   partitions.collectHashes(memory, 16 << 20);
   TupleBuffer buffer(layout, grant, partitions, TupleBuffer::Options{.partitionPageSize = pageSize});
   storeNumbers(buffer, layout, 0, 32 << 10);
   CATCH_CHECK(!buffer.finish().spilled().empty());
   CATCH_CHECK(!partitions.takeHashes());
}

CATCH_TEST_CASE("rows stored before there were partitions do not drive a little of each partition out",
                "[tuple_buffer]") {
   constexpr uint64_t rowsEach = 256 << 10;
   const uint32_t workers = 2;
   const size_t all = workers * rowsEach * layoutOfNumbers().rowSize();
   for (const size_t partitionsFrom : {all / 32, all / 16, all / 8}) {
      const Outcome outcome = run(Workers::InTurn, all / 11 * 10, {}, workers, rowsEach, partitionsFrom);
      CATCH_CHECK(outcome.numbers == workers * rowsEach);
      CATCH_INFO(outcome.spilledRows << " rows, " << outcome.partitions << " partitions");
      CATCH_CHECK(outcome.partitions * 2 < size_t{1} << bits);
      CATCH_CHECK(outcome.spilledRows * 2 < workers * rowsEach);
   }
}
