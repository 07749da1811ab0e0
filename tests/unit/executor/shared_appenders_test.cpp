#include "executor/operator/write/shared_appenders.hpp"

#include <catch2/catch.hpp>
#include <thread>

#include "tests/unit/storage/database_fixture.hpp"

using namespace ouzel;
using namespace ouzel::storage;
using namespace ouzel::storage::test;
using ouzel::executor::SharedAppenders;

namespace {

constexpr size_t tableCount = 70;

struct ManyTables {
   TemporaryDirectory temporary;
   DatabaseFixture f{temporary.path() + "/data"};
   std::vector<Table*> tables;

   ManyTables() {
      auto transaction = f.database->begin();
      for (size_t i = 0; i < tableCount; ++i)
         tables.push_back(f.database->createTable(*transaction, intAndText()).get());
      f.commit(*transaction, "tables;");
   }
};

/// Rows (n, "text <n>") from `first` on, each `step` after the one before.
Batch rowsFrom(int64_t first, int64_t step, size_t count, Arena& arena) {
   TestColumn numbers{PhysicalType::I64, {}}, texts{PhysicalType::String, {}};
   for (size_t i = 0; i < count; ++i) {
      const int64_t n = first + static_cast<int64_t>(i) * step;
      numbers.values.push_back(Value::integer(PhysicalType::I64, n));
      texts.values.push_back(n % 10 == 0 ? Value::null(PhysicalType::String)
                                         : Value::string("text " + std::to_string(n)));
   }
   return makeBatch({numbers, texts}, 0, count, arena);
}

/// Two workers append `batches` batches of 50 rows to each table: one the even numbers, the other the odd ones.
void appendAll(SharedAppenders& shared, size_t batches) {
   std::vector<std::thread> workers;
   for (int64_t worker = 0; worker < 2; ++worker)
      workers.emplace_back([&shared, worker, batches] {
         for (size_t batch = 0; batch < batches; ++batch)
            for (size_t table = 0; table < tableCount; ++table) {
               Arena arena;
               shared.append(table, rowsFrom(worker + static_cast<int64_t>(batch) * 100, 2, 50, arena));
            }
      });
   for (std::thread& worker : workers)
      worker.join();
}

} // namespace

CATCH_TEST_CASE("workers append to many tables at once") {
   ManyTables many;
   auto transaction = many.f.database->begin();
   SharedAppenders shared(*transaction, many.tables);
   appendAll(shared, 20);
   shared.finish();
   many.f.commit(*transaction);
   for (Table* table : many.tables)
      CATCH_CHECK(readNumbers(*many.f.database, *table) == range(0, 2000));
}

CATCH_TEST_CASE("rows of many tables become blocks when they take much of the memory") {
   ManyTables many;
   many.f.governor.ledger().setLimit(size_t{16} << 20); // the rows take 17 MB
   auto transaction = many.f.database->begin();
   SharedAppenders shared(*transaction, many.tables);
   appendAll(shared, 100);
   shared.finish();
   CATCH_CHECK(many.f.governor.ledger().peak() < size_t{12} << 20);
   many.f.commit(*transaction);
   for (Table* table : many.tables)
      CATCH_CHECK(readNumbers(*many.f.database, *table) == range(0, 10'000));
}

CATCH_TEST_CASE("rows of many tables become blocks when others use the memory") {
   ManyTables many;
   const size_t limit = size_t{256} << 20;
   many.f.governor.ledger().setLimit(limit);
   Reservation others(many.f.governor.ledger());
   others.grow(limit - many.f.governor.ledger().used() - (size_t{8} << 20));
   auto transaction = many.f.database->begin();
   SharedAppenders shared(*transaction, many.tables);
   appendAll(shared, 100);
   shared.finish();
   others.shrink(others.used());
   many.f.commit(*transaction);
   for (Table* table : many.tables)
      CATCH_CHECK(readNumbers(*many.f.database, *table) == range(0, 10'000));
}

CATCH_TEST_CASE("rows of many tables that are not finished leave nothing behind") {
   ManyTables many;
   const size_t before = many.f.governor.ledger().used();
   {
      auto transaction = many.f.database->begin();
      {
         SharedAppenders shared(*transaction, many.tables);
         appendAll(shared, 2);
      }
      many.f.database->abort(*transaction);
   }
   CATCH_CHECK(many.f.governor.ledger().used() == before);
   CATCH_CHECK(readNumbers(*many.f.database, *many.tables[0]).empty());
}
