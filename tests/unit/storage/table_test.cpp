#include <catch2/catch.hpp>
#include <thread>

#include "common/error/sql_error.hpp"
#include "storage/version/write_conflict.hpp"
#include "tests/unit/storage/database_fixture.hpp"

using namespace ouzel;
using namespace ouzel::storage;
using namespace ouzel::storage::test;

CATCH_TEST_CASE("inserted rows are seen by their transaction's next command, and by others after commit") {
   OneTable f;
   auto writer = f.database->begin();
   const Snapshot before = writer->snapshot();
   appendRows(*f.table, *writer, 0, 10);
   CATCH_CHECK(readRows(*f.table, before).empty());
   writer->nextCommand();
   CATCH_CHECK(readRows(*f.table, writer->refreshed(before)).size() == 10);
   auto other = f.database->begin();
   const Snapshot old = other->snapshot();
   CATCH_CHECK(readRows(*f.table, old).empty());
   f.commit(*writer);
   CATCH_CHECK(readRows(*f.table, old).empty());
   CATCH_CHECK(readRows(*f.table, other->snapshot()).size() == 10);
   CATCH_CHECK(f.table->rowCount(other->snapshot()) == 10);
   CATCH_CHECK(f.table->rowCount(old) == 0);
}

CATCH_TEST_CASE("rows come back whole at every size and mode") {
   for (const size_t count : {0u, 1u, 2u, 63u, 64u, 65u, 2047u, 2048u, 2049u, 32767u, 32768u, 40000u, 70000u}) {
      for (const AppendMode mode : {AppendMode::Small, AppendMode::Bulk}) {
         CATCH_INFO(count);
         OneTable f;
         f.insert(5, count, mode);
         CATCH_REQUIRE(readNumbers(*f.database, *f.table) == range(5, 5 + static_cast<int64_t>(count)));
      }
   }
}

CATCH_TEST_CASE("aborted rows and marks vanish") {
   OneTable f;
   f.insert(0, 100);
   auto transaction = f.database->begin();
   appendRows(*f.table, *transaction, 100, 40000, AppendMode::Bulk);
   f.table->deleteRows(*transaction, transaction->snapshot(),
                       f.idsOf(transaction->snapshot(), [](int64_t n) { return n < 50; }));
   transaction->nextCommand();
   CATCH_CHECK(readRows(*f.table, transaction->snapshot()).size() == 40050);
   f.database->abort(*transaction);
   CATCH_CHECK(readNumbers(*f.database, *f.table) == range(0, 100));
}

CATCH_TEST_CASE("savepoints take back rows and marks since then") {
   OneTable f;
   f.insert(0, 10);
   auto transaction = f.database->begin();
   appendRows(*f.table, *transaction, 10, 10);
   const auto savepoint = transaction->savepoint();
   appendRows(*f.table, *transaction, 20, 10);
   transaction->nextCommand();
   CATCH_CHECK(f.table->deleteRows(*transaction, transaction->snapshot(),
                                   f.idsOf(transaction->snapshot(), [](int64_t) { return true; })) == 30);
   transaction->nextCommand();
   CATCH_CHECK(readRows(*f.table, transaction->snapshot()).empty());
   transaction->rollbackTo(savepoint);
   CATCH_CHECK(readRows(*f.table, transaction->snapshot()).size() == 20);
   appendRows(*f.table, *transaction, 20, 5);
   f.commit(*transaction);
   CATCH_CHECK(readNumbers(*f.database, *f.table) == range(0, 25));
}

CATCH_TEST_CASE("of two transactions that delete a row the first wins") {
   OneTable f;
   f.insert(0, 10);
   auto a = f.database->begin(), b = f.database->begin();
   const Snapshot snapshotB = b->snapshot();
   const auto ids = f.idsOf(a->snapshot(), [](int64_t n) { return n == 3; });
   uint8_t now[2];
   const RowId twice[] = {ids[0], ids[0]};
   CATCH_CHECK(f.table->deleteRows(*a, a->snapshot(), twice, now) == 1);
   CATCH_CHECK(now[0] == 1);
   CATCH_CHECK(now[1] == 0);
   const auto isConflict = [&](const Snapshot& snapshot) {
      try {
         f.table->deleteRows(*b, snapshot, ids);
         return false;
      } catch (const SqlError& error) {
         return error.state() == sqlstate::tRSerializationFailure;
      }
   };
   CATCH_CHECK(isConflict(snapshotB));
   f.commit(*a);
   CATCH_CHECK(isConflict(snapshotB));
   CATCH_CHECK(readRows(*f.table, snapshotB).size() == 10);
   // A snapshot that sees the delete deletes no rows.
   CATCH_CHECK(f.table->deleteRows(*b, b->snapshot(), ids) == 0);
   f.database->abort(*b);
   CATCH_CHECK(readNumbers(*f.database, *f.table).size() == 9);
}

CATCH_TEST_CASE("locked rows are seen by all and kept from others until their transaction ends") {
   OneTable f;
   f.insert(0, 10);
   auto a = f.database->begin();
   const auto ids = f.idsOf(a->snapshot(), [](int64_t n) { return n < 3; });
   const auto holderSeenBy = [&](Transaction& b, bool forLock) -> TransactionId {
      uint8_t now[3];
      try {
         if (forLock)
            f.table->lockRows(b, b.snapshot(), ids, {}, now);
         else
            f.table->deleteRows(b, b.snapshot(), ids);
         return 0;
      } catch (const WriteConflict& conflict) {
         CATCH_CHECK(conflict.row == ids[0]);
         return conflict.holder;
      }
   };
   uint8_t locked[3];
   f.table->lockRows(*a, a->snapshot(), ids, {}, locked);
   CATCH_CHECK((locked[0] && locked[1] && locked[2]));
   CATCH_CHECK(a->isReadOnly());
   a->nextCommand();
   CATCH_CHECK(readNumbers(*f.database, *f.table) == range(0, 10));
   CATCH_CHECK(readRows(*f.table, a->snapshot()).size() == 10);
   {
      auto b = f.database->begin();
      CATCH_CHECK(holderSeenBy(*b, true) == a->id());
      CATCH_CHECK(holderSeenBy(*b, false) == a->id());
      f.table->lockRows(*b, b->snapshot(), ids, {.skip = true}, locked);
      CATCH_CHECK(!(locked[0] || locked[1] || locked[2]));
   }
   // A delete replaces the lock; its rollback restores the lock.
   const auto savepoint = a->savepoint();
   CATCH_CHECK(f.table->deleteRows(*a, a->snapshot(), ids) == 3);
   a->nextCommand();
   CATCH_CHECK(readRows(*f.table, a->snapshot()).size() == 7);
   a->rollbackTo(savepoint);
   CATCH_CHECK(readRows(*f.table, a->snapshot()).size() == 10);
   {
      auto b = f.database->begin();
      CATCH_CHECK(holderSeenBy(*b, false) == a->id());
   }
   // When a statement is repeated, all rows that it had deleted stay locked, even those that were not locked before.
   const auto more = f.idsOf(a->snapshot(), [](int64_t n) { return n < 5; });
   const auto again = a->savepoint();
   CATCH_CHECK(f.table->deleteRows(*a, a->snapshot(), more) == 5);
   a->rollbackTo(again, true);
   CATCH_CHECK(readRows(*f.table, a->snapshot()).size() == 10);
   {
      auto b = f.database->begin();
      CATCH_CHECK_THROWS_AS(f.table->deleteRows(*b, b->snapshot(), std::span(more).subspan(4)), WriteConflict);
   }
   CATCH_CHECK(f.table->deleteRows(*a, a->snapshot(), std::span(more).first(1)) == 1);
   f.commit(*a);
   CATCH_CHECK(readNumbers(*f.database, *f.table) == range(1, 10));
   auto b = f.database->begin();
   CATCH_CHECK(f.table->deleteRows(*b, b->snapshot(), more) == 4);
   f.commit(*b);
   CATCH_CHECK(readNumbers(*f.database, *f.table) == range(5, 10));
}

CATCH_TEST_CASE("own rows can be deleted before they are committed") {
   OneTable f;
   for (const size_t count : {10u, 3000u, 40000u}) {
      auto transaction = f.database->begin();
      appendRows(*f.table, *transaction, 0, count, AppendMode::Bulk);
      transaction->nextCommand();
      f.table->deleteRows(*transaction, transaction->snapshot(),
                          f.idsOf(transaction->snapshot(), [](int64_t n) { return n % 2 == 1; }));
      f.commit(*transaction);
      CATCH_CHECK(readNumbers(*f.database, *f.table).size() == count / 2);
      auto all = f.database->begin();
      f.table->deleteRows(*all, all->snapshot(), f.idsOf(all->snapshot(), [](int64_t) { return true; }));
      f.commit(*all);
      CATCH_CHECK(readNumbers(*f.database, *f.table).empty());
   }
}

CATCH_TEST_CASE("many threads append to one table under one transaction") {
   OneTable f;
   auto transaction = f.database->begin();
   std::vector<std::thread> threads;
   for (int64_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] { appendRows(*f.table, *transaction, t * 50'000, 50'000, AppendMode::Bulk); });
   for (auto& thread : threads)
      thread.join();
   f.commit(*transaction);
   CATCH_CHECK(readNumbers(*f.database, *f.table) == range(0, 200'000));
}

CATCH_TEST_CASE("many sessions commit small inserts at once") {
   OneTable f;
   std::vector<std::thread> threads;
   for (int64_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
         for (int64_t i = 0; i < 50; ++i)
            f.insert(t * 1000 + i * 3, 3);
      });
   for (auto& thread : threads)
      thread.join();
   std::vector<int64_t> expected;
   for (int64_t t = 0; t < 4; ++t)
      for (int64_t i = 0; i < 150; ++i)
         expected.push_back(t * 1000 + i);
   CATCH_CHECK(readNumbers(*f.database, *f.table) == expected);
}

CATCH_TEST_CASE("zone maps skip row groups, also by bounds that come at run time") {
   OneTable f;
   f.insert(0, 200'000, AppendMode::Bulk);
   auto transaction = f.database->begin();
   ScanSpec spec;
   spec.columns = {0};
   ZonePredicate predicate;
   predicate.column = 0;
   predicate.lower = 100'000;
   predicate.upper = 100'010;
   spec.zonePredicates = {predicate};
   auto source = f.table->scan(transaction->snapshot(), spec);
   auto reader = source->makeReader();
   Morsel morsel;
   uint32_t morsels = 0, vectors = 0, rows = 0;
   RowIndex out[batchRowsMax];
   while (source->next(morsel)) {
      ++morsels;
      reader->open(morsel);
      for (uint32_t first = 0; first < reader->rowCount(); first += vectorRows) {
         const uint32_t count = std::min(vectorRows, reader->rowCount() - first);
         if (reader->canSkip(first, count)) continue;
         ++vectors;
         rows += reader->filterRange(0, first, count, {100'000, 100'010}, reader->visible(first, count), out);
      }
   }
   CATCH_CHECK(morsels == 1);
   CATCH_CHECK(vectors == 1);
   CATCH_CHECK(rows == 11);
   CATCH_CHECK(source->morselsSkipped() == 6);

   predicate.kind = ZonePredicate::Kind::IsNull;
   spec.zonePredicates = {predicate};
   source = f.table->scan(transaction->snapshot(), spec);
   CATCH_CHECK_FALSE(source->next(morsel));
}

CATCH_TEST_CASE("statistics count rows and bound values") {
   OneTable f;
   f.insert(0, 50'000, AppendMode::Bulk);
   f.insert(50'000, 100);
   auto transaction = f.database->begin();
   auto statistics = f.table->statistics(transaction->snapshot());
   CATCH_CHECK(statistics->rowCount == 50'100);
   CATCH_CHECK(statistics->columns[0].min->i64 == 0);
   CATCH_CHECK(statistics->columns[0].max->i64 == 50'099);
   CATCH_CHECK(statistics->columns[0].distinct == Approx(50'100).epsilon(0.1));
   CATCH_CHECK(statistics->columns[1].nullFraction == Approx(0.1).epsilon(0.01));
   CATCH_CHECK(statistics->columns[1].averageWidth == Approx(10).epsilon(0.1));
   CATCH_CHECK(statistics->sample->batch.rowCount > 1000);
   CATCH_CHECK(f.table->statistics(transaction->snapshot()) == statistics);
   f.table->deleteRows(*transaction, transaction->snapshot(),
                       f.idsOf(transaction->snapshot(), [](int64_t n) { return n < 100; }));
   transaction->nextCommand();
   CATCH_CHECK(f.table->statistics(transaction->snapshot())->rowCount == 50'000);
   f.commit(*transaction);
   CATCH_CHECK(f.table->statistics(f.database->begin()->snapshot())->rowCount == 50'000);
}

CATCH_TEST_CASE("bounds hold for rows that only one transaction sees") {
   OneTable f;
   f.insert(0, 10);
   const auto bounds = [&](Transaction& transaction) {
      const auto statistics = f.table->statistics(transaction.snapshot());
      return std::pair(statistics->columns[0].min->i64, statistics->columns[0].max->i64);
   };
   using Bounds = std::pair<int64_t, int64_t>;
   auto own = f.database->begin(), other = f.database->begin();
   appendRows(*f.table, *own, 1000, 5);
   CATCH_CHECK(bounds(*own) == Bounds(0, 9)); // the command does not see its own rows
   const auto savepoint = own->savepoint();
   CATCH_CHECK(bounds(*own) == Bounds(0, 1004));
   CATCH_CHECK(bounds(*other) == Bounds(0, 9));
   appendRows(*f.table, *own, 5000, 3'000); // a segment of its own
   appendRows(*f.table, *own, -7, 1);       // beside the first rows
   own->nextCommand();
   CATCH_CHECK(bounds(*own) == Bounds(-7, 7999));
   CATCH_CHECK(f.table->statistics(own->snapshot())->rowsStored == 3'016);
   own->rollbackTo(savepoint);
   CATCH_CHECK(bounds(*own) == Bounds(0, 1004));
   appendRows(*f.table, *own, -1, 1);
   own->nextCommand();
   CATCH_CHECK(bounds(*own) == Bounds(-1, 1004));
   f.commit(*own);
   CATCH_CHECK(bounds(*other) == Bounds(-1, 1004));
   CATCH_CHECK(bounds(*f.database->begin()) == Bounds(-1, 1004));
}

CATCH_TEST_CASE("bounds hold for an older snapshot of rows that compaction has dropped") {
   OneTable f;
   for (int64_t i = 0; i < 3; ++i) {
      f.insert(i * 1000, 500);
      f.database->checkpoint();
   }
   auto old = f.database->begin();
   const Snapshot snapshot = old->snapshot();
   auto deleter = f.database->begin();
   f.table->deleteRows(*deleter, deleter->snapshot(),
                       f.idsOf(deleter->snapshot(), [](int64_t n) { return n < 100 || n >= 1000; }));
   f.commit(*deleter);
   f.database->checkpoint();
   const auto statistics = f.table->statistics(snapshot);
   CATCH_CHECK(statistics->columns[0].min->i64 == 0);
   CATCH_CHECK(statistics->columns[0].max->i64 == 2499);
   CATCH_CHECK(statistics->rowsStored >= readRows(*f.table, snapshot).size());
   const auto newest = f.table->statistics(f.database->begin()->snapshot());
   CATCH_CHECK(newest->columns[0].min->i64 == 100);
   CATCH_CHECK(newest->columns[0].max->i64 == 499);
}

CATCH_TEST_CASE("bounds of a column are those of the newest ALTER TABLE") {
   OneTable f;
   f.insert(0, 10);
   ColumnDefinition column = ColumnDefinition::of({oid::int4, -1, 0});
   for (const int64_t value : {7, 1'000'000}) {
      auto transaction = f.database->begin();
      column.missing = Value::integer(PhysicalType::I32, value);
      f.database->addColumn(*transaction, f.table->id(), column);
      CATCH_CHECK(f.table->statistics(transaction->snapshot())->columns.at(2).max->i64 == value);
      f.database->abort(*transaction);
   }
}

CATCH_TEST_CASE("a column added later reads as its missing value in older rows") {
   OneTable f;
   f.insert(1, 5);
   f.insert(100, 40'000, AppendMode::Bulk);
   auto transaction = f.database->begin();
   ColumnDefinition column = ColumnDefinition::of({oid::int4, -1, 0});
   column.missing = Value::integer(PhysicalType::I32, 7);
   f.database->addColumn(*transaction, f.table->id(), column);
   f.commit(*transaction);
   f.insert(50'000, 5); // rows with two columns: the third has its default
   auto reader = f.database->begin();
   auto source = f.table->scan(reader->snapshot(), {{2}, {}});
   auto rows = source->makeReader();
   Morsel morsel;
   uint32_t seen = 0;
   while (source->next(morsel)) {
      rows->open(morsel);
      for (uint32_t first = 0; first < rows->rowCount(); first += vectorRows) {
         const uint32_t count = std::min(vectorRows, rows->rowCount() - first);
         const Vector vector = rows->read(0, first, count, Selection::dense(count));
         for (uint32_t i = 0; i < count; ++i)
            CATCH_REQUIRE(vector.value<int32_t>(i) == 7);
         seen += count;
      }
   }
   CATCH_CHECK(seen == 40'010);
}

CATCH_TEST_CASE("a bulk load needs no more memory than a few row groups") {
   OneTable f;
   f.governor.setLimit(size_t{6} << 20);
   f.insert(0, 300'000, AppendMode::Bulk);
   CATCH_CHECK(readNumbers(*f.database, *f.table) == range(0, 300'000));
   CATCH_CHECK(f.governor.ledger().peak() <= size_t{6} << 20);
   // Rows that do not fit into memory fail the statement, which releases its memory.
   f.governor.setLimit(f.governor.ledger().used() - f.governor.cachedBytes() + 10'000); // the cache can be evicted
   auto transaction = f.database->begin();
   try {
      appendRows(*f.table, *transaction, 0, 100'000);
      CATCH_FAIL("no error");
   } catch (const SqlError& error) {
      CATCH_CHECK(error.state() == sqlstate::outOfMemory);
   }
   f.database->abort(*transaction);
   f.governor.setLimit(size_t{100} << 20);
   CATCH_CHECK(readNumbers(*f.database, *f.table).size() == 300'000);
}
