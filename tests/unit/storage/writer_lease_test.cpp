#include "storage/manifest/writer_lease.hpp"

#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <thread>

#include "common/error/sql_error.hpp"
#include "io/directory/directory_store.hpp"
#include "io/sim/disk.hpp"
#include "storage/database/database_files.hpp"
#include "storage/manifest/manifest.hpp"
#include "tests/unit/storage/database_fixture.hpp"

// Two servers and one database: first the lease alone, with a simulated clock, then whole databases.

using namespace ouzel;
using namespace ouzel::storage;
using namespace ouzel::storage::test;

namespace {

constexpr int64_t second = 1'000'000'000;

struct Fixture {
   TemporaryDirectory directory;
   io::DirectoryStore store{directory.path()};
   int64_t clock = 1000 * second;
   std::function<void()> whileSleeping;
   int fenced = 0;

   LeaseOptions options(bool takesOver = false) {
      LeaseOptions result;
      result.takesOver = takesOver;
      result.renewsItself = false;
      result.now = [this] { return clock; };
      result.sleep = [this](int64_t nanos) {
         clock += nanos;
         if (whileSleeping) whileSleeping();
      };
      result.onFenced = [this](const std::string&) { ++fenced; };
      return result;
   }

   /// Changes the newest entry of the chain, so that its holder seems to be another process or machine.
   void moveHolder(const std::function<void(WriterIdentity&)>& change) {
      LeaseEntry entry = *LeaseEntry::newest(store);
      change(entry.holder);
      entry.holder.id ^= 1;
      ++entry.number;
      CATCH_REQUIRE(putSealed(store, LeaseEntry::objectName(entry.number), entry.serialize()));
   }
};

} // namespace

CATCH_TEST_CASE("one writer at a time; a released lease is free at once") {
   Fixture f;
   {
      WriterLease first(f.store, f.options(), 6);
      CATCH_CHECK(first.epoch() == 7);
      CATCH_CHECK(stateOf([&] { WriterLease second(f.store, f.options(), 0); }) == sqlstate::objectInUse);
      first.release();
   }
   WriterLease second(f.store, f.options(), 0);
   CATCH_CHECK(second.epoch() == 8);
   CATCH_CHECK(!second.mayPredecessorLive());
   CATCH_CHECK(f.store.list("writer/", 10).size() == 1);
}

CATCH_TEST_CASE("the lease of a process of this machine that is gone is free at once") {
   Fixture f;
   { WriterLease crashed(f.store, f.options(), 0); }
   const int64_t before = f.clock;
   { WriterLease next(f.store, f.options(), 0); }
   f.moveHolder([](WriterIdentity& holder) { holder.processId = 1 << 30; });
   { WriterLease next(f.store, f.options(), 0); }
   f.moveHolder([](WriterIdentity& holder) { ++holder.startTicks; }); // the process id was reused
   WriterLease next(f.store, f.options(), 0);
   CATCH_CHECK(next.epoch() == 4);
   CATCH_CHECK(f.clock == before);
}

CATCH_TEST_CASE("a lease that may be held is waited for") {
   Fixture f;
   { WriterLease crashed(f.store, f.options(), 0); }
   const int64_t before = f.clock;
   CATCH_SECTION("on this machine, started anew") {
      f.moveHolder([](WriterIdentity& holder) { holder.boot = "another"; });
   }
   CATCH_SECTION("elsewhere, when told so") {
      f.moveHolder([](WriterIdentity& holder) { holder.boot = holder.machine = holder.host = "another"; });
      CATCH_CHECK(stateOf([&] { WriterLease next(f.store, f.options(), 0); }) == sqlstate::objectInUse);
      CATCH_CHECK(f.clock == before);
   }
   WriterLease next(f.store, f.options(true), 0);
   CATCH_CHECK(next.mayPredecessorLive());
   CATCH_CHECK(f.clock >= before + 11 * second);
   CATCH_CHECK(f.clock < before + 12 * second);
}

CATCH_TEST_CASE("a lease that is renewed is not taken over") {
   Fixture f;
   WriterLease first(f.store, f.options(), 0);
   int64_t renewAt = f.clock + 9 * second;
   f.whileSleeping = [&] {
      if (f.clock >= renewAt) first.renew();
   };
   CATCH_CHECK(stateOf([&] { WriterLease second(f.store, f.options(true), 0); }) == sqlstate::objectInUse);
   CATCH_CHECK(f.fenced == 0);
   first.require();
   // The lease is released during the wait.
   renewAt = INT64_MAX;
   const int64_t releaseAt = f.clock + 3 * second;
   f.whileSleeping = [&] {
      if (f.clock >= releaseAt) first.release();
   };
   WriterLease next(f.store, f.options(true), 0);
   CATCH_CHECK(f.clock < releaseAt + second);
   CATCH_CHECK(!next.mayPredecessorLive());
}

CATCH_TEST_CASE("who is fenced out knows it, however late") {
   Fixture f;
   WriterLease first(f.store, f.options(), 0);
   WriterLease second(f.store, f.options(true), 0);
   // The lease's objects of earlier renewals are removed already.
   const int renewals = GENERATE(0, 1, 5);
   for (int i = 0; i < renewals; ++i)
      second.renew();
   CATCH_CHECK(!first.confirm());
   CATCH_CHECK(first.isFenced());
   CATCH_CHECK(f.fenced == 1);
   CATCH_CHECK(stateOf([&] { first.require(); }) == sqlstate::readOnlySqlTransaction);
   first.release(); // changes nothing
   second.renew();
   CATCH_CHECK(second.confirm());
   CATCH_CHECK(LeaseEntry::newest(f.store)->epoch == second.epoch());
   CATCH_CHECK(!LeaseEntry::newest(f.store)->isReleased);
}

CATCH_TEST_CASE("an expired lease that nobody took is renewed") {
   Fixture f;
   WriterLease lease(f.store, f.options(), 0);
   f.clock += 100 * second;
   CATCH_CHECK(lease.confirm());
   f.clock += 100 * second;
   lease.require();
   CATCH_CHECK(f.fenced == 0);
}

CATCH_TEST_CASE("a database that was taken over accepts nothing more") {
   TemporaryDirectory directory;
   DatabaseOptions options;
   options.dataDirectory = directory.path() + "/data";
   options.leaseMs = 300;
   int fenced = 0;
   options.onFenced = [&](const std::string&) { ++fenced; };
   const auto insert = [](DatabaseFixture& f, StorageId id, int64_t first, size_t count, AppendMode mode) {
      const auto transaction = f.database->begin();
      appendRows(*f.database->find(id), *transaction, first, count, mode);
      f.commit(*transaction);
   };
   StorageId id;
   {
      DatabaseFixture first(options);
      {
         const auto transaction = first.database->begin();
         id = first.database->createTable(*transaction, intAndText())->id();
         first.commit(*transaction, "table;");
      }
      insert(first, id, 0, 100, AppendMode::Small);
      DatabaseOptions plain = options;
      CATCH_CHECK(stateOf([&] { DatabaseFixture second(plain); }) == sqlstate::objectInUse);
      options.takeOver = true;
      CATCH_CHECK(stateOf([&] { DatabaseFixture second(options); }) == sqlstate::objectInUse); // it renews
      insert(first, id, 100, 100, AppendMode::Small);
      first.database->files().lease()->stopRenewing();
      {
         DatabaseFixture second(options);
         CATCH_CHECK(readNumbers(*second.database, *second.database->find(id)) == range(0, 200));
         const bool hasMoved = GENERATE(false, true);
         if (hasMoved) {
            insert(second, id, 200, 100, AppendMode::Small);
            second.database->checkpoint();
            second.database->checkpoint();
            second.database->checkpoint();
         }
         CATCH_CHECK(stateOf([&] { insert(first, id, 1000, 10, AppendMode::Small); }) ==
                     sqlstate::readOnlySqlTransaction);
         CATCH_CHECK(stateOf([&] { insert(first, id, 1000, 40'000, AppendMode::Bulk); }) ==
                     sqlstate::readOnlySqlTransaction);
         CATCH_CHECK(stateOf([&] { first.database->checkpoint(); }) == sqlstate::readOnlySqlTransaction);
         CATCH_CHECK(stateOf([&] { first.database->syncLog(); }) == sqlstate::readOnlySqlTransaction);
         CATCH_CHECK(stateOf([&] { first.database->close(); }) == sqlstate::readOnlySqlTransaction);
         CATCH_CHECK(fenced == 1);
         insert(second, id, hasMoved ? 300 : 200, 100, AppendMode::Small);
         // and a crash
      }
   }
   options.takeOver = false;
   DatabaseFixture third(options);
   const auto numbers = readNumbers(*third.database, *third.database->find(id));
   CATCH_CHECK(numbers == range(0, static_cast<int64_t>(numbers.size())));
   CATCH_CHECK(numbers.size() >= 300);
   third.database->check([](std::string_view fault) { CATCH_FAIL(std::string(fault)); });
   third.database->close();
}

CATCH_TEST_CASE("a database without its log opens when taken over, as of its last checkpoint") {
   TemporaryDirectory directory;
   DatabaseOptions options;
   options.dataDirectory = directory.path() + "/data";
   StorageId id;
   {
      DatabaseFixture f(options);
      auto transaction = f.database->begin();
      id = f.database->createTable(*transaction, intAndText())->id();
      appendRows(*f.database->find(id), *transaction, 0, 100);
      f.commit(*transaction, "table;");
      f.database->checkpoint();
      transaction = f.database->begin();
      appendRows(*f.database->find(id), *transaction, 100, 100);
      f.commit(*transaction);
   }
   std::filesystem::rename(options.dataDirectory + "/wal", directory.path() + "/lost");
   CATCH_CHECK(stateOf([&] { DatabaseFixture f(options); }) == sqlstate::dataCorrupted);
   options.takeOver = true;
   {
      DatabaseFixture f(options);
      CATCH_CHECK(readNumbers(*f.database, *f.database->find(id)) == range(0, 100));
      const auto transaction = f.database->begin();
      appendRows(*f.database->find(id), *transaction, 100, 50);
      f.commit(*transaction);
   }
   options.takeOver = false;
   {
      DatabaseFixture f(options);
      CATCH_CHECK(readNumbers(*f.database, *f.database->find(id)) == range(0, 150));
   }
   // The lost log is back, but it is older than the state after the takeover, so the start refuses it.
   std::filesystem::remove_all(options.dataDirectory + "/wal");
   std::filesystem::rename(directory.path() + "/lost", options.dataDirectory + "/wal");
   CATCH_CHECK(stateOf([&] { DatabaseFixture f(options); }) == sqlstate::dataCorrupted);
}

CATCH_TEST_CASE("a manifest that was stored when the lease could not be renewed is nobody else's") {
   io::sim::Disk disk(1);
   io::FileSystem::replace(&disk);
   {
      DatabaseOptions options;
      options.dataDirectory = "/data";
      options.leaseMs = 50;
      DatabaseFixture f(options);
      f.database->files().lease()->stopRenewing();
      bool isStored = false;
      disk.onOperation = [&](io::sim::Operation operation, const std::string& path, bool isAfter) {
         if (operation != io::sim::Operation::SyncDirectory) return 0;
         if (path == "/data/manifest" && isAfter && !isStored) {
            isStored = true;
            std::this_thread::sleep_for(std::chrono::milliseconds(options.leaseMs * 2)); // the lease has expired
         }
         return path == "/data/writer" && !isAfter && isStored ? -EIO : 0;
      };
      CATCH_CHECK(stateOf([&] { f.database->checkpoint(); }) == sqlstate::ioError);
      CATCH_CHECK(isStored);
      disk.onOperation = nullptr;
      CATCH_CHECK(stateOf([&] { f.database->checkpoint(); }) == sqlstate::successfulCompletion);
      f.database->close();
   }
   io::FileSystem::replace(nullptr);
}
