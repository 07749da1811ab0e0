#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "common/error/sql_error.hpp"
#include "storage/table/transaction.hpp"
#include "tests/unit/storage/database_fixture.hpp"

// A read-only database that follows the checkpoints of another database over the same directory.

using namespace ouzel;
using namespace ouzel::storage;
using namespace ouzel::storage::test;

namespace {

struct Follower {
   MemoryGovernor governor{size_t{1} << 30};
   ThreadTaskRunner tasks{2};
   std::string catalog;
   std::unique_ptr<Database> database;

   explicit Follower(const std::string& directory) {
      DatabaseOptions options;
      options.dataDirectory = directory;
      options.follows = true;
      database = Database::open(options, governor, tasks);
      catalog = database->takeRecoveredCatalog().image;
   }
   bool follow() {
      return database->follow([this](const std::string* image, const std::function<void()>& publishRows) {
         if (image) catalog = *image;
         publishRows();
      });
   }
   std::vector<int64_t> numbers(StorageId id) {
      const auto table = database->find(id);
      return table ? readNumbers(*database, *table) : std::vector<int64_t>{-1};
   }
};

std::vector<int64_t> numbersOf(Table& table, const Snapshot& snapshot) {
   std::vector<int64_t> numbers;
   for (const ReadRow& row : readRows(table, snapshot))
      numbers.push_back(row.number);
   std::sort(numbers.begin(), numbers.end());
   return numbers;
}

void erase(OneTable& f, const std::function<bool(int64_t)>& wanted) {
   auto transaction = f.database->begin();
   const Snapshot snapshot = transaction->snapshot();
   f.table->deleteRows(*transaction, snapshot, f.idsOf(snapshot, wanted));
   f.commit(*transaction);
}

} // namespace

CATCH_TEST_CASE("a follower shows what checkpoints have published") {
   OneTable writer;
   writer.insert(0, 100);
   writer.database->checkpoint();
   Follower follower(writer.directory);
   CATCH_CHECK(follower.catalog == "create;");
   CATCH_CHECK(follower.numbers(writer.table->id()) == range(0, 100));
   CATCH_CHECK_FALSE(follower.follow());
   writer.insert(100, 50);
   CATCH_CHECK_FALSE(follower.follow());
   CATCH_CHECK(follower.numbers(writer.table->id()) == range(0, 100));
   writer.database->checkpoint();
   CATCH_CHECK(follower.numbers(writer.table->id()) == range(0, 100));
   CATCH_CHECK(follower.follow());
   CATCH_CHECK_FALSE(follower.follow());
   CATCH_CHECK(follower.numbers(writer.table->id()) == range(0, 150));
   // The follower did not hinder the writer.
   writer.database->close();
   CATCH_CHECK(follower.follow());
   CATCH_CHECK(follower.numbers(writer.table->id()) == range(0, 150));
}

CATCH_TEST_CASE("a follower's snapshot goes on seeing what it saw") {
   OneTable writer;
   writer.insert(0, 40'000, AppendMode::Bulk);
   writer.database->checkpoint();
   Follower follower(writer.directory);
   const StorageId id = writer.table->id();
   const auto table = follower.database->find(id);
   const auto transaction = follower.database->begin();
   const Snapshot before = transaction->snapshot();
   CATCH_CHECK(numbersOf(*table, before) == range(0, 40'000)); // and its pages are in memory
   erase(writer, [](int64_t n) { return n % 4 == 0; });
   writer.database->checkpoint();
   CATCH_REQUIRE(follower.follow());
   const auto second = follower.database->begin();
   const Snapshot middle = second->snapshot();
   CATCH_CHECK(numbersOf(*table, middle).size() == 30'000);
   // Most rows are deleted, so compaction writes new segments and removes the old ones.
   erase(writer, [](int64_t n) { return n >= 1000; });
   writer.insert(50'000, 10);
   writer.database->checkpoint();
   CATCH_REQUIRE(follower.follow());
   CATCH_CHECK(follower.numbers(id).size() == 750 + 10);
   CATCH_CHECK(numbersOf(*table, before) == range(0, 40'000));
   CATCH_CHECK(numbersOf(*table, middle).size() == 30'000);
   CATCH_CHECK(table->rowCount(before) == 40'000);
   follower.database->abort(*transaction);
   follower.database->abort(*second);
   writer.insert(60'000, 10);
   writer.database->checkpoint();
   CATCH_REQUIRE(follower.follow());
   CATCH_CHECK_FALSE(follower.follow()); // drops segments that no snapshot sees any more
   CATCH_CHECK(follower.numbers(id).size() == 750 + 20);
}

CATCH_TEST_CASE("a follower takes tables that come, change and go") {
   OneTable writer;
   writer.insert(0, 10);
   writer.database->checkpoint();
   Follower follower(writer.directory);
   const StorageId first = writer.table->id();
   const auto reader = follower.database->begin(); // may read all older tables
   StorageId other;
   {
      auto transaction = writer.database->begin();
      const auto table = writer.database->createTable(*transaction, intAndText());
      other = table->id();
      appendRows(*table, *transaction, 0, 5);
      writer.database->addColumn(*transaction, first, ColumnDefinition::of({oid::int8, -1, 0}));
      writer.commit(*transaction, "other;");
   }
   writer.database->checkpoint();
   CATCH_REQUIRE(follower.follow());
   CATCH_CHECK(follower.catalog == "create;other;");
   CATCH_CHECK(follower.numbers(other) == range(0, 5));
   CATCH_CHECK(follower.database->find(first)->columns()->size() == 3);
   CATCH_CHECK(follower.numbers(first) == range(0, 10));
   {
      auto transaction = writer.database->begin();
      writer.database->dropTable(*transaction, first);
      writer.database->setCounter(static_cast<Oid>(77), {5, true});
      writer.commit(*transaction, "dropped;");
   }
   writer.table.reset();
   writer.database->checkpoint();
   CATCH_REQUIRE(follower.follow());
   CATCH_CHECK(follower.database->counter(static_cast<Oid>(77))->value == 5);
   CATCH_CHECK(follower.numbers(other) == range(0, 5));
   // A reader may still use the table, so it exists; but its blocks are gone.
   const auto table = follower.database->find(first);
   CATCH_REQUIRE(table != nullptr);
   CATCH_CHECK_FALSE(follower.database->hasLostBlock());
   Follower late(writer.directory);
   CATCH_CHECK(late.database->find(first) == nullptr);
   CATCH_CHECK(late.numbers(other) == range(0, 5));
   follower.database->abort(*reader);
   CATCH_CHECK_FALSE(follower.follow());
   CATCH_CHECK(follower.database->find(first) == nullptr);
}

CATCH_TEST_CASE("a follower says so when the writer has removed what it needs") {
   OneTable writer;
   writer.insert(0, 40'000, AppendMode::Bulk);
   writer.database->checkpoint();
   Follower follower(writer.directory); // has read no page yet
   erase(writer, [](int64_t n) { return n >= 1000; });
   writer.database->checkpoint();
   try {
      follower.numbers(writer.table->id());
      CATCH_FAIL("it read what is not there");
   } catch (const SqlError& error) {
      CATCH_CHECK(error.state() == sqlstate::tRSerializationFailure);
   }
   CATCH_CHECK(follower.database->hasLostBlock());
   CATCH_CHECK(follower.follow());
   CATCH_CHECK_FALSE(follower.database->hasLostBlock());
   CATCH_CHECK(follower.numbers(writer.table->id()) == range(0, 1000));
}

CATCH_TEST_CASE("a follower writes nothing") {
   OneTable writer;
   writer.insert(0, 10);
   writer.database->checkpoint();
   Follower follower(writer.directory);
   const auto table = follower.database->find(writer.table->id());
   const auto transaction = follower.database->begin();
   appendRows(*table, *transaction, 10, 10);
   CATCH_CHECK_THROWS_AS(follower.database->commit(*transaction, {}), SqlError);
   CATCH_CHECK_THROWS_AS(follower.database->setCounter(static_cast<Oid>(1), {1, true}), SqlError);
   CATCH_CHECK_THROWS_AS(follower.database->checkpoint(), SqlError);
   CATCH_CHECK(follower.database->walPosition() == 0); // metrics ask
   follower.database->syncLog();
   follower.database->close();
   CATCH_CHECK(follower.numbers(writer.table->id()) == range(0, 10));
   TemporaryDirectory empty;
   CATCH_CHECK_THROWS_AS(Follower(empty.path() + "/nothing"), SqlError);
}

CATCH_TEST_CASE("followers follow while they are read and the writer writes") {
   OneTable writer;
   writer.insert(0, 1000);
   writer.database->checkpoint();
   Follower follower(writer.directory);
   const StorageId id = writer.table->id();
   std::atomic<bool> isOver{false};
   std::atomic<uint64_t> reads{0}, lost{0};
   // A round of the writer adds 1000 to the number of every row, so each state has 1000 consecutive numbers.
   std::vector<std::thread> readers;
   std::atomic<bool> isWrong{false};
   for (int i = 0; i < 2; ++i)
      readers.emplace_back([&] {
         while (!isOver) {
            const auto transaction = follower.database->begin();
            const auto table = follower.database->find(id);
            const Snapshot snapshot = transaction->snapshot();
            try {
               const std::vector<int64_t> numbers = numbersOf(*table, snapshot);
               if (numbers.size() != 1000 || numbers != range(numbers[0], numbers[0] + 1000)) isWrong = true;
               static_cast<void>(table->statistics(snapshot));
               ++reads;
            } catch (const SqlError& error) {
               if (error.state() != sqlstate::tRSerializationFailure) isWrong = true;
               ++lost;
            }
            follower.database->abort(*transaction);
         }
      });
   std::thread following([&] {
      while (!isOver)
         follower.follow();
   });
   for (int64_t round = 1; round <= 30; ++round) {
      auto transaction = writer.database->begin();
      const Snapshot snapshot = transaction->snapshot();
      writer.table->deleteRows(*transaction, snapshot, writer.idsOf(snapshot, [](int64_t) { return true; }));
      appendRows(*writer.table, *transaction, round * 1000, 1000);
      writer.commit(*transaction);
      writer.database->checkpoint();
   }
   while (follower.numbers(id) != range(30'000, 31'000) && !isWrong)
      std::this_thread::yield();
   isOver = true;
   for (std::thread& reader : readers)
      reader.join();
   following.join();
   CATCH_CHECK_FALSE(isWrong);
   CATCH_CHECK(reads + lost > 0);
}
