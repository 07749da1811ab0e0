#include "executor/schedule/result_queue.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <thread>

#include "common/error/sql_error.hpp"
#include "executor/materialize/batch_builder.hpp"
#include "tests/unit/io/spill_support.hpp"

// A result between workers and a client that rests: in memory, or stored for another query's sake.

namespace ouzel::executor {
namespace {

constexpr size_t mebibyte = size_t{1} << 20;

Representation represent(PhysicalType type) {
   Representation out;
   out.physical = type;
   return out;
}

const std::vector<Representation> columns = {represent(PhysicalType::I64), represent(PhysicalType::String)};

std::string textOf(int64_t number) {
   return number % 3 == 0 ? std::to_string(number) : "a text that has its own bytes: " + std::to_string(number * 7919);
}

/// `rows` rows from `first` on: a number, and its text, which is NULL for every fifth.
std::unique_ptr<OwnedBatch> batchFrom(int64_t first, uint32_t rows, Reservation& memory) {
   std::vector<int64_t> numbers;
   std::vector<std::string> texts;
   std::vector<StringView> views;
   std::vector<ValidityWord> validity(validityWords(rows), ~ValidityWord{0});
   for (uint32_t i = 0; i < rows; ++i) {
      numbers.push_back(first + i);
      texts.push_back(textOf(first + i));
      if ((first + i) % 5 == 0) setValidBit(validity.data(), i, false);
   }
   for (const std::string& text : texts)
      views.push_back(StringView(text));
   Batch batch;
   batch.columns = {Vector::flat(PhysicalType::I64, numbers.data(), nullptr),
                    Vector::flat(PhysicalType::String, views.data(), validity.data())};
   batch.setDense(rows);
   BatchBuilder builder(columns, memory);
   builder.append(batch, {0, 1}, 0);
   return builder.take();
}

/// Whether the rows are those of batchFrom(). Returns their first number.
int64_t requireRows(const OwnedBatch& got) {
   const Batch& batch = got.batch;
   const auto* numbers = static_cast<const int64_t*>(batch.columns[0].data);
   const auto* texts = static_cast<const StringView*>(batch.columns[1].data);
   bool isRight = batch.selection.isDense() && batch.rowCount > 0;
   for (uint32_t i = 0; i < batch.rowCount; ++i) {
      const int64_t number = numbers[0] + i;
      const bool isValid = isValidBit(batch.columns[1].validity, i);
      isRight = isRight && numbers[i] == number && isValid == (number % 5 != 0) &&
                (!isValid || texts[i].view() == textOf(number));
   }
   CATCH_REQUIRE(isRight);
   return numbers[0];
}

struct Queue {
   explicit Queue(size_t memoryMax = 64 * mebibyte, uint64_t diskMax = 0) : ledger(memoryMax) {
      directories.options.bytesMax = diskMax;
      manager = std::make_unique<io::SpillManager>(directories.options);
      queue = std::make_unique<ResultQueue>(columns, memory, manager.get(), io::SpillPolicy{});
   }
   /// Push batches of `rows` rows while there is room. Returns how many there was room for.
   uint32_t pushWhileRoom(uint32_t most, uint32_t rows = batchRowsMax) {
      uint32_t pushed = 0;
      for (; pushed < most && queue->hasRoom(); ++pushed, next += rows)
         queue->push(batchFrom(next, rows, memory));
      return pushed;
   }
   /// Take batches in order until the queue is empty.
   void takeAll(int64_t from) {
      bool madeRoom = false;
      while (auto batch = queue->take(madeRoom)) {
         CATCH_REQUIRE(requireRows(*batch) == from);
         from += batch->batch.rowCount;
      }
      CATCH_CHECK(from == next);
      CATCH_CHECK(queue->isEmpty());
   }
   /// REQUIRES: nothing is used any more.
   void end() {
      queue.reset();
      CATCH_CHECK(diskBytes() == 0);
      CATCH_CHECK(memory.used() == 0);
   }
   uint64_t diskBytes() const { return manager->devices()[0].bytesInUse; }

   io::test::SpillDirectories directories;
   std::unique_ptr<io::SpillManager> manager;
   MemoryLedger ledger;
   Reservation memory{ledger};
   std::unique_ptr<ResultQueue> queue;
   int64_t next = 0;
};

void rest() {
   std::this_thread::sleep_for(std::chrono::milliseconds(60));
}

CATCH_TEST_CASE("workers wait for a client that takes nothing", "[result_queue]") {
   Queue q;
   CATCH_CHECK(q.pushWhileRoom(100) == ResultQueue::batchesMax);
   CATCH_CHECK_FALSE(q.queue->isResting());
   rest();
   CATCH_CHECK(q.queue->isResting());
   bool madeRoom = false;
   CATCH_CHECK(requireRows(*q.queue->take(madeRoom)) == 0);
   CATCH_CHECK(madeRoom);
   CATCH_CHECK_FALSE(q.queue->isResting());
   CATCH_CHECK(requireRows(*q.queue->take(madeRoom)) == batchRowsMax);
   CATCH_CHECK_FALSE(madeRoom);
   rest();
   CATCH_CHECK_FALSE(q.queue->isResting()); // no worker waits
   q.takeAll(2 * batchRowsMax);
   CATCH_CHECK_FALSE(q.queue->hasStored());
   CATCH_CHECK(q.diskBytes() == 0);
}

CATCH_TEST_CASE("the rest of a result is stored, and comes in order", "[result_queue]") {
   Queue q;
   q.pushWhileRoom(100);
   bool madeRoom = false;
   CATCH_CHECK(requireRows(*q.queue->take(madeRoom)) == 0);
   CATCH_REQUIRE(q.queue->storeRest(UINT64_MAX));
   CATCH_CHECK(q.pushWhileRoom(100) == 100);
   CATCH_CHECK(q.pushWhileRoom(100, 17) == 100);
   CATCH_CHECK(q.queue->hasStored());
   CATCH_CHECK(q.memory.used() == 0); // the batches of before as well
   CATCH_CHECK(q.diskBytes() > 5 * mebibyte);
   q.takeAll(batchRowsMax);
   CATCH_CHECK(q.memory.peak() < 4 * mebibyte);
   CATCH_CHECK(q.diskBytes() < 2 * mebibyte); // pages are freed as they are read
   // The client takes a few while workers push.
   for (int64_t taken = q.next; taken < q.next + 1;) {
      q.pushWhileRoom(20);
      for (int i = 0; i < 9; ++i) {
         const auto batch = q.queue->take(madeRoom);
         CATCH_REQUIRE(requireRows(*batch) == taken);
         taken += batch->batch.rowCount;
      }
      if (taken < 500'000) continue;
      q.takeAll(taken);
      break;
   }
   q.end();
}

CATCH_TEST_CASE("rows without columns are counted", "[result_queue]") {
   Queue q;
   ResultQueue queue({}, q.memory, q.manager.get(), io::SpillPolicy{});
   Batch rows;
   rows.setDense(1000);
   CATCH_REQUIRE(queue.storeRest(UINT64_MAX));
   for (int i = 0; i < 20; ++i) {
      BatchBuilder builder({}, q.memory);
      builder.append(rows, {}, 0);
      CATCH_REQUIRE(queue.hasRoom());
      queue.push(builder.take());
   }
   uint32_t count = 0;
   bool madeRoom = false;
   while (auto batch = queue.take(madeRoom))
      count += batch->batch.liveRows();
   CATCH_CHECK(count == 20'000);
}

CATCH_TEST_CASE("without space on disk, workers wait again", "[result_queue]") {
   Queue q(64 * mebibyte, 2 * mebibyte);
   q.pushWhileRoom(100);
   CATCH_REQUIRE(q.queue->storeRest(UINT64_MAX));
   const uint32_t pushed = q.pushWhileRoom(1000);
   CATCH_CHECK(pushed > 8);
   CATCH_CHECK(pushed < 200);
   CATCH_CHECK_FALSE(q.queue->isStoring());
   CATCH_CHECK_FALSE(q.queue->hasRoom());
   CATCH_CHECK(q.memory.used() < mebibyte); // the batch that found no space, and a few
   // It is asked again and again, and does not take more memory for that.
   for (int i = 0; i < 20; ++i) {
      CATCH_CHECK(q.queue->storeRest(UINT64_MAX));
      CATCH_CHECK(q.pushWhileRoom(1000) <= 1);
   }
   CATCH_CHECK(q.memory.used() < mebibyte);
   bool madeRoom = false;
   int64_t from = 0;
   for (uint32_t i = 0; i < pushed / 2; ++i) {
      const auto batch = q.queue->take(madeRoom);
      CATCH_REQUIRE(requireRows(*batch) == from);
      from += batch->batch.rowCount;
   }
   // There is space now.
   CATCH_CHECK(q.queue->storeRest(UINT64_MAX));
   CATCH_CHECK(q.pushWhileRoom(3) == 3);
   q.takeAll(from);
   q.end();
}

CATCH_TEST_CASE("batches are stored when there is no memory at all", "[result_queue]") {
   Queue q;
   q.pushWhileRoom(100);
   Reservation others(q.ledger);
   others.grow(q.ledger.limit() - q.memory.used());
   CATCH_REQUIRE(q.queue->storeRest(UINT64_MAX));
   CATCH_CHECK(q.queue->hasRoom());
   CATCH_CHECK(q.queue->hasStored());
   CATCH_CHECK(q.memory.used() == 0);
   CATCH_CHECK(q.pushWhileRoom(10) == 10);
   q.takeAll(0);
   q.end();
}

CATCH_TEST_CASE("a result that is too large is not stored", "[result_queue]") {
   Queue q;
   q.pushWhileRoom(100);
   CATCH_REQUIRE(q.queue->storeRest(3 * mebibyte));
   const uint32_t pushed = q.pushWhileRoom(1000);
   CATCH_CHECK(pushed > 10);
   CATCH_CHECK(pushed < 100);
   CATCH_CHECK_FALSE(q.queue->hasRoom());
   CATCH_CHECK_FALSE(q.queue->storeRest(3 * mebibyte));
   CATCH_CHECK(q.queue->storeRest(30 * mebibyte));
   CATCH_CHECK(q.pushWhileRoom(10) == 10);
   q.takeAll(0);
   ResultQueue nowhere(columns, q.memory, nullptr, io::SpillPolicy{});
   CATCH_CHECK_FALSE(nowhere.storeRest(UINT64_MAX));
}

// Meant for ThreadSanitizer as well: workers push, the client takes, and a third asks for the memory.
CATCH_TEST_CASE("workers, a client and a query that is short at once", "[result_queue]") {
   constexpr uint32_t workers = 3, batches = 120;
   constexpr int64_t apart = 1'000'000'000;
   for (int round = 0; round < 3; ++round) {
      Queue q(64 * mebibyte, round == 1 ? mebibyte : 0);
      std::atomic<uint32_t> working{workers};
      std::vector<std::thread> threads;
      for (uint32_t worker = 0; worker < workers; ++worker)
         threads.emplace_back([&, worker] {
            for (uint32_t i = 0; i < batches; ++i) {
               while (!q.queue->hasRoom())
                  std::this_thread::yield();
               q.queue->push(batchFrom(worker * apart + i * int64_t{500}, 500, q.memory));
            }
            --working;
         });
      threads.emplace_back([&] {
         while (working > 0) {
            q.queue->storeRest(UINT64_MAX);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
         }
      });
      std::vector<int64_t> next(workers);
      for (uint32_t taken = 0; taken < workers * batches;) {
         if (round == 2 && taken == 50) rest();
         bool madeRoom = false;
         const auto batch = q.queue->take(madeRoom);
         if (!batch) continue;
         ++taken;
         const int64_t first = requireRows(*batch);
         const auto worker = static_cast<size_t>(first / apart);
         CATCH_REQUIRE(first % apart == next[worker]);
         next[worker] += batch->batch.rowCount;
      }
      for (std::thread& thread : threads)
         thread.join();
      CATCH_CHECK(q.queue->isEmpty());
      q.end();
   }
}

} // namespace
} // namespace ouzel::executor
