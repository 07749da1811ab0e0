#include <atomic>
#include <catch2/catch.hpp>
#include <list>
#include <set>
#include <thread>

#include "storage/table/table_core.hpp"
#include "storage/version/write_conflict.hpp"
#include "tests/unit/storage/database_fixture.hpp"

// Checkpoints that rewrite segments while transactions read and write.

using namespace ouzel;
using namespace ouzel::storage;
using namespace ouzel::storage::test;
namespace fs = std::filesystem;

namespace {

using Numbers = std::set<int64_t>;

std::shared_ptr<Table> makeTable(DatabaseFixture& f) {
   auto transaction = f.database->begin();
   const auto table = f.database->createTable(*transaction, intAndText());
   f.commit(*transaction, "table;");
   return table;
}

void insert(DatabaseFixture& f, Table& table, int64_t first, size_t count, AppendMode mode = AppendMode::Small) {
   auto transaction = f.database->begin();
   appendRows(table, *transaction, first, count, mode);
   f.commit(*transaction);
}

std::vector<RowId> idsOf(Table& table, const Snapshot& snapshot, const std::function<bool(int64_t)>& wanted) {
   std::vector<RowId> ids;
   for (const ReadRow& row : readRows(table, snapshot))
      if (wanted(row.number)) ids.push_back(row.id);
   return ids;
}

void erase(DatabaseFixture& f, Table& table, const std::function<bool(int64_t)>& wanted) {
   auto transaction = f.database->begin();
   const Snapshot snapshot = transaction->snapshot();
   table.deleteRows(*transaction, snapshot, idsOf(table, snapshot, wanted));
   f.commit(*transaction);
}

Numbers numbersIn(Table& table, const Snapshot& snapshot) {
   Numbers numbers;
   for (const ReadRow& row : readRows(table, snapshot)) {
      const bool isNull = row.number % 10 == 0;
      CATCH_CHECK((isNull ? !row.text : row.text == "text " + std::to_string(row.number)));
      CATCH_CHECK(numbers.insert(row.number).second);
   }
   CATCH_CHECK(table.rowCount(snapshot) == numbers.size());
   return numbers;
}

size_t segmentCount(Table& table) {
   return table.core().segmentList()->size();
}

size_t blockFiles(const std::string& directory) {
   size_t count = 0;
   for (const auto& entry : fs::recursive_directory_iterator(directory + "/table"))
      count += entry.is_regular_file() && entry.path().parent_path().filename() == "block";
   return count;
}

/// The numbers in a copy of the database as after a crash: the files as they are now, without the lock, and without the
/// lease of this process, which is still alive.
Numbers afterCrash(const std::string& directory, StorageId table) {
   const std::string copy = directory + "-crashed";
   fs::remove_all(copy);
   fs::copy(directory, copy, fs::copy_options::recursive);
   fs::remove(copy + "/ouzel.lock");
   Numbers numbers;
   for (int start = 0; start < 2; ++start) { // the second without a checkpoint in between
      fs::remove_all(copy + "/writer");
      DatabaseFixture f(copy);
      auto transaction = f.database->begin();
      numbers = numbersIn(*f.database->find(table), transaction->snapshot());
      f.database->check([](std::string_view fault) { CATCH_FAIL(std::string(fault)); });
      f.database->abort(*transaction);
   }
   return numbers;
}

Numbers from(int64_t first, int64_t end, const std::function<bool(int64_t)>& wanted) {
   Numbers numbers;
   for (int64_t n = first; n < end; ++n)
      if (wanted(n)) numbers.insert(n);
   return numbers;
}

} // namespace

CATCH_TEST_CASE("a checkpoint merges segments under the eyes of older snapshots") {
   const TemporaryDirectory directory;
   DatabaseFixture f(directory.path() + "/db");
   const auto table = makeTable(f);
   insert(f, *table, 0, 5000);
   f.database->checkpoint();
   insert(f, *table, 5000, 5000, AppendMode::Bulk);
   auto reader = f.database->begin();
   const Snapshot before = reader->snapshot();
   const std::vector<RowId> ids = idsOf(*table, before, [](int64_t n) { return n == 77 || n == 78; });
   erase(f, *table, [](int64_t n) { return n % 3 == 0; });
   insert(f, *table, 10'000, 100);
   f.database->checkpoint();
   const Numbers all = from(0, 10'000, [](int64_t) { return true; });
   const Numbers left = from(0, 10'100, [](int64_t n) { return n % 3 != 0 || n >= 10'000; });
   CATCH_CHECK(numbersIn(*table, before) == all);
   auto now = f.database->begin();
   CATCH_CHECK(numbersIn(*table, now->snapshot()) == left);
   CATCH_CHECK(segmentCount(*table) == 3); // the rows inserted after the snapshot are not kept for it
   CATCH_CHECK(f.database->deltaBytes() > 0);

   CATCH_SECTION("rows are found where they are now by whoever writes with an old snapshot") {
      uint8_t isLocked[2];
      CATCH_CHECK_THROWS_AS(table->lockRows(*reader, before, ids, {.skip = true}, isLocked),
                            WriteConflict); // 78 is deleted
      CATCH_CHECK((isLocked[0] == 1 && isLocked[1] == 0));
      try {
         table->deleteRows(*now, now->snapshot(), idsOf(*table, now->snapshot(), [](int64_t n) { return n == 77; }));
         CATCH_FAIL("no conflict");
      } catch (const WriteConflict& conflict) {
         CATCH_CHECK(conflict.holder == reader->id());
      }
      const auto savepoint = reader->savepoint();
      const std::span<const RowId> row77(ids.data(), 1);
      CATCH_CHECK(table->deleteRows(*reader, before, row77) == 1);
      CATCH_CHECK(table->deleteRows(*reader, before, row77) == 0);
      reader->nextCommand();
      Numbers without = all;
      without.erase(77);
      CATCH_CHECK(numbersIn(*table, reader->refreshed(before)) == without);
      CATCH_CHECK(numbersIn(*table, before) == all); // as before the command
      reader->rollbackTo(savepoint);
      CATCH_CHECK(numbersIn(*table, reader->refreshed(before)) == all);
      CATCH_CHECK(table->deleteRows(*reader, reader->refreshed(before), row77) == 1);
      auto other = f.database->begin();
      f.commit(*reader);
      CATCH_CHECK(readNumbers(*f.database, *table).size() == left.size() - 1);
      f.database->abort(*now);
      f.database->checkpoint();
      CATCH_CHECK(readNumbers(*f.database, *table).size() == left.size() - 1);
      f.database->abort(*other);
   }
   CATCH_SECTION("what nobody reads goes away") {
      f.database->abort(*reader);
      f.database->abort(*now);
      insert(f, *table, 20'000, 1);
      CATCH_CHECK(segmentCount(*table) == 2);
      CATCH_CHECK(blockFiles(f.directory) == 1);
      f.database->checkpoint();
      CATCH_CHECK(segmentCount(*table) == 1);
      CATCH_CHECK(blockFiles(f.directory) == 1);
   }
   CATCH_CHECK(afterCrash(f.directory, table->id()).size() >= left.size() - 1);
}

CATCH_TEST_CASE("rewritten segments are found in the log whatever order they came into the table") {
   // A load becomes a segment when its commit is published. A small insert gets its place, and perhaps a new segment,
   // before that.
   const TemporaryDirectory directory;
   DatabaseFixture f(directory.path() + "/db");
   const auto table = makeTable(f);
   constexpr int64_t rounds = 100, loaded = vectorRows; // enough rows for a segment of their own
   for (int64_t round = 0; round < rounds; ++round) {
      const int64_t first = round * (loaded + 1);
      auto load = f.database->begin(), small = f.database->begin();
      appendRows(*table, *load, first, loaded);
      appendRows(*table, *small, first + loaded, 1);
      std::thread loader([&] { f.commit(*load); });
      std::this_thread::sleep_for(std::chrono::microseconds(10 * round)); // some pause ends during the load's sync
      f.commit(*small);
      loader.join();
      TableCore& core = table->core();
      const MutexLock lock(core.mutex);
      core.sealDelta();
   }
   CATCH_CHECK(segmentCount(*table) == 2 * rounds);
   f.database->setCatalogImageSource([]() -> std::string { throw SqlError(sqlstate::ioError, "no image"); });
   CATCH_CHECK_THROWS_AS(f.database->checkpoint(), SqlError); // fails after it has rewritten the segments
   CATCH_CHECK(segmentCount(*table) == 1);
   CATCH_CHECK(afterCrash(f.directory, table->id()) == from(0, rounds * (loaded + 1), [](int64_t) { return true; }));
}

CATCH_TEST_CASE("segments with rows in somebody's hands are left alone") {
   const TemporaryDirectory directory;
   DatabaseFixture f(directory.path() + "/db");
   const auto table = makeTable(f);
   insert(f, *table, 0, 1000);
   f.database->checkpoint();
   insert(f, *table, 1000, 1000);
   erase(f, *table, [](int64_t n) { return n < 500; });
   auto writer = f.database->begin();
   const Snapshot snapshot = writer->snapshot();
   const std::vector<RowId> ids = idsOf(*table, snapshot, [](int64_t n) { return n % 100 == 99; });
   const bool locksOnly = GENERATE(false, true);
   if (locksOnly) {
      std::vector<uint8_t> isLocked(ids.size());
      table->lockRows(*writer, snapshot, ids, {}, isLocked);
   } else {
      table->deleteRows(*writer, snapshot, ids);
   }
   f.database->checkpoint();
   CATCH_CHECK(segmentCount(*table) == 2);
   // The row ids are still valid.
   CATCH_CHECK(table->deleteRows(*writer, snapshot, ids) == (locksOnly ? ids.size() : 0));
   f.commit(*writer);
   f.database->checkpoint();
   CATCH_CHECK(segmentCount(*table) == 1);
   const Numbers left = from(500, 2000, [](int64_t n) { return n % 100 != 99; });
   auto reader = f.database->begin();
   CATCH_CHECK(numbersIn(*table, reader->snapshot()) == left);
   f.database->abort(*reader);
   CATCH_CHECK(afterCrash(f.directory, table->id()) == left);
}

CATCH_TEST_CASE("an old snapshot keeps the segments it reads, not those made and retired since") {
   const TemporaryDirectory directory;
   DatabaseFixture f(directory.path() + "/db");
   const auto table = makeTable(f);
   int64_t next = 0;
   const auto replaceAll = [&] {
      erase(f, *table, [](int64_t) { return true; });
      insert(f, *table, next, 1000);
      next += 1000;
      f.database->checkpoint();
   };
   const auto thousand = [](int64_t first) { return from(first, first + 1000, [](int64_t) { return true; }); };
   replaceAll();
   insert(f, *table, next, 1000); // still a delta when the snapshots are taken
   next += 1000;
   auto first = f.database->begin();
   const Snapshot oldest = first->snapshot();
   std::this_thread::sleep_for(std::chrono::milliseconds(1100)); // a long transaction from here on
   for (int round = 0; round < 10; ++round)
      replaceAll();
   const size_t perSnapshot = segmentCount(*table);
   CATCH_CHECK(perSnapshot <= 4);
   CATCH_CHECK(f.database->deltaBytes() == 0);
   auto second = f.database->begin();
   const Snapshot later = second->snapshot();
   const int64_t seen = next - 1000;
   for (int round = 0; round < 10; ++round)
      replaceAll();
   CATCH_CHECK(segmentCount(*table) <= 2 * perSnapshot);
   CATCH_CHECK(numbersIn(*table, oldest) == from(0, 2000, [](int64_t) { return true; }));
   CATCH_CHECK(numbersIn(*table, later) == thousand(seen));
   f.database->abort(*first);
   CATCH_CHECK(segmentCount(*table) < 2 * perSnapshot);
   CATCH_CHECK(numbersIn(*table, later) == thousand(seen));
   f.database->abort(*second);
   CATCH_CHECK(segmentCount(*table) == 1);
   CATCH_CHECK(readNumbers(*f.database, *table).size() == 1000);
   f.database->checkpoint();
   CATCH_CHECK(blockFiles(f.directory) == 1);
   CATCH_CHECK(afterCrash(f.directory, table->id()) == thousand(next - 1000));
}

CATCH_TEST_CASE("replaced blocks stay for servers that only read as long as the options say") {
   DatabaseOptions options;
   const TemporaryDirectory directory;
   options.dataDirectory = directory.path() + "/db";
   options.replacedBlocksNanos = 1'500'000'000; // longer than the statements below take on a busy machine
   DatabaseFixture f(options);
   const auto table = makeTable(f);
   insert(f, *table, 0, 5000);
   f.database->checkpoint();
   CATCH_CHECK(blockFiles(f.directory) == 1);
   erase(f, *table, [](int64_t n) { return n >= 100; });
   f.database->checkpoint();
   CATCH_CHECK(blockFiles(f.directory) == 2);
   std::this_thread::sleep_for(std::chrono::milliseconds(1600));
   insert(f, *table, 5000, 1); // a commit removes what is due
   CATCH_CHECK(blockFiles(f.directory) == 1);
   erase(f, *table, [](int64_t n) { return n >= 10; });
   f.database->checkpoint();
   CATCH_CHECK(blockFiles(f.directory) == 2);
   f.database->close();
   CATCH_CHECK(blockFiles(f.directory) == 1);
}

CATCH_TEST_CASE("random transactions, old snapshots and compaction: every snapshot is as the model has it") {
   const TemporaryDirectory directory;
   const unsigned seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u);
   std::mt19937 random(seed);
   const auto below = [&](unsigned bound) { return static_cast<unsigned>(random() % bound); };
   auto f = std::make_unique<DatabaseFixture>(directory.path() + "/db");
   auto table = makeTable(*f);
   const StorageId id = table->id();
   struct Open {
      std::unique_ptr<Transaction> transaction;
      Snapshot snapshot;
      Numbers expected;          ///< rows that its snapshot sees, with its own changes
      Numbers deleted, inserted; ///< by this transaction
   };
   Numbers committed;
   std::set<int64_t> taken; ///< rows that open transactions have deleted
   std::list<Open> open;
   int64_t next = 0;
   const auto see = [&](Open& one) {
      CATCH_CHECK(numbersIn(*table, one.transaction->refreshed(one.snapshot)) == one.expected);
   };
   const auto end = [&](std::list<Open>::iterator it, bool commits) {
      for (const int64_t n : it->deleted)
         taken.erase(n);
      if (commits) {
         for (const int64_t n : it->deleted)
            committed.erase(n);
         committed.insert(it->inserted.begin(), it->inserted.end());
         f->commit(*it->transaction);
      } else {
         f->database->abort(*it->transaction);
      }
      open.erase(it);
   };
   for (int step = 0; step < 250; ++step) {
      const unsigned kind = below(20);
      if (open.empty() || (kind < 3 && open.size() < 5)) {
         Open one;
         one.transaction = f->database->begin();
         one.snapshot = one.transaction->snapshot();
         one.expected = committed;
         open.push_back(std::move(one));
         continue;
      }
      const auto it = std::next(open.begin(), below(static_cast<unsigned>(open.size())));
      if (kind < 7) {
         const size_t count = below(4) == 0 ? 2500 : below(40) + 1;
         appendRows(*table, *it->transaction, next, count, below(5) == 0 ? AppendMode::Bulk : AppendMode::Small);
         for (size_t i = 0; i < count; ++i) {
            it->inserted.insert(next);
            it->expected.insert(next++);
         }
         it->transaction->nextCommand();
      } else if (kind < 11) {
         const int64_t modulus = below(5) + 2, remainder = below(static_cast<unsigned>(modulus));
         const Snapshot snapshot = it->transaction->refreshed(it->snapshot);
         const auto hit = [&](int64_t n) { return n % modulus == remainder && !taken.contains(n); };
         const std::vector<RowId> ids = idsOf(*table, snapshot, hit);
         const bool isGone = std::any_of(it->expected.begin(), it->expected.end(), [&](int64_t n) {
            return hit(n) && !it->inserted.contains(n) && !committed.contains(n);
         });
         const auto savepoint = it->transaction->savepoint();
         try {
            if (below(3) == 0) {
               std::vector<uint8_t> isLocked(ids.size());
               table->lockRows(*it->transaction, it->transaction->refreshed(it->snapshot), ids, {}, isLocked);
            }
            table->deleteRows(*it->transaction, it->transaction->refreshed(it->snapshot), ids);
            CATCH_CHECK(!isGone);
            if (below(4) == 0) { // once more, after a rollback
               it->transaction->rollbackTo(savepoint);
               CATCH_CHECK(idsOf(*table, it->transaction->refreshed(it->snapshot), hit) == ids);
               table->deleteRows(*it->transaction, it->transaction->refreshed(it->snapshot), ids);
               it->transaction->nextCommand();
            }
            for (auto row = it->expected.begin(); row != it->expected.end();) {
               if (!hit(*row)) {
                  ++row;
                  continue;
               }
               if (it->inserted.erase(*row) == 0) {
                  it->deleted.insert(*row);
                  taken.insert(*row);
               }
               row = it->expected.erase(row);
            }
            it->transaction->nextCommand();
         } catch (const WriteConflict& conflict) {
            CATCH_CHECK(isGone); // checkpoints make no conflicts
            CATCH_CHECK(conflict.holder == 0);
            CATCH_CHECK(conflict.committedAt > it->snapshot.commitTimestamp);
            it->transaction->rollbackTo(savepoint);
         }
      } else if (kind < 14) {
         see(*it);
         end(it, below(4) != 0);
      } else if (kind < 17) {
         f->database->checkpoint();
      } else if (kind == 17) {
         CATCH_CHECK(afterCrash(f->directory, id) == committed);
      } else if (kind == 18 && below(4) == 0) {
         while (!open.empty())
            end(open.begin(), below(2) == 0);
         const bool closes = below(2) == 0;
         if (closes) f->database->close();
         table = nullptr;
         f = nullptr;
         fs::remove_all(directory.path() + "/db/writer");
         f = std::make_unique<DatabaseFixture>(directory.path() + "/db");
         table = f->database->find(id);
      } else {
         for (Open& one : open)
            see(one);
      }
   }
   while (!open.empty()) {
      see(open.front());
      end(open.begin(), true);
   }
   f->database->checkpoint();
   auto reader = f->database->begin();
   CATCH_CHECK(numbersIn(*table, reader->snapshot()) == committed);
   f->database->abort(*reader);
   CATCH_CHECK(segmentCount(*table) <= 1);
   CATCH_CHECK(blockFiles(f->directory) <= 1);
}

CATCH_TEST_CASE("writers and readers go on while segments are rewritten") {
   constexpr int64_t rows = 6000, generation = 1'000'000;
   const TemporaryDirectory directory;
   DatabaseFixture f(directory.path() + "/db");
   const auto table = makeTable(f);
   insert(f, *table, 0, rows);
   std::atomic<bool> isOver{false};
   std::atomic<uint64_t> updates{0}, conflicts{0};
   // Row n is replaced by n + generation, so modulo `generation` the table has the same rows at any time.
   const auto write = [&](unsigned seed) {
      std::mt19937 random(seed);
      while (!isOver) {
         auto transaction = f.database->begin();
         const Snapshot snapshot = transaction->snapshot();
         const int64_t wanted = static_cast<int64_t>(random() % rows);
         const int64_t span = random() % 8 == 0 ? 200 : 1;
         std::vector<RowId> ids;
         std::vector<int64_t> numbers;
         for (const ReadRow& row : readRows(*table, snapshot))
            if (row.number % generation >= wanted && row.number % generation < wanted + span) {
               ids.push_back(row.id);
               numbers.push_back(row.number);
            }
         try {
            if (random() % 4 == 0) {
               std::vector<uint8_t> isLocked(ids.size());
               table->lockRows(*transaction, snapshot, ids, {}, isLocked);
            }
            table->deleteRows(*transaction, snapshot, ids);
         } catch (const WriteConflict&) {
            ++conflicts;
            f.database->abort(*transaction);
            continue;
         }
         for (const int64_t number : numbers)
            appendRows(*table, *transaction, number + generation, 1);
         if (random() % 10 == 0) {
            f.database->abort(*transaction);
         } else {
            CommitRequest request;
            f.database->commit(*transaction, std::move(request));
            ++updates;
         }
      }
   };
   std::atomic<uint64_t> wrong{0}, reads{0};
   const auto read = [&] {
      while (!isOver) {
         auto transaction = f.database->begin();
         const Snapshot snapshot = transaction->snapshot();
         std::vector<ReadRow> first;
         for (int i = 0; i < 3; ++i) {
            std::vector<ReadRow> found = readRows(*table, snapshot);
            std::set<int64_t> distinct;
            for (const ReadRow& row : found)
               distinct.insert(row.number % generation);
            if (distinct.size() != rows || found.size() != rows) ++wrong;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
         }
         ++reads;
         f.database->abort(*transaction);
      }
   };
   std::vector<std::thread> threads;
   for (unsigned i = 0; i < 3; ++i)
      threads.emplace_back(write, i);
   threads.emplace_back(read);
   uint64_t checkpoints = 0, moved = 0;
   const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(3);
   while (std::chrono::steady_clock::now() < until) {
      const auto before = table->core().segmentList();
      f.database->checkpoint();
      ++checkpoints;
      moved += table->core().segmentList()->back()->id != before->back()->id;
   }
   isOver = true;
   for (std::thread& thread : threads)
      thread.join();
   CATCH_CHECK(wrong == 0);
   CATCH_CHECK(updates > 0);
   CATCH_CHECK(reads > 0);
   CATCH_CHECK(moved > 0);
   CATCH_INFO(checkpoints << " checkpoints, " << updates << " updates, " << conflicts << " conflicts");
   auto reader = f.database->begin();
   const size_t count = numbersIn(*table, reader->snapshot()).size();
   f.database->abort(*reader);
   CATCH_CHECK(count == rows);
   CATCH_CHECK(afterCrash(f.directory, table->id()).size() == rows);
}
