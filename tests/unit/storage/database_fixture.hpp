#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "common/error/sql_error.hpp"
#include "storage/database/database.hpp"
#include "tests/unit/storage/storage_test_support.hpp"

namespace ouzel::storage::test {

/// The SQLSTATE that the action throws.
inline SqlState stateOf(const std::function<void()>& action) {
   try {
      action();
   } catch (const SqlError& error) {
      return error.state();
   }
   return sqlstate::successfulCompletion;
}

/// A database over a directory, with a catalog that is the concatenation of all changes.
struct DatabaseFixture {
   std::string directory;
   MemoryGovernor governor{size_t{1} << 30};
   ThreadTaskRunner tasks{2};
   std::string catalog;
   std::unique_ptr<Database> database;

   explicit DatabaseFixture(std::string path, uint64_t checkpointWalBytes = uint64_t{1} << 30, bool readOnly = false)
      : DatabaseFixture([&] {
           DatabaseOptions options;
           options.dataDirectory = std::move(path);
           options.checkpointWalBytes = checkpointWalBytes;
           options.readOnly = readOnly;
           return options;
        }()) {}

   explicit DatabaseFixture(const DatabaseOptions& options) : directory(options.dataDirectory) {
      database = Database::open(options, governor, tasks);
      RecoveredCatalog recovered = database->takeRecoveredCatalog();
      catalog = recovered.image;
      for (const std::string& change : recovered.changes)
         catalog += change;
      database->setCatalogImageSource([this] { return catalog; });
   }

   Timestamp commit(Transaction& transaction, std::string change = {}, bool synchronous = true) {
      CommitRequest request;
      request.catalogChange = change;
      request.publish = [this, change](Timestamp) { catalog += change; };
      request.synchronous = synchronous;
      return database->commit(transaction, std::move(request));
   }
};

inline std::vector<ColumnDefinition> intAndText() {
   return {ColumnDefinition::of({oid::int8, -1, 0}), ColumnDefinition::of({oid::text, -1, defaultCollation})};
}

/// Appends rows (n, "text <n>") for n in [first, first + count).
inline void appendRows(Table& table, Transaction& transaction, int64_t first, size_t count,
                       AppendMode mode = AppendMode::Small) {
   auto appender = table.appender(transaction, mode);
   for (size_t done = 0; done < count;) {
      const size_t here = std::min<size_t>(count - done, 1777);
      TestColumn numbers{PhysicalType::I64, {}}, texts{PhysicalType::String, {}};
      for (size_t i = 0; i < here; ++i) {
         const int64_t n = first + static_cast<int64_t>(done + i);
         numbers.values.push_back(Value::integer(PhysicalType::I64, n));
         texts.values.push_back(n % 10 == 0 ? Value::null(PhysicalType::String)
                                            : Value::string("text " + std::to_string(n)));
      }
      Arena arena;
      appender->append(makeBatch({numbers, texts}, 0, here, arena));
      done += here;
   }
   appender->finish();
}

struct ReadRow {
   int64_t number;
   std::optional<std::string> text;
   RowId id;
   bool operator==(const ReadRow&) const = default;
};

inline std::vector<ReadRow> readRows(Table& table, const Snapshot& snapshot) {
   std::vector<ReadRow> rows;
   auto source = table.scan(snapshot, {{0, 1, ScanSpec::rowIdColumn}, {}});
   auto reader = source->makeReader();
   Morsel morsel;
   while (source->next(morsel)) {
      reader->open(morsel);
      for (uint32_t first = 0; first < reader->rowCount(); first += vectorRows) {
         const uint32_t count = std::min(vectorRows, reader->rowCount() - first);
         const Selection live = reader->visible(first, count);
         const Vector numbers = reader->read(0, first, count, live), texts = reader->read(1, first, count, live),
                      ids = reader->read(2, first, count, live);
         forEachRow(live, [&](uint32_t row) {
            ReadRow result{numbers.value<int64_t>(row), std::nullopt, static_cast<RowId>(ids.value<int64_t>(row))};
            if (!texts.isNull(row)) result.text = std::string(texts.value<StringView>(row).view());
            rows.push_back(std::move(result));
         });
      }
   }
   return rows;
}

/// The numbers that a new transaction sees, sorted. Fails when a text does not match its number.
inline std::vector<int64_t> readNumbers(Database& database, Table& table) {
   auto transaction = database.begin();
   std::vector<int64_t> numbers;
   for (const ReadRow& row : readRows(table, transaction->snapshot())) {
      const bool isNull = row.number % 10 == 0;
      if (isNull == row.text.has_value() || (!isNull && *row.text != "text " + std::to_string(row.number)))
         throw std::runtime_error("text of row " + std::to_string(row.number));
      numbers.push_back(row.number);
   }
   database.abort(*transaction);
   std::sort(numbers.begin(), numbers.end());
   return numbers;
}

inline std::vector<int64_t> range(int64_t first, int64_t end) {
   std::vector<int64_t> numbers;
   for (int64_t n = first; n < end; ++n)
      numbers.push_back(n);
   return numbers;
}

/// A fixture over a temporary directory, with one committed, empty table.
struct OwnDirectory {
   TemporaryDirectory temporary;
};
struct OneTable : private OwnDirectory, DatabaseFixture {
   std::shared_ptr<Table> table;

   OneTable() : DatabaseFixture(temporary.path() + "/data") {
      auto transaction = database->begin();
      table = database->createTable(*transaction, intAndText());
      commit(*transaction, "create;");
   }
   void insert(int64_t first, size_t count, AppendMode mode = AppendMode::Small) {
      auto transaction = database->begin();
      appendRows(*table, *transaction, first, count, mode);
      commit(*transaction);
   }
   std::vector<RowId> idsOf(const Snapshot& snapshot, const std::function<bool(int64_t)>& wanted) {
      std::vector<RowId> ids;
      for (const ReadRow& row : readRows(*table, snapshot))
         if (wanted(row.number)) ids.push_back(row.id);
      return ids;
   }
};

} // namespace ouzel::storage::test
