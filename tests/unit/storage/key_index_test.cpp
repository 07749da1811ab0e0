#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "common/error/sql_error.hpp"
#include "common/hash/hash.hpp"
#include "tests/unit/storage/database_fixture.hpp"

using namespace ouzel;
using namespace ouzel::storage;
using namespace ouzel::storage::test;

namespace {

struct Found {
   std::multiset<int64_t> numbers;
   std::vector<RowId> ids;
   uint64_t looked = 0; ///< visible rows that the scan returned
};

/// Looks up rows with these numbers by a scan with a key filter.
Found lookUp(Table& table, const Snapshot& snapshot, const std::vector<int64_t>& wanted) {
   KeyFilter keys{{0}, {}};
   for (const int64_t number : wanted)
      keys.hashes.push_back(hashI64(number));
   ScanSpec spec{{0, ScanSpec::rowIdColumn}, {}, keys};
   auto source = table.scan(snapshot, std::move(spec));
   auto reader = source->makeReader();
   Found found;
   Morsel morsel;
   while (source->next(morsel)) {
      reader->open(morsel);
      for (uint32_t first = 0; first < reader->rowCount(); first += vectorRows) {
         const uint32_t count = std::min(vectorRows, reader->rowCount() - first);
         if (reader->canSkip(first, count)) continue;
         const Selection live = reader->visible(first, count);
         const Vector numbers = reader->read(0, first, count, live), ids = reader->read(1, first, count, live);
         forEachRow(live, [&](uint32_t row) {
            ++found.looked;
            const int64_t number = numbers.value<int64_t>(row);
            if (std::find(wanted.begin(), wanted.end(), number) == wanted.end()) return;
            found.numbers.insert(number);
            found.ids.push_back(static_cast<RowId>(ids.value<int64_t>(row)));
         });
      }
   }
   return found;
}

} // namespace

CATCH_TEST_CASE("after some lookups rows are found without reading the table") {
   for (const AppendMode mode : {AppendMode::Small, AppendMode::Bulk}) {
      OneTable f;
      f.insert(0, 100'000, mode);
      auto reader = f.database->begin();
      const Snapshot snapshot = reader->snapshot();
      CATCH_CHECK(lookUp(*f.table, snapshot, {77'777}).looked == 100'000); // no index exists yet
      for (int i = 0; i < 20; ++i)
         lookUp(*f.table, snapshot, {77'777});
      const Found found = lookUp(*f.table, snapshot, {77'777, 5, 100'000});
      CATCH_CHECK(found.numbers == std::multiset<int64_t>{5, 77'777});
      CATCH_CHECK(found.looked < 20);
   }
}

CATCH_TEST_CASE("a chain of dead versions does not grow for ever") {
   OneTable f;
   f.insert(0, 10);
   for (int i = 0; i < 3000; ++i) {
      auto transaction = f.database->begin();
      const Found old = lookUp(*f.table, transaction->snapshot(), {3});
      CATCH_REQUIRE(old.numbers.size() == 1);
      f.table->deleteRows(*transaction, transaction->snapshot(), old.ids);
      appendRows(*f.table, *transaction, 3, 1);
      f.commit(*transaction, {}, false);
   }
   auto transaction = f.database->begin();
   CATCH_CHECK(lookUp(*f.table, transaction->snapshot(), {3}).numbers.size() == 1);
}

CATCH_TEST_CASE("lookups agree with reading everything, whatever happens in between") {
   OneTable f;
   std::mt19937_64 random(4711);
   const auto below = [&](uint64_t end) { return random() % end; };
   for (int round = 0; round < 150; ++round) {
      auto transaction = f.database->begin();
      for (uint64_t statement = 0; statement <= below(3); ++statement) {
         const Snapshot snapshot = transaction->snapshot();
         const auto savepoint = transaction->savepoint();
         if (below(3) == 0) {
            std::vector<RowId> victims;
            for (const ReadRow& row : readRows(*f.table, snapshot))
               if (below(8) == 0) victims.push_back(row.id);
            f.table->deleteRows(*transaction, snapshot, victims);
         } else {
            appendRows(*f.table, *transaction, static_cast<int64_t>(below(300)), below(round % 17 == 0 ? 5000 : 60),
                       below(4) == 0 ? AppendMode::Bulk : AppendMode::Small);
         }
         transaction->nextCommand();
         if (below(4) == 0) transaction->rollbackTo(savepoint);
      }
      const auto check = [&](const Snapshot& snapshot) {
         std::multiset<int64_t> all;
         for (const ReadRow& row : readRows(*f.table, snapshot))
            all.insert(row.number);
         for (int i = 0; i < 10; ++i) {
            const auto number = static_cast<int64_t>(below(400));
            CATCH_REQUIRE(lookUp(*f.table, snapshot, {number}).numbers.size() == all.count(number));
         }
      };
      check(transaction->snapshot());
      if (below(4) == 0)
         f.database->abort(*transaction);
      else
         f.commit(*transaction, {}, false);
      if (below(10) == 0) f.database->checkpoint();
      auto reader = f.database->begin();
      check(reader->snapshot());
   }
}

CATCH_TEST_CASE("new keys are compared with committed ones, own ones and open transactions'") {
   OneTable f;
   f.insert(0, 1000);
   const auto conflictOf = [&](Transaction& transaction, uint32_t since, std::optional<Snapshot> snapshot = {}) {
      const auto keys = f.table->newKeys(transaction, since, {0}, false, 1000);
      CATCH_REQUIRE(keys.has_value());
      return f.table->findKeyConflict(transaction, snapshot.value_or(transaction.snapshot()), *keys);
   };
   auto fresh = f.database->begin();
   appendRows(*f.table, *fresh, 1000, 20);
   CATCH_CHECK(!conflictOf(*fresh, 0));
   fresh->nextCommand();
   const uint32_t since = fresh->commandId();
   appendRows(*f.table, *fresh, 1019, 2);
   CATCH_CHECK(!conflictOf(*fresh, since + 1));
   const auto own = conflictOf(*fresh, since);
   CATCH_REQUIRE(own.has_value());
   CATCH_CHECK((own->holder == 0 && own->key[0].i64 == 1019 && !own->isLate));
   f.database->abort(*fresh);

   auto deleter = f.database->begin();
   f.table->deleteRows(*deleter, deleter->snapshot(), lookUp(*f.table, deleter->snapshot(), {500}).ids);
   appendRows(*f.table, *deleter, 500, 1); // the same key may be inserted again
   CATCH_CHECK(!conflictOf(*deleter, 0));
   auto other = f.database->begin();
   const Snapshot before = other->snapshot();
   appendRows(*f.table, *other, 500, 1);
   const auto open = conflictOf(*other, 0);
   CATCH_REQUIRE(open.has_value());
   CATCH_CHECK(open->holder == (deleter->id() & 0x7fffffff));
   f.commit(*deleter);
   const auto committed = conflictOf(*other, 0);
   CATCH_REQUIRE(committed.has_value());
   CATCH_CHECK((committed->holder == 0 && !committed->isLate));
   CATCH_CHECK(conflictOf(*other, 0, before)->isLate);
   CATCH_CHECK(!f.table->newKeys(*other, 0, {0}, false, 0).has_value());
   // Texts, every tenth NULL. NULL matches only if the filter says so.
   auto nulls = f.database->begin();
   appendRows(*f.table, *nulls, 2000, 1);
   const auto distinct = f.table->newKeys(*nulls, 0, {1}, false, 10),
              equal = f.table->newKeys(*nulls, 0, {1}, true, 10);
   CATCH_CHECK(distinct->rows.empty());
   CATCH_CHECK(f.table->findKeyConflict(*nulls, nulls->snapshot(), *equal).has_value());
}

namespace {

/// The key of an index over n / 2 WHERE n is even. It cannot be computed of the number `bad`.
class HalfOfEven final : public ComputedKey {
public:
   explicit HalfOfEven(int64_t bad) : ComputedKey("n / 2 where even", {0}, {SqlType{oid::int8, -1, 0}}), bad_(bad) {}

   void compute(std::span<const Vector> inputs, uint32_t, const Selection& rows, const Use& use) const override {
      std::vector<int64_t> halves(vectorRows);
      std::vector<RowIndex> even;
      forEachRow(rows, [&](uint32_t row) {
         const auto number = inputs[0].value<int64_t>(row);
         if (number == bad_) throw SqlError(sqlstate::divisionByZero, "division by zero");
         halves[row] = number / 2;
         if (number % 2 == 0) even.push_back(static_cast<RowIndex>(row));
      });
      const Vector key = Vector::flat(PhysicalType::I64, halves.data(), nullptr);
      use(std::span(&key, 1), Selection::list(even.data(), static_cast<uint32_t>(even.size())));
   }

private:
   const int64_t bad_;
};

} // namespace

CATCH_TEST_CASE("rows are found by a key that is computed, and by no other") {
   OneTable f;
   f.insert(0, 10'000);
   auto reader = f.database->begin();
   const Snapshot snapshot = reader->snapshot();
   const auto look = [&](int64_t half) {
      ScanSpec spec{{0}, {}, KeyFilter{{0}, {hashI64(half)}, std::make_shared<HalfOfEven>(501)}};
      auto source = f.table->scan(snapshot, std::move(spec));
      auto rows = source->makeReader();
      std::multiset<int64_t> numbers;
      Morsel morsel;
      while (source->next(morsel)) {
         rows->open(morsel);
         for (uint32_t first = 0; first < rows->rowCount(); first += vectorRows) {
            const uint32_t count = std::min(vectorRows, rows->rowCount() - first);
            const Selection live = rows->visible(first, count);
            const Vector read = rows->read(0, first, count, live);
            forEachRow(live, [&](uint32_t row) { numbers.insert(read.value<int64_t>(row)); });
         }
      }
      return numbers;
   };
   for (int i = 0; i < 20; ++i)
      look(1);
   CATCH_CHECK(look(2000) == std::multiset<int64_t>{4000});
   CATCH_CHECK(look(251) == std::multiset<int64_t>{502}); // beside the row whose key raises an error
   CATCH_CHECK(look(6000).empty());
}

CATCH_TEST_CASE("a key that is computed is unique among the rows that the index has") {
   OneTable f;
   f.insert(0, 1000);
   const auto conflict = [&](int64_t number, int64_t bad) {
      auto transaction = f.database->begin();
      const uint32_t command = transaction->commandId();
      appendRows(*f.table, *transaction, number, 1);
      transaction->nextCommand();
      const auto keys = f.table->newKeys(*transaction, command, {0}, false, 100, std::make_shared<HalfOfEven>(bad));
      CATCH_REQUIRE(keys);
      return f.table->findKeyConflict(*transaction, transaction->snapshot(), *keys);
   };
   CATCH_CHECK_FALSE(conflict(2000, -1)); // a new key
   CATCH_CHECK_FALSE(conflict(7, -1));    // outside of the index
   const auto found = conflict(8, 9);
   CATCH_REQUIRE(found);
   CATCH_CHECK(found->key[0].i64 == 4);
   CATCH_CHECK_THROWS_AS(conflict(9, 9), SqlError);
}
