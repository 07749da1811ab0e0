#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "storage/table/table_core.hpp"
#include "tests/unit/storage/database_fixture.hpp"

// What one damaged file takes away, and what goes on beside it.

using namespace ouzel;
using namespace ouzel::storage;
using namespace ouzel::storage::test;
namespace fs = std::filesystem;

namespace {

/// Two tables of 50,000 rows, in blocks, and a way to start again.
struct TwoTables {
   TemporaryDirectory temporary;
   const std::string directory = temporary.path() + "/data";
   std::optional<DatabaseFixture> f;
   StorageId hurt{}, sound{};

   TwoTables() {
      f.emplace(directory);
      auto transaction = f->database->begin();
      for (StorageId* id : {&hurt, &sound}) {
         const auto table = f->database->createTable(*transaction, intAndText());
         appendRows(*table, *transaction, 0, 50'000, AppendMode::Bulk);
         *id = table->id();
      }
      f->commit(*transaction, "tables;");
      f->database->checkpoint();
   }
   Table& table(StorageId id) { return *f->database->find(id); }
   void insert(StorageId id, int64_t first) {
      auto transaction = f->database->begin();
      appendRows(table(id), *transaction, first, 10);
      f->commit(*transaction);
   }
   /// Start as after a crash.
   void restart(bool takesOver = false) {
      f.reset();
      DatabaseOptions options;
      options.dataDirectory = directory;
      options.takeOver = takesOver;
      f.emplace(options);
   }
   /// The only file of one kind that the hurt table has.
   fs::path file(const std::string& kind) const {
      std::vector<fs::path> files;
      const std::string number = std::to_string(static_cast<uint64_t>(hurt));
      for (const auto& entry : fs::directory_iterator(directory + "/table/" + number + "/" + kind))
         files.push_back(entry.path());
      CATCH_REQUIRE(files.size() == 1);
      return files[0];
   }
   std::vector<std::string> faults() {
      std::vector<std::string> lines;
      f->database->check([&](std::string_view line) { lines.emplace_back(line); });
      return lines;
   }
   size_t rows(StorageId id) { return readNumbers(*f->database, table(id)).size(); }
};

/// Change a byte in the middle of the file.
void damage(const fs::path& path) {
   std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
   const auto middle = static_cast<std::streamoff>(fs::file_size(path) / 3);
   file.seekg(middle);
   const char byte = static_cast<char>(file.get() ^ 0x55);
   file.seekp(middle);
   file.put(byte);
}

} // namespace

CATCH_TEST_CASE("checkpoints go on beside a damaged block") {
   TwoTables t;
   auto transaction = t.f->database->begin();
   for (const StorageId id : {t.hurt, t.sound}) { // enough dead rows for both blocks to be rewritten
      std::vector<RowId> ids;
      for (const ReadRow& row : readRows(t.table(id), transaction->snapshot()))
         if (row.number < 20'000) ids.push_back(row.id);
      t.table(id).deleteRows(*transaction, transaction->snapshot(), ids);
   }
   t.f->commit(*transaction);
   const fs::path block = t.file("block");
   damage(block);
   t.restart();
   for (int64_t round = 0; round < 3; ++round) {
      t.insert(t.hurt, 100'000 + round * 10);
      t.insert(t.sound, 100'000 + round * 10);
      t.f->database->checkpoint();
   }
   CATCH_CHECK(fs::exists(block));
   CATCH_CHECK(t.rows(t.sound) == 30'030);
   CATCH_CHECK(t.table(t.sound).core().segmentList()->size() <= 2);
   CATCH_CHECK(stateOf([&] { t.rows(t.hurt); }) == sqlstate::dataCorrupted);
   const std::vector<std::string> faults = t.faults();
   CATCH_REQUIRE(faults.size() == 1);
   CATCH_CHECK(faults[0].find(block.filename().string()) != std::string::npos);
   t.f->database->close();
   t.restart();
   CATCH_CHECK(t.rows(t.sound) == 30'030);
   CATCH_CHECK(t.f->database->find(t.hurt)->rowCount(t.f->database->begin()->snapshot()) == 30'030);
}

CATCH_TEST_CASE("a header whose object is damaged is read from its block") {
   TwoTables t;
   const fs::path header = t.file("header");
   damage(header);
   t.restart();
   CATCH_CHECK(t.rows(t.hurt) == 50'000);
   CATCH_CHECK(t.faults().size() == 1);
   t.f->database->checkpoint(); // stores the header again
   CATCH_CHECK_FALSE(fs::exists(header));
   t.restart();
   CATCH_CHECK(t.rows(t.hurt) == 50'000);
   CATCH_CHECK(t.faults().empty());
   fs::remove(t.file("header"));
   t.restart();
   CATCH_CHECK(t.rows(t.hurt) == 50'000);
}

CATCH_TEST_CASE("a table that cannot be read takes no other with it, and keeps its files") {
   TwoTables t;
   const fs::path list = t.file("list-of-headers"), block = t.file("block");
   const std::string copy = t.temporary.path() + "/copy";
   fs::copy(list, copy);
   damage(list);
   for (int start = 0; start < 2; ++start) {
      t.restart();
      CATCH_CHECK(t.rows(t.sound) == 50'000 + static_cast<size_t>(start) * 10);
      CATCH_CHECK(stateOf([&] { t.rows(t.hurt); }) == sqlstate::dataCorrupted);
      CATCH_CHECK(stateOf([&] { t.insert(t.hurt, 100'000); }) == sqlstate::dataCorrupted);
      auto transaction = t.f->database->begin();
      CATCH_CHECK(stateOf([&] {
                     t.table(t.hurt).shareKey(*transaction, {0}, 1, {Value::integer(PhysicalType::I64, 1)});
                  }) == sqlstate::dataCorrupted);
      t.f->database->abort(*transaction);
      t.insert(t.sound, 100'000 + start * 10);
      t.f->database->checkpoint();
      const std::vector<std::string> faults = t.faults();
      CATCH_REQUIRE(faults.size() == 1);
      CATCH_CHECK(faults[0].find(list.filename().string()) != std::string::npos);
      CATCH_CHECK(fs::exists(block));
   }
   CATCH_SECTION("brought back") {
      t.f.reset();
      fs::copy(copy, list, fs::copy_options::overwrite_existing);
      t.restart();
      CATCH_CHECK(t.rows(t.hurt) == 50'000);
      CATCH_CHECK(t.rows(t.sound) == 50'020);
   }
   CATCH_SECTION("dropped") {
      auto transaction = t.f->database->begin();
      t.f->database->dropTable(*transaction, t.hurt);
      t.f->commit(*transaction);
      t.f->database->checkpoint();
      t.restart();
      CATCH_CHECK(t.f->database->find(t.hurt) == nullptr);
      CATCH_CHECK_FALSE(fs::exists(block));
   }
}

CATCH_TEST_CASE("changes of a damaged table are not lost unless one says so") {
   TwoTables t;
   t.insert(t.hurt, 100'000);
   t.insert(t.sound, 100'000);
   damage(t.file("list-of-headers"));
   CATCH_CHECK(stateOf([&] { t.restart(); }) == sqlstate::dataCorrupted);
   t.restart(true);
   CATCH_CHECK(t.rows(t.sound) == 50'010);
   CATCH_CHECK(stateOf([&] { t.rows(t.hurt); }) == sqlstate::dataCorrupted);
   t.f->database->checkpoint();
   t.restart();
   CATCH_CHECK(t.rows(t.sound) == 50'010);
}
