#include "executor/operator/flow/batch_store.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "executor/materialize/batch_builder.hpp"
#include "executor/schedule/running_query_state.hpp"
#include "tests/unit/executor/expression_support.hpp"
#include "tests/unit/io/spill_support.hpp"

// Rows of a CTE that go to disk while they wait to be read, or are being read.

namespace ouzel::executor {
namespace {

constexpr uint32_t batchCount = 60, batchRows = 1000;
const std::vector<Representation> columns(1, Representation{PhysicalType::String});

std::string textOf(uint64_t number) {
   return "a text that is too long for its view: " + std::to_string(number);
}

struct Store {
   explicit Store(uint64_t diskMax = 0) {
      directories.options.bytesMax = diskMax;
      manager = std::make_unique<io::SpillManager>(directories.options);
      plan.root = std::make_unique<sql::plan::Node>(sql::plan::Values{});
      execution.functions = ouzel::test::testContext();
      execution.memory = &memory;
      execution.spill = manager.get();
      state.emplace(plan, execution);
      store.emplace();
      store->allowSpilling(*state);
      for (uint32_t batch = 0; batch < batchCount; ++batch) {
         std::vector<std::string> texts;
         std::vector<StringView> views;
         for (uint32_t row = 0; row < batchRows; ++row)
            texts.push_back(textOf(batch * batchRows + row));
         for (const std::string& text : texts)
            views.push_back(StringView(text));
         Batch rows;
         rows.columns = {Vector::flat(PhysicalType::String, views.data(), nullptr)};
         rows.setDense(batchRows);
         BatchBuilder builder(columns, store->memory(*state));
         builder.append(rows, {0}, 0);
         store->add(builder.take());
      }
      store->settle(2);
   }
   /// Whether a reader finds all rows.
   bool isWhole() {
      BatchStore::Reader reader(*store, *state, false);
      bool isRight = true;
      for (uint32_t i = 0; i < batchCount; ++i) {
         if (i % 8 == 0) reader.expect(i, i + 8);
         const Batch& batch = reader.batch(i);
         isRight = isRight && batch.rowCount == batchRows;
         const auto* texts = static_cast<const StringView*>(batch.columns[0].data);
         for (uint32_t row = 0; row < batch.rowCount; ++row)
            isRight = isRight && texts[row].view() == textOf(uint64_t{i} * batchRows + row);
      }
      return isRight;
   }

   io::test::SpillDirectories directories;
   std::unique_ptr<io::SpillManager> manager;
   MemoryLedger ledger{size_t{1} << 30};
   Reservation memory{ledger};
   sql::plan::Plan plan;
   ExecutionContext execution;
   std::optional<RunningQueryState> state;
   std::optional<BatchStore> store;
};

CATCH_TEST_CASE("batches go to disk after the input", "[batch_store]") {
   Store s;
   const size_t whole = s.store->reclaimableBytes();
   CATCH_CHECK(whole > batchCount * batchRows * 40);
   CATCH_CHECK(s.memory.used() >= whole);
   CATCH_CHECK_FALSE(s.store->hasSpilled());
   const size_t freed = s.store->reclaim(whole / 3);
   CATCH_CHECK(freed >= whole / 3);
   CATCH_CHECK(freed < whole / 2);
   CATCH_CHECK(s.store->reclaimableBytes() == whole - freed);
   CATCH_CHECK(s.store->hasSpilled());
   CATCH_CHECK(s.store->batchDiskBytes(0) == 0); // the last ones first
   CATCH_CHECK(s.store->batchDiskBytes(batchCount - 1) > 0);
   CATCH_CHECK(s.isWhole());
   CATCH_CHECK(s.isWhole());
   CATCH_CHECK(s.store->reclaim(SIZE_MAX) == whole - freed);
   CATCH_CHECK(s.store->reclaim(SIZE_MAX) == 0);
   CATCH_CHECK(s.isWhole());
   s.store.reset();
   CATCH_CHECK(s.memory.used() == 0);
}

CATCH_TEST_CASE("batches stay in memory when the disk is full", "[batch_store]") {
   Store s(size_t{1} << 20);
   const size_t whole = s.store->reclaimableBytes();
   const size_t freed = s.store->reclaim(SIZE_MAX);
   CATCH_CHECK(freed > 0);
   CATCH_CHECK(freed < whole);
   CATCH_CHECK(s.store->reclaimableBytes() == 0);
   CATCH_CHECK(s.isWhole());
}

// Meant for ThreadSanitizer as well.
CATCH_TEST_CASE("batches go to disk while they are read", "[batch_store]") {
   for (int round = 0; round < 5; ++round) {
      Store s;
      std::atomic<int> wrong{0};
      std::atomic<bool> isReading{false};
      std::vector<std::thread> readers;
      for (int i = 0; i < 2; ++i)
         readers.emplace_back([&] {
            for (int times = 0; times < 3; ++times) {
               isReading = true;
               wrong += !s.isWhole();
            }
         });
      while (!isReading)
         std::this_thread::yield();
      while (s.store->reclaim(size_t{1} << 18) > 0)
         std::this_thread::yield();
      for (std::thread& reader : readers)
         reader.join();
      CATCH_CHECK(wrong == 0);
      CATCH_CHECK(s.isWhole());
   }
}

} // namespace
} // namespace ouzel::executor
