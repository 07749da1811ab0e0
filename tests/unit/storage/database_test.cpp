#include "storage/database/database.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "common/error/sql_error.hpp"
#include "tests/unit/storage/database_fixture.hpp"

using namespace ouzel;
using namespace ouzel::storage;
using namespace ouzel::storage::test;
namespace fs = std::filesystem;

namespace {

StorageId makeTable(DatabaseFixture& f) {
   auto transaction = f.database->begin();
   const auto table = f.database->createTable(*transaction, intAndText());
   f.commit(*transaction, "table;");
   return table->id();
}

void insert(DatabaseFixture& f, StorageId id, int64_t first, size_t count, AppendMode mode = AppendMode::Small) {
   auto transaction = f.database->begin();
   appendRows(*f.database->find(id), *transaction, first, count, mode);
   f.commit(*transaction);
}

void erase(DatabaseFixture& f, StorageId id, const std::function<bool(int64_t)>& wanted) {
   auto transaction = f.database->begin();
   const Snapshot snapshot = transaction->snapshot();
   std::vector<RowId> ids;
   for (const ReadRow& row : readRows(*f.database->find(id), snapshot))
      if (wanted(row.number)) ids.push_back(row.id);
   f.database->find(id)->deleteRows(*transaction, snapshot, ids);
   f.commit(*transaction);
}

/// Copies the database as after a crash: the files as they are now, without the lock, and without the lease of this
/// process, which is still alive.
std::string crashCopy(const std::string& directory, const std::string& copy) {
   fs::remove_all(copy);
   fs::copy(directory, copy, fs::copy_options::recursive);
   fs::remove_all(copy + "/writer");
   return copy;
}

std::vector<std::string> walFiles(const std::string& directory) {
   std::vector<std::string> files;
   for (const auto& entry : fs::directory_iterator(directory + "/wal"))
      files.push_back(entry.path().string());
   std::sort(files.begin(), files.end());
   return files;
}

bool opensWith(const std::string& directory, SqlState state) {
   try {
      DatabaseFixture f(directory);
      return false;
   } catch (const SqlError& error) {
      return error.state() == state;
   }
}

} // namespace

CATCH_TEST_CASE("a log whose only file has a damaged header is not taken for an empty one") {
   TemporaryDirectory temporary;
   const std::string data = temporary.path() + "/data", copy = temporary.path() + "/copy";
   DatabaseFixture f(data);
   insert(f, makeTable(f), 0, 100);
   crashCopy(data, copy);
   const std::vector<std::string> files = walFiles(copy);
   CATCH_REQUIRE(files.size() == 1);
   std::fstream file(files.front(), std::ios::in | std::ios::out | std::ios::binary);
   file.seekp(20);
   file.put('x');
   file.close();
   CATCH_CHECK(opensWith(copy, sqlstate::dataCorrupted));
}

CATCH_TEST_CASE("everything committed is there after a crash, and nothing else") {
   TemporaryDirectory temporary;
   const std::string data = temporary.path() + "/data", copy = temporary.path() + "/copy";
   DatabaseFixture f(data);
   const StorageId id = makeTable(f);
   insert(f, id, 0, 100);
   insert(f, id, 100, 40'000, AppendMode::Bulk);
   insert(f, id, 50'000, 3000);
   erase(f, id, [](int64_t n) { return n % 3 == 0; });
   auto open = f.database->begin();
   appendRows(*f.database->find(id), *open, 90'000, 40'000, AppendMode::Bulk);
   const auto expected = readNumbers(*f.database, *f.database->find(id));

   for (int round = 0; round < 3; ++round) {
      DatabaseFixture recovered(crashCopy(data, copy));
      CATCH_CHECK(recovered.catalog == "table;");
      CATCH_CHECK(readNumbers(*recovered.database, *recovered.database->find(id)) == expected);
      // The recovered database can be written and recovered again.
      insert(recovered, id, 200'000, 10);
      CATCH_CHECK(readNumbers(*recovered.database, *recovered.database->find(id)).size() == expected.size() + 10);
      CATCH_CHECK(recovered.database->check([](std::string_view fault) { CATCH_FAIL(std::string(fault)); }) >= 2);
   }
   f.database->abort(*open);
}

CATCH_TEST_CASE("counters outlive crashes, checkpoints and aborted transactions") {
   TemporaryDirectory temporary;
   const std::string data = temporary.path() + "/data", copy = temporary.path() + "/copy";
   DatabaseFixture f(data);
   f.database->setCounter(20'000, {1, false});
   f.database->setCounter(20'001, {-7, true});
   f.database->checkpoint();
   auto transaction = f.database->begin();
   f.database->setCounter(20'000, {33, true});
   f.database->abort(*transaction);
   f.database->forgetCounter(20'001);
   f.database->checkpoint();
   f.database->setCounter(20'002, {INT64_MIN, true});
   f.database->syncLog();
   DatabaseFixture recovered(crashCopy(data, copy));
   CATCH_CHECK(recovered.database->counter(20'000) == Counter{33, true});
   CATCH_CHECK(!recovered.database->counter(20'001));
   CATCH_CHECK(recovered.database->counter(20'002) == Counter{INT64_MIN, true});
}

CATCH_TEST_CASE("a checkpoint keeps rows, ids and deletes, and truncates the log") {
   TemporaryDirectory temporary;
   const std::string data = temporary.path() + "/data", copy = temporary.path() + "/copy";
   DatabaseFixture f(data);
   const StorageId id = makeTable(f);
   insert(f, id, 0, 5000);
   erase(f, id, [](int64_t n) { return n < 1000; });
   auto reader = f.database->begin();
   const auto table = f.database->find(id);
   const Snapshot old = reader->snapshot();
   const auto before = readRows(*table, old);
   f.database->checkpoint();
   CATCH_CHECK(f.database->walBytes() == 0);
   CATCH_CHECK((readRows(*table, old) == before));
   erase(f, id, [](int64_t n) { return n < 2000; }); // in the block
   insert(f, id, 5000, 10);
   {
      DatabaseFixture recovered(crashCopy(data, copy));
      CATCH_CHECK(readNumbers(*recovered.database, *recovered.database->find(id)) == range(2000, 5010));
      recovered.database->checkpoint();
      recovered.database->checkpoint();
      insert(recovered, id, 5010, 10);
   }
   {
      DatabaseFixture recovered(copy);
      CATCH_CHECK(recovered.catalog == "table;");
      CATCH_CHECK(readNumbers(*recovered.database, *recovered.database->find(id)) == range(2000, 5020));
      recovered.database->close();
   }
   fs::remove_all(copy + "/wal"); // clean: the log is not needed
   DatabaseFixture recovered(copy);
   CATCH_CHECK(readNumbers(*recovered.database, *recovered.database->find(id)) == range(2000, 5020));
   CATCH_CHECK((readRows(*table, old) == before));
   f.database->abort(*reader);
}

CATCH_TEST_CASE("rows of a table without columns outlive checkpoints and merges") {
   TemporaryDirectory temporary;
   const auto countRows = [](DatabaseFixture& f, StorageId id) {
      auto transaction = f.database->begin();
      auto source = f.database->find(id)->scan(transaction->snapshot(), {});
      auto reader = source->makeReader();
      uint32_t rows = 0;
      for (Morsel morsel; source->next(morsel);) {
         reader->open(morsel);
         for (uint32_t first = 0; first < reader->rowCount(); first += vectorRows)
            rows += reader->visible(first, std::min(vectorRows, reader->rowCount() - first)).count();
      }
      f.database->abort(*transaction);
      return rows;
   };
   const auto append = [](DatabaseFixture& f, StorageId id, uint32_t rows, AppendMode mode) {
      auto transaction = f.database->begin();
      auto appender = f.database->find(id)->appender(*transaction, mode);
      Batch batch;
      batch.setDense(rows);
      appender->append(batch);
      appender->finish();
      f.commit(*transaction);
   };
   StorageId id;
   {
      DatabaseFixture f(temporary.path());
      auto transaction = f.database->begin();
      id = f.database->createTable(*transaction, {})->id();
      f.commit(*transaction, "table;");
      append(f, id, 1000, AppendMode::Small);
      f.database->checkpoint();
      CATCH_CHECK(countRows(f, id) == 1000);
      append(f, id, 2000, AppendMode::Bulk);
      CATCH_CHECK(countRows(f, id) == 3000);
      f.database->close();
   }
   DatabaseFixture f(temporary.path());
   CATCH_CHECK(countRows(f, id) == 3000);
}

CATCH_TEST_CASE("checkpoints run by themselves when the log grows") {
   TemporaryDirectory temporary;
   DatabaseFixture f(temporary.path() + "/data", 100'000);
   const StorageId id = makeTable(f);
   for (int64_t i = 0; i < 50; ++i)
      insert(f, id, i * 1000, 1000);
   f.database->close();
   f.database.reset();
   DatabaseFixture again(temporary.path() + "/data");
   CATCH_CHECK(readNumbers(*again.database, *again.database->find(id)) == range(0, 50'000));
}

CATCH_TEST_CASE("created and dropped tables live and die with their transaction") {
   TemporaryDirectory temporary;
   const std::string data = temporary.path() + "/data", copy = temporary.path() + "/copy";
   DatabaseFixture f(data);
   auto transaction = f.database->begin();
   const StorageId gone = f.database->createTable(*transaction, intAndText())->id();
   appendRows(*f.database->find(gone), *transaction, 0, 40'000, AppendMode::Bulk);
   f.database->abort(*transaction);
   CATCH_CHECK(f.database->find(gone) == nullptr);

   const StorageId id = makeTable(f);
   insert(f, id, 0, 40'000, AppendMode::Bulk);
   f.database->checkpoint();
   transaction = f.database->begin();
   f.database->dropTable(*transaction, id);
   f.database->abort(*transaction);
   CATCH_CHECK(readNumbers(*f.database, *f.database->find(id)).size() == 40'000);

   transaction = f.database->begin();
   f.database->dropTable(*transaction, id);
   const StorageId fresh = f.database->createTable(*transaction, intAndText())->id();
   f.commit(*transaction, "truncate;");
   CATCH_CHECK(f.database->find(id) == nullptr);
   insert(f, fresh, 0, 5);
   {
      DatabaseFixture recovered(crashCopy(data, copy));
      CATCH_CHECK(recovered.database->find(id) == nullptr);
      CATCH_CHECK(readNumbers(*recovered.database, *recovered.database->find(fresh)) == range(0, 5));
      CATCH_CHECK(recovered.catalog == "table;truncate;");
      recovered.database->close();
   }
   size_t blocks = 0;
   for (const auto& entry : fs::recursive_directory_iterator(copy + "/table"))
      blocks += entry.path().string().find("/block/") != std::string::npos;
   CATCH_CHECK(blocks == 1); // no block of dropped tables and aborted loads remains
}

CATCH_TEST_CASE("a torn tail of the log is cut off") {
   TemporaryDirectory temporary;
   const std::string data = temporary.path() + "/data", copy = temporary.path() + "/copy";
   DatabaseFixture f(data);
   const StorageId id = makeTable(f);
   insert(f, id, 0, 10);
   const uint64_t before = f.database->walBytes();
   insert(f, id, 10, 10);
   const uint64_t after = f.database->walBytes();
   for (uint64_t cut = before; cut + 8 <= after; cut += 7) { // 7 bytes at a time: up to 7 bytes are padding
      crashCopy(data, copy);
      const std::string log = walFiles(copy).back();
      const auto size = fs::file_size(log);
      fs::resize_file(log, 64 + cut); // the last frame is torn, the rest of the reserved space is zeros
      fs::resize_file(log, size);
      {
         DatabaseFixture recovered(copy);
         CATCH_CHECK(readNumbers(*recovered.database, *recovered.database->find(id)) == range(0, 10));
         insert(recovered, id, 10, 3);
      }
      DatabaseFixture again(copy);
      CATCH_CHECK(readNumbers(*again.database, *again.database->find(id)) == range(0, 13));
   }
}

CATCH_TEST_CASE("a log damaged where it had been durable is refused") {
   TemporaryDirectory temporary;
   const std::string data = temporary.path() + "/data", copy = temporary.path() + "/copy";
   DatabaseFixture f(data);
   const StorageId id = makeTable(f);
   const uint64_t first = f.database->walBytes();
   insert(f, id, 0, 10);
   insert(f, id, 10, 10);
   insert(f, id, 20, 10);
   crashCopy(data, copy);
   std::fstream log(walFiles(copy).back(), std::ios::in | std::ios::out | std::ios::binary);
   log.seekp(static_cast<std::streamoff>(64 + first + 60));
   log.put('!');
   log.close();
   CATCH_CHECK(opensWith(copy, sqlstate::dataCorrupted));
   crashCopy(data, copy);
   fs::remove_all(copy + "/wal");
   CATCH_CHECK(opensWith(copy, sqlstate::dataCorrupted)); // no clean shutdown, and no log
}

CATCH_TEST_CASE("damage is found: that of the catalog refuses the start, that of a table is named by check()") {
   TemporaryDirectory temporary;
   const std::string data = temporary.path() + "/data", copy = temporary.path() + "/copy";
   StorageId id;
   {
      DatabaseFixture f(data);
      id = makeTable(f);
      insert(f, id, 0, 40'000, AppendMode::Bulk);
      erase(f, id, [](int64_t n) { return n == 5; });
      f.database->close();
   }
   for (const auto& entry : fs::recursive_directory_iterator(data)) {
      const std::string relative = entry.path().string().substr(data.size());
      if (!entry.is_regular_file() || relative.starts_with("/wal") || relative.starts_with("/writer") ||
          relative == "/ouzel.lock")
         continue;
      if (relative.starts_with("/manifest") &&
          relative != "/" + std::string("manifest") + "/" +
                          fs::directory_iterator(data + "/manifest")->path().filename().string())
         continue;
      crashCopy(data, copy);
      {
         // Damages a block inside its first page, since the gaps between pages are not checked.
         const auto place = static_cast<std::streamoff>(std::min<uint64_t>(100, fs::file_size(copy + relative) - 1));
         std::fstream file(copy + relative, std::ios::in | std::ios::out | std::ios::binary);
         file.seekg(place);
         const char byte = static_cast<char>(file.get());
         file.seekp(place);
         file.put(static_cast<char>(byte ^ 0x40));
      }
      CATCH_INFO(relative);
      if (!relative.starts_with("/table/")) {
         if (relative.starts_with("/manifest/")) continue; // the damaged manifest may not be the newest
         CATCH_CHECK(opensWith(copy, sqlstate::dataCorrupted));
      } else {
         DatabaseFixture f(copy, 1 << 30, true);
         int faults = 0;
         f.database->check([&](std::string_view) { ++faults; });
         CATCH_CHECK(faults == 1);
      }
   }
}

CATCH_TEST_CASE("two servers cannot open one directory") {
   TemporaryDirectory temporary;
   DatabaseFixture f(temporary.path() + "/data");
   CATCH_CHECK(opensWith(temporary.path() + "/data", sqlstate::objectInUse));
}

CATCH_TEST_CASE("commits without waiting for the disk are visible at once") {
   TemporaryDirectory temporary;
   DatabaseFixture f(temporary.path() + "/data");
   const StorageId id = makeTable(f);
   auto transaction = f.database->begin();
   appendRows(*f.database->find(id), *transaction, 0, 5);
   f.commit(*transaction, {}, false);
   CATCH_CHECK(readNumbers(*f.database, *f.database->find(id)) == range(0, 5));
   f.database->close();
   f.database.reset();
   DatabaseFixture again(temporary.path() + "/data");
   CATCH_CHECK(readNumbers(*again.database, *again.database->find(id)) == range(0, 5));
   CATCH_CHECK(again.database->allocateOid() >= 16384);
}

CATCH_TEST_CASE("closing merges small blocks and drops dead rows") {
   TemporaryDirectory temporary;
   const std::string data = temporary.path() + "/data";
   StorageId id;
   {
      DatabaseFixture f(data);
      id = makeTable(f);
      for (int64_t i = 0; i < 10; ++i) {
         insert(f, id, i * 5000, 5000);
         f.database->checkpoint();
      }
      insert(f, id, 50'000, 40'000, AppendMode::Bulk);
      insert(f, id, 90'000, 10);
      erase(f, id, [](int64_t n) { return n % 2 == 1; });
      const uint64_t before = f.database->find(id)->storedBytes();
      f.database->close();
      CATCH_CHECK(f.database->find(id)->storedBytes() < before * 2 / 3);
   }
   DatabaseFixture f(data);
   std::vector<int64_t> expected;
   for (int64_t n = 0; n < 90'010; n += 2)
      expected.push_back(n);
   CATCH_CHECK(readNumbers(*f.database, *f.database->find(id)) == expected);
   size_t blocks = 0;
   for (const auto& entry : fs::recursive_directory_iterator(data + "/table"))
      blocks += entry.path().string().find("/block/") != std::string::npos && entry.is_regular_file();
   CATCH_CHECK(blocks == 1);
   f.database->close();
}
