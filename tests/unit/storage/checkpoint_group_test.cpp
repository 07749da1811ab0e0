#include "storage/database/checkpoint_group.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "common/error/sql_error.hpp"
#include "common/thread/interruption.hpp"
#include "storage/database/database_files.hpp"
#include "storage/table/table_core.hpp"
#include "tests/unit/storage/database_fixture.hpp"

// Commits that wait until a checkpoint has stored them: first the group alone, with simulated checkpoints, then whole
// databases.

using namespace ouzel;
using namespace ouzel::storage;
using namespace ouzel::storage::test;

namespace {

/// A simulated log, which is only its end, and checkpoints of it.
struct Fixture {
   std::atomic<Lsn> logEnd{0}, stored{0};
   std::atomic<int> checkpoints{0}, tidied{0}, failing{0};
   std::atomic<bool> isFenced{false};
   CheckpointGroup group{{[this] { checkpoint(); }, [this] { ++tidied; }, [this] { return isFenced.load(); }}};

   void checkpoint() {
      ++checkpoints;
      if (failing > 0) {
         --failing;
         throw SqlError(sqlstate::ioError, "no bucket");
      }
      const Lsn captured = logEnd.load();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      stored = captured;
      group.cover(captured);
   }
};

template <typename Predicate>
bool comesTrue(Predicate predicate) {
   for (int i = 0; i < 5000 && !predicate(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
   return predicate();
}

} // namespace

CATCH_TEST_CASE("commits that wait for the store share checkpoints") {
   Fixture f;
   constexpr int threads = 8, commits = 50;
   std::atomic<int> early{0};
   std::vector<std::thread> running;
   for (int t = 0; t < threads; ++t)
      running.emplace_back([&] {
         for (int i = 0; i < commits; ++i) {
            const Lsn own = ++f.logEnd;
            f.group.wait(own);
            if (f.stored < own) ++early;
         }
      });
   for (std::thread& thread : running)
      thread.join();
   CATCH_CHECK(early == 0);
   CATCH_CHECK(f.checkpoints <= threads * commits / 2);
   const int before = f.checkpoints;
   f.group.wait(f.logEnd); // stored already: returns at once
   CATCH_CHECK(f.checkpoints == before);
   CATCH_CHECK(comesTrue([&] { return f.tidied == 1; }));
}

CATCH_TEST_CASE("a checkpoint that fails is tried again while somebody waits") {
   Fixture f;
   f.logEnd = 1;
   f.failing = 2;
   f.group.wait(1);
   CATCH_CHECK(f.checkpoints == 3);

   f.failing = 1'000'000;
   f.logEnd = 2;
   std::atomic<bool> isCancelled{false};
   std::thread canceller([&] {
      static_cast<void>(comesTrue([&] { return f.checkpoints > 3; }));
      isCancelled = true;
   });
   const std::function<void()> check = [&] {
      if (isCancelled) throw SqlError(sqlstate::queryCanceled, "cancelled");
   };
   {
      const Interruptible interruptible(check);
      CATCH_CHECK(stateOf([&] { f.group.wait(2); }) == sqlstate::queryCanceled);
   }
   canceller.join();
   std::this_thread::sleep_for(std::chrono::milliseconds(CheckpointGroup::pauseMsMin * 3));
   const int attempts = f.checkpoints;
   std::this_thread::sleep_for(std::chrono::milliseconds(CheckpointGroup::pauseMsMin * 8));
   CATCH_CHECK(f.checkpoints == attempts); // no commit waits, so no checkpoint runs

   f.failing = 0;
   f.group.wait(2);
   CATCH_CHECK(f.stored == 2);
}

CATCH_TEST_CASE("who waits for the store when another server takes over does not know") {
   Fixture f;
   f.logEnd = 1;
   f.failing = 1;
   f.isFenced = true;
   CATCH_CHECK(stateOf([&] { f.group.wait(1); }) == sqlstate::transactionResolutionUnknown);
   CATCH_CHECK(stateOf([&] { f.group.wait(1); }) == sqlstate::transactionResolutionUnknown);
   CATCH_CHECK(f.checkpoints == 1);
}

namespace {

struct NoLog {
   TemporaryDirectory directory;
   DatabaseOptions options;
   StorageId id{};

   NoLog() {
      options.dataDirectory = directory.path() + "/data";
      options.keepsLog = false;
      DatabaseFixture f(options);
      const auto transaction = f.database->begin();
      id = f.database->createTable(*transaction, intAndText())->id();
      f.commit(*transaction, "table;");
      f.database->waitForStore(transaction->commitLsn());
   }
   void insert(DatabaseFixture& f, int64_t first, size_t count) {
      const auto transaction = f.database->begin();
      appendRows(*f.database->find(id), *transaction, first, count);
      f.commit(*transaction);
      f.database->waitForStore(transaction->commitLsn());
   }
};

} // namespace

CATCH_TEST_CASE("a database whose log is gone has every commit that waited for the store") {
   NoLog d;
   std::string log;
   for (int64_t round = 0; round < 5; ++round) {
      DatabaseFixture f(d.options);
      log = f.database->files().walDirectory();
      CATCH_CHECK(std::filesystem::exists(log));
      CATCH_CHECK(f.catalog == "table;");
      CATCH_CHECK(readNumbers(*f.database, *f.database->find(d.id)) == range(0, round * 20));
      d.insert(f, round * 20, 10);
      d.insert(f, round * 20 + 10, 10);
      const auto transaction = f.database->begin();
      CATCH_CHECK(transaction->commitLsn() == 0);
      appendRows(*f.database->find(d.id), *transaction, 1'000'000, 1); // this commit is not acknowledged
      f.commit(*transaction);
   }
   CATCH_CHECK(!std::filesystem::exists(log));
   {
      d.options.keepsLog = true;
      DatabaseFixture f(d.options);
      CATCH_CHECK(readNumbers(*f.database, *f.database->find(d.id)) == range(0, 100));
      d.insert(f, 100, 1);
   }
   d.options.keepsLog = false; // but the last writer kept one
   CATCH_CHECK(stateOf([&] { DatabaseFixture f(d.options); }) == sqlstate::dataCorrupted);
   d.options.keepsLog = true;
   {
      DatabaseFixture f(d.options);
      f.database->close();
   }
   d.options.keepsLog = false;
   DatabaseFixture f(d.options);
   CATCH_CHECK(readNumbers(*f.database, *f.database->find(d.id)) == range(0, 101));
   f.database->close();
}

CATCH_TEST_CASE("many small commits to the store leave few objects") {
   NoLog d;
   constexpr int64_t commits = 150;
   {
      DatabaseFixture f(d.options);
      for (int64_t n = 0; n < commits; ++n)
         d.insert(f, n * 3, 3);
      const auto table = f.database->find(d.id);
      size_t segments = 0;
      for (const SegmentPtr& segment : *table->core().segmentList())
         segments += segment->retiredAt == 0;
      CATCH_CHECK(segments < 24);
      CATCH_CHECK(readNumbers(*f.database, *table) == range(0, commits * 3));
      // Objects that are not needed are removed when no commit waits.
      const auto objects = [&] { return f.database->files().store().list("").size(); };
      CATCH_CHECK(comesTrue([&] { return objects() < 3 * segments + 10; }));
      f.database->check([](std::string_view fault) { CATCH_FAIL(std::string(fault)); });
      f.database->close();
   }
   DatabaseFixture again(d.options);
   CATCH_CHECK(readNumbers(*again.database, *again.database->find(d.id)) == range(0, commits * 3));
}
