#include <atomic>
#include <catch2/catch.hpp>
#include <random>
#include <thread>

#include "common/hash/hash.hpp"
#include "storage/table/table_core.hpp"
#include "storage/version/write_conflict.hpp"
#include "tests/unit/storage/database_fixture.hpp"

// Row locks of the four strengths, without sessions that wait.

using namespace ouzel;
using namespace ouzel::storage;
using namespace ouzel::storage::test;

namespace {

constexpr LockStrength strengths[] = {LockStrength::KeyShare, LockStrength::Share, LockStrength::NoKeyUpdate,
                                      LockStrength::Update};

/// A table of numbers, which are its key, and texts.
struct Numbers {
   TemporaryDirectory directory;
   DatabaseFixture f{directory.path()};
   std::shared_ptr<Table> table;

   Numbers() {
      auto transaction = f.database->begin();
      table = f.database->createTable(*transaction, intAndText());
      appendRows(*table, *transaction, 0, 10, AppendMode::Small);
      f.commit(*transaction, "table;");
   }
   RowId idOf(const Snapshot& snapshot, int64_t number) const {
      for (const ReadRow& row : readRows(*table, snapshot))
         if (row.number == number) return row.id;
      throw std::runtime_error("no such row");
   }
   /// The transaction that is in the way; 0: the row is locked now.
   TransactionId lock(Transaction& by, RowId id, LockStrength strength) const {
      uint8_t isLocked = 0;
      try {
         table->lockRows(by, by.snapshot(), std::span(&id, 1), {.strength = strength, .key = {0}},
                         std::span(&isLocked, 1));
      } catch (const WriteConflict& conflict) {
         CATCH_CHECK(conflict.wanted == strength);
         return conflict.holder;
      }
      CATCH_CHECK(isLocked == 1);
      return 0;
   }
   TransactionId erase(Transaction& by, RowId id, LockStrength strength = LockStrength::Update) const {
      try {
         const uint64_t count = table->deleteRows(by, by.snapshot(), std::span(&id, 1), {}, std::span(&strength, 1));
         CATCH_CHECK(count == 1);
      } catch (const WriteConflict& conflict) {
         return conflict.holder;
      }
      by.nextCommand();
      return 0;
   }
   /// A new version with the old number, and its id.
   RowId update(Transaction& by, RowId id, int64_t number) const {
      CATCH_CHECK(erase(by, id, LockStrength::NoKeyUpdate) == 0);
      appendRows(*table, by, number, 1, AppendMode::Small);
      by.nextCommand();
      return idOf(by.snapshot(), number);
   }
   size_t lockBytes() const { return table->core().context.lockMemory.used(); }
   bool isFree() const { return table->core().shares.isEmpty() && lockBytes() == 0; }
};

} // namespace

CATCH_TEST_CASE("two transactions hold locks of a row that do not conflict") {
   Numbers t;
   for (const LockStrength first : strengths)
      for (const LockStrength second : strengths) {
         CATCH_CAPTURE(clauseOf(first), clauseOf(second));
         auto a = t.f.database->begin(), b = t.f.database->begin();
         const RowId id = t.idOf(a->snapshot(), 3);
         CATCH_CHECK(t.lock(*a, id, first) == 0);
         CATCH_CHECK(t.lock(*b, id, second) == (conflicts(first, second) ? a->id() : 0));
         CATCH_CHECK(t.lock(*a, id, first) == 0);
      }
   CATCH_CHECK(t.isFree());
   CATCH_CHECK((conflicts(LockStrength::KeyShare, LockStrength::Update)));
   CATCH_CHECK(!conflicts(LockStrength::KeyShare, LockStrength::NoKeyUpdate));
   CATCH_CHECK((conflicts(LockStrength::Share, LockStrength::NoKeyUpdate)));
   CATCH_CHECK(!conflicts(LockStrength::Share, LockStrength::Share));
   CATCH_CHECK((conflicts(LockStrength::NoKeyUpdate, LockStrength::NoKeyUpdate)));
}

CATCH_TEST_CASE("shared locks are charged, and refused when memory is full") {
   Numbers t;
   auto a = t.f.database->begin(), b = t.f.database->begin();
   const RowId id = t.idOf(a->snapshot(), 3), other = t.idOf(a->snapshot(), 4);
   CATCH_CHECK(t.lock(*a, id, LockStrength::Share) == 0);
   const size_t ofOne = t.lockBytes();
   CATCH_CHECK(ofOne > 0);
   CATCH_CHECK(t.lock(*a, id, LockStrength::Share) == 0);
   CATCH_CHECK(t.lockBytes() == ofOne);
   CATCH_CHECK(t.lock(*b, id, LockStrength::Share) == 0);
   CATCH_CHECK(t.lockBytes() == 2 * ofOne);
   {
      Reservation others(t.f.governor.ledger());
      while (others.tryGrow(size_t{1} << 20) || others.tryGrow(16)) {
      }
      CATCH_CHECK(stateOf([&] { t.lock(*a, other, LockStrength::KeyShare); }) == sqlstate::outOfMemory);
      CATCH_CHECK(t.lockBytes() == 2 * ofOne);
   }
   CATCH_CHECK(t.lock(*a, other, LockStrength::KeyShare) == 0);
   t.f.commit(*b);
   CATCH_CHECK(t.lockBytes() == 2 * ofOne);
   t.f.commit(*a);
   CATCH_CHECK(t.isFree());
}

CATCH_TEST_CASE("a row with several holders goes to the last of them") {
   Numbers t;
   auto a = t.f.database->begin(), b = t.f.database->begin();
   const RowId id = t.idOf(a->snapshot(), 3);
   CATCH_CHECK((t.lock(*a, id, LockStrength::Share) == 0 && t.lock(*b, id, LockStrength::KeyShare) == 0));
   CATCH_CHECK(t.lock(*a, id, LockStrength::Update) == b->id());
   CATCH_CHECK(t.lock(*b, id, LockStrength::NoKeyUpdate) == a->id());
   CATCH_CHECK(t.lock(*a, id, LockStrength::NoKeyUpdate) == 0);
   CATCH_CHECK(t.erase(*a, id) == b->id());
   t.f.commit(*b);
   CATCH_CHECK(t.erase(*a, id) == 0);
   t.f.commit(*a);
   CATCH_CHECK(t.isFree());
   CATCH_CHECK(readNumbers(*t.f.database, *t.table).size() == 9);
}

CATCH_TEST_CASE("a shared key keeps the new versions of its row") {
   Numbers t;
   auto sharer = t.f.database->begin(), writer = t.f.database->begin();
   const RowId id = t.idOf(sharer->snapshot(), 3);
   const bool isFirst = GENERATE(true, false);
   if (isFirst) CATCH_CHECK(t.lock(*sharer, id, LockStrength::KeyShare) == 0);
   const RowId own = t.update(*writer, id, 3);
   if (!isFirst) CATCH_CHECK(t.lock(*sharer, id, LockStrength::KeyShare) == 0);
   CATCH_CHECK(t.erase(*writer, own) == sharer->id());
   t.f.commit(*writer);
   auto other = t.f.database->begin();
   const RowId now = t.idOf(other->snapshot(), 3);
   CATCH_CHECK(now != id);
   CATCH_CHECK(t.erase(*other, now) == sharer->id());
   CATCH_CHECK(t.lock(*other, now, LockStrength::Update) == sharer->id());
   CATCH_CHECK(t.erase(*other, t.idOf(other->snapshot(), 4)) == 0);
   t.f.commit(*sharer);
   CATCH_CHECK(t.erase(*other, now) == 0);
}

CATCH_TEST_CASE("a row that was updated and then deleted has no key to share") {
   Numbers t;
   auto sharer = t.f.database->begin(), writer = t.f.database->begin();
   const RowId id = t.idOf(sharer->snapshot(), 3);
   const RowId own = t.update(*writer, id, 3);
   if (GENERATE(true, false))
      CATCH_CHECK(t.erase(*writer, own) == 0);
   else
      CATCH_CHECK(t.lock(*writer, own, LockStrength::Update) == 0);
   CATCH_CHECK(t.lock(*sharer, id, LockStrength::KeyShare) == writer->id());
   const std::vector<Value> key = {Value::integer(PhysicalType::I64, 3)};
   CATCH_CHECK_THROWS_AS(t.table->shareKey(*sharer, {0}, hashI64(3), key), WriteConflict);
}

CATCH_TEST_CASE("locks go with the savepoint that they were taken after, and leave weaker ones") {
   Numbers t;
   auto a = t.f.database->begin(), b = t.f.database->begin();
   const RowId id = t.idOf(a->snapshot(), 3);
   CATCH_CHECK(t.lock(*a, id, LockStrength::KeyShare) == 0);
   const auto first = a->savepoint();
   CATCH_CHECK(t.lock(*a, id, LockStrength::NoKeyUpdate) == 0);
   const auto second = a->savepoint();
   CATCH_CHECK(t.lock(*a, id, LockStrength::Update) == 0);
   CATCH_CHECK(t.lock(*b, id, LockStrength::KeyShare) == a->id());
   a->rollbackTo(second);
   CATCH_CHECK(t.lock(*b, id, LockStrength::Share) == a->id());
   CATCH_CHECK(t.lock(*b, id, LockStrength::KeyShare) == 0);
   const auto third = a->savepoint();
   CATCH_CHECK(t.erase(*a, id, LockStrength::NoKeyUpdate) == 0);
   a->rollbackTo(third);
   CATCH_CHECK(t.lock(*b, id, LockStrength::Share) == a->id());
   a->rollbackTo(first);
   CATCH_CHECK(t.lock(*b, id, LockStrength::Share) == 0);
   CATCH_CHECK(t.lock(*b, id, LockStrength::Update) == a->id());
   // A statement that runs again keeps what it has locked.
   const auto again = b->savepoint();
   CATCH_CHECK(t.erase(*b, id, LockStrength::NoKeyUpdate) == 0);
   b->rollbackTo(again, true);
   CATCH_CHECK(t.lock(*a, id, LockStrength::Share) == b->id());
   CATCH_CHECK(t.lock(*a, id, LockStrength::KeyShare) == 0);
   t.f.database->abort(*a);
   t.f.database->abort(*b);
   CATCH_CHECK(t.isFree());
}

CATCH_TEST_CASE("a key is shared once, and found where its row is now") {
   Numbers t;
   const std::vector<Value> key = {Value::integer(PhysicalType::I64, 3)},
                            none = {Value::integer(PhysicalType::I64, 33)};
   auto a = t.f.database->begin(), b = t.f.database->begin();
   CATCH_CHECK(t.table->shareKey(*a, {0}, hashI64(3), key));
   CATCH_CHECK(t.table->shareKey(*a, {0}, hashI64(3), key));
   CATCH_CHECK(t.table->shareKey(*b, {0}, hashI64(3), key));
   CATCH_CHECK(!t.table->shareKey(*b, {0}, hashI64(33), none));
   const auto savepoint = b->savepoint();
   appendRows(*t.table, *b, 33, 1, AppendMode::Small);
   b->nextCommand();
   CATCH_CHECK(t.table->shareKey(*b, {0}, hashI64(33), none));
   CATCH_CHECK(!t.table->shareKey(*a, {0}, hashI64(33), none));
   b->rollbackTo(savepoint);
   t.f.commit(*a);
   auto c = t.f.database->begin();
   const RowId id = t.idOf(c->snapshot(), 3);
   CATCH_CHECK(t.erase(*c, id) == b->id());
   t.f.commit(*b);
   CATCH_CHECK(t.isFree());
   CATCH_CHECK(t.erase(*c, id) == 0);
   auto d = t.f.database->begin();
   CATCH_CHECK_THROWS_AS(t.table->shareKey(*d, {0}, hashI64(3), key), WriteConflict);
   t.f.commit(*c);
   CATCH_CHECK(!t.table->shareKey(*d, {0}, hashI64(3), key));
}

CATCH_TEST_CASE("a prepared transaction keeps the strengths of its locks") {
   Numbers t;
   auto a = t.f.database->begin();
   const auto id = [&](int64_t number) { return t.idOf(t.f.database->begin()->snapshot(), number); };
   CATCH_CHECK(t.lock(*a, id(0), LockStrength::KeyShare) == 0);
   for (int64_t i = 1; i < 4; ++i)
      CATCH_CHECK(t.lock(*a, id(i), strengths[i]) == 0);
   t.update(*a, id(4), 4);
   CATCH_CHECK(t.erase(*a, id(5)) == 0);
   const std::string kept = t.f.database->describe(*a);
   t.f.database->abort(*a);
   auto again = t.f.database->begin(), b = t.f.database->begin();
   t.f.database->repeat(*again, kept);
   CATCH_CHECK(t.lock(*b, id(0), LockStrength::NoKeyUpdate) == 0);
   CATCH_CHECK(t.lock(*b, id(0), LockStrength::Update) == again->id());
   CATCH_CHECK(t.lock(*b, id(1), LockStrength::Share) == 0);
   CATCH_CHECK(t.lock(*b, id(1), LockStrength::NoKeyUpdate) == again->id());
   for (const int64_t number : {2, 4}) {
      CATCH_CHECK(t.lock(*b, id(number), LockStrength::KeyShare) == 0);
      CATCH_CHECK(t.lock(*b, id(number), LockStrength::Share) == again->id());
   }
   for (const int64_t number : {3, 5})
      CATCH_CHECK(t.lock(*b, id(number), LockStrength::KeyShare) == again->id());
}

CATCH_TEST_CASE("a transaction claims the rows that it deletes, not others that it has updated") {
   Numbers t;
   auto sharer = t.f.database->begin(), writer = t.f.database->begin(), late = t.f.database->begin();
   const auto id = [&](int64_t number) { return t.idOf(sharer->snapshot(), number); };
   std::vector<RowId> own;
   for (int64_t i = 0; i < 6; ++i)
      own.push_back(t.update(*writer, id(i), i));
   CATCH_CHECK(t.lock(*sharer, id(5), LockStrength::KeyShare) == 0);
   CATCH_CHECK(t.erase(*writer, own[1]) == 0);
   const auto savepoint = writer->savepoint();
   CATCH_CHECK(t.erase(*writer, own[2]) == 0);
   CATCH_CHECK(t.lock(*writer, own[3], LockStrength::Update) == 0);
   CATCH_CHECK(t.erase(*writer, own[5]) == sharer->id());
   for (int64_t i = 0; i < 6; ++i)
      CATCH_CHECK(t.lock(*late, id(i), LockStrength::KeyShare) == (i >= 1 && i <= 3 ? writer->id() : 0));
   writer->rollbackTo(savepoint);
   for (int64_t i = 1; i < 4; ++i)
      CATCH_CHECK(t.lock(*late, id(i), LockStrength::KeyShare) == (i == 1 ? writer->id() : 0));
   CATCH_CHECK(t.erase(*writer, own[2]) == late->id());
   t.f.commit(*late);
   CATCH_CHECK(t.erase(*writer, own[2]) == 0);
   t.f.commit(*writer);
   CATCH_CHECK(!t.table->core().shares.hasClaims(writer->id()));
   t.f.commit(*sharer);
   CATCH_CHECK(t.isFree());
   CATCH_CHECK(readNumbers(*t.f.database, *t.table).size() == 8);
}

CATCH_TEST_CASE("a prepared transaction keeps its claims, and leaves other rows to be shared") {
   Numbers t;
   auto sharer = t.f.database->begin(), a = t.f.database->begin();
   const auto id = [&](int64_t number) { return t.idOf(t.f.database->begin()->snapshot(), number); };
   CATCH_CHECK(t.lock(*sharer, id(0), LockStrength::KeyShare) == 0);
   std::vector<RowId> own;
   for (int64_t i = 0; i < 3; ++i)
      own.push_back(t.update(*a, id(i), i));
   CATCH_CHECK(t.erase(*a, own[1]) == 0);
   const std::string kept = t.f.database->describe(*a);
   t.f.database->abort(*a);
   auto again = t.f.database->begin(), late = t.f.database->begin();
   t.f.database->repeat(*again, kept);
   CATCH_CHECK(t.lock(*late, id(0), LockStrength::KeyShare) == 0);
   CATCH_CHECK(t.lock(*late, id(1), LockStrength::KeyShare) == again->id());
   CATCH_CHECK(t.lock(*late, id(2), LockStrength::KeyShare) == 0);
}

CATCH_TEST_CASE("threads never hold conflicting locks of a row") {
   Numbers t;
   std::vector<RowId> ids;
   {
      const auto reader = t.f.database->begin();
      for (int64_t i = 0; i < 3; ++i)
         ids.push_back(t.idOf(reader->snapshot(), i));
   }
   std::atomic<int> holders[3][4] = {}; // by row and strength
   std::atomic<bool> isWrong{false};
   std::atomic<size_t> taken{0};
   const auto work = [&](unsigned seed) {
      std::mt19937 random(seed);
      for (int round = 0; round < 3000; ++round) {
         const auto transaction = t.f.database->begin();
         const size_t row = random() % 3, strength = random() % 4;
         uint8_t isLocked = 0;
         t.table->lockRows(*transaction, transaction->snapshot(), std::span(&ids[row], 1),
                           {.strength = strengths[strength], .skip = true, .key = {0}}, std::span(&isLocked, 1));
         if (isLocked) {
            ++holders[row][strength];
            ++taken;
            for (size_t other = 0; other < 4; ++other)
               if (holders[row][other] - (other == strength) > 0 && conflicts(strengths[strength], strengths[other]))
                  isWrong = true;
            if (round % 8 == 0) std::this_thread::yield();
            --holders[row][strength];
         }
         t.f.database->abort(*transaction);
      }
   };
   std::vector<std::thread> threads;
   for (unsigned i = 0; i < 4; ++i)
      threads.emplace_back(work, i);
   for (std::thread& thread : threads)
      thread.join();
   CATCH_CHECK(!isWrong);
   CATCH_CHECK(taken > 3000);
   CATCH_CHECK(t.isFree());
}
