#include "tests/crash/model.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "common/hash/hash.hpp"

namespace ouzel::storage::test {

namespace {

constexpr size_t rowsMax = 50'000; ///< a worker with more rows drops a table
constexpr int64_t rowsPerStep = 100'000;

bool isHit(int64_t row, const Step& step) {
   return row % step.modulus == step.remainder;
}

void eraseHits(std::vector<int64_t>& rows, const Step& step) {
   std::erase_if(rows, [&](int64_t row) { return isHit(row, step); });
}

} // namespace

Step Model::next() const {
   uint64_t state = hashU64(seed ^ hashU64(worker << 40 | done));
   const auto below = [&](uint64_t bound) {
      state = hashU64(state + 1);
      return (state >> 16) % bound;
   };
   Step step;
   step.first = static_cast<int64_t>(done) * rowsPerStep;
   step.modulus = static_cast<int64_t>(below(6) + 2);
   step.remainder = static_cast<int64_t>(below(static_cast<uint64_t>(step.modulus)));
   step.isSynchronous = below(5) != 0;
   step.rollsBack = below(8) == 0;
   step.setsCounter = below(4) == 0;
   step.checkpoints = below(12) == 0;
   size_t rows = 0;
   for (const auto& [number, list] : tables)
      rows += list.size();
   if (!tables.empty()) {
      auto it = tables.begin();
      std::advance(it, static_cast<std::ptrdiff_t>(below(tables.size())));
      step.table = it->first;
   }
   const uint64_t kind = below(40);
   if (tables.empty() || (kind == 0 && tables.size() < 4)) {
      step.kind = Step::Kind::Create;
      step.table = done; // a number that no earlier table has
      step.count = below(20);
   } else if (kind == 1 || rows > rowsMax) {
      step.kind = Step::Kind::Drop;
   } else if (kind == 2) {
      step.kind = Step::Kind::AddColumn;
      step.count = below(10);
   } else if (kind == 3) {
      step.kind = Step::Kind::InsertBulk;
      step.count = 33'000;
   } else if (kind < 7) {
      step.kind = Step::Kind::InsertMany;
      step.count = 2048 + below(2000);
   } else if (kind < 12) {
      step.kind = Step::Kind::Delete;
   } else if (kind < 18) {
      step.kind = Step::Kind::Update;
      step.count = below(60) + 1;
   } else if (kind < 21) {
      step.kind = Step::Kind::Everywhere;
      step.count = below(40) + 1;
   } else if (kind < 24) {
      step.kind = Step::Kind::Abort;
      step.count = below(3000) + 1;
   } else {
      step.kind = Step::Kind::InsertFew;
      step.count = below(50) + 1;
   }
   return step;
}

void Model::apply(bool hasEffect) {
   const Step step = next();
   const uint64_t number = done++;
   if (!hasEffect) return;
   const auto insertInto = [&](std::vector<int64_t>& rows, int64_t offset) {
      for (size_t i = 0; i < step.count; ++i)
         rows.push_back(step.first + offset + static_cast<int64_t>(i));
   };
   switch (step.kind) {
   case Step::Kind::Create: insertInto(tables[number], 0); break;
   case Step::Kind::Drop: tables.erase(step.table); break;
   case Step::Kind::Delete: eraseHits(tables[step.table], step); break;
   case Step::Kind::Update:
      eraseHits(tables[step.table], step);
      insertInto(tables[step.table], 0);
      break;
   case Step::Kind::Everywhere:
      for (auto& [id, rows] : tables)
         insertInto(rows, 0);
      break;
   case Step::Kind::Abort: break;
   default: insertInto(tables[step.table], 0); break;
   }
}

ModelDatabase::ModelDatabase(TaskRunner& tasks, uint64_t checkpointWalBytes, io::StoreOptions storeOptions) {
   DatabaseOptions options;
   options.dataDirectory = "/data";
   options.checkpointWalBytes = checkpointWalBytes;
   options.store = std::move(storeOptions);
   options.leaseMs = 3'600'000; // no renewals: they would come at random times
   database_ = Database::open(options, governor_, tasks);
   RecoveredCatalog recovered = database_->takeRecoveredCatalog();
   catalog_ = recovered.image;
   for (const std::string& change : recovered.changes)
      catalog_ += change;
   database_->setCatalogImageSource([this] {
      const std::lock_guard lock(mutex_);
      return catalog_;
   });
}

std::map<uint64_t, StorageId> ModelDatabase::tablesOf(uint64_t worker) const {
   const std::lock_guard lock(mutex_);
   std::map<uint64_t, StorageId> result;
   const char* at = catalog_.c_str();
   while (*at) {
      char sign = 0;
      unsigned long long of = 0, number = 0, storage = 0;
      int length = 0;
      if (std::sscanf(at, "%c%llu.%llu=%llu;%n", &sign, &of, &number, &storage, &length) != 4 || length == 0)
         throw std::runtime_error("catalog is damaged: " + std::string(at));
      at += length;
      if (of != worker) continue;
      const bool fits =
          sign == '+' ? result.emplace(number, static_cast<StorageId>(storage)).second : result.erase(number) == 1;
      if (!fits) throw std::runtime_error("catalog changes do not fit together: " + catalog_);
   }
   return result;
}

void ModelDatabase::insert(Transaction& transaction, StorageId id, int64_t first, size_t count, AppendMode mode) {
   if (count > 0) appendRows(*database_->find(id), transaction, first, count, mode);
}

void ModelDatabase::remove(Transaction& transaction, StorageId id, const Step& step) {
   const auto table = database_->find(id);
   const Snapshot snapshot = transaction.snapshot();
   std::vector<RowId> ids;
   for (const ReadRow& row : readRows(*table, snapshot))
      if (isHit(row.number, step)) ids.push_back(row.id);
   table->deleteRows(transaction, snapshot, ids);
}

void ModelDatabase::run(const Model& model, const Step& step, const std::function<void()>& beforeCommit) {
   const std::map<uint64_t, StorageId> tables = tablesOf(model.worker);
   const auto transaction = database_->begin();
   if (step.rollsBack && !tables.empty()) {
      const auto savepoint = transaction->savepoint();
      insert(*transaction, tables.begin()->second, step.first + rowsPerStep / 2, step.count + 3, AppendMode::Small);
      remove(*transaction, tables.begin()->second, step);
      transaction->nextCommand();
      transaction->rollbackTo(savepoint);
   }
   const auto change = [&](char sign, uint64_t number, StorageId id) {
      return sign + std::to_string(model.worker) + "." + std::to_string(number) + "=" +
             std::to_string(static_cast<uint64_t>(id)) + ";";
   };
   std::string changes;
   const StorageId target = step.kind == Step::Kind::Create ? database_->createTable(*transaction, intAndText())->id()
                                                            : tables.at(step.table);
   const AppendMode mode = step.kind == Step::Kind::InsertBulk ? AppendMode::Bulk : AppendMode::Small;
   switch (step.kind) {
   case Step::Kind::Create: changes = change('+', model.done, target); break;
   case Step::Kind::Drop:
      insert(*transaction, target, step.first, 5, mode); // these rows are dropped with the table
      database_->dropTable(*transaction, target);
      changes = change('-', step.table, target);
      break;
   case Step::Kind::AddColumn:
      database_->addColumn(*transaction, target, ColumnDefinition::of({oid::int8, -1, 0}));
      break;
   case Step::Kind::Delete:
   case Step::Kind::Update:
      remove(*transaction, target, step);
      transaction->nextCommand();
      break;
   case Step::Kind::Everywhere:
      for (const auto& [number, id] : tables)
         insert(*transaction, id, step.first, step.count, mode);
      break;
   default: break;
   }
   if (step.kind != Step::Kind::Everywhere && step.kind != Step::Kind::Drop)
      insert(*transaction, target, step.first, step.count, mode);
   if (step.kind == Step::Kind::Abort) {
      database_->abort(*transaction);
      return;
   }
   if (step.setsCounter) database_->setCounter(counterOf(model.worker), {static_cast<int64_t>(model.done), true});
   CommitRequest request;
   request.catalogChange = changes;
   request.publish = [this, changes](Timestamp) {
      const std::lock_guard lock(mutex_);
      catalog_ += changes;
   };
   request.synchronous = step.isSynchronous;
   beforeCommit();
   database_->commit(*transaction, std::move(request));
}

Model ModelDatabase::read(const Model& like) const {
   Model found{like.seed, like.worker, like.done, {}};
   const auto transaction = database_->begin();
   for (const auto& [number, id] : tablesOf(like.worker)) {
      const auto table = database_->find(id);
      if (!table) throw std::runtime_error("the catalog names storage that does not exist");
      std::vector<int64_t>& rows = found.tables[number];
      auto source = table->scan(transaction->snapshot(), {{0, 1}, {}});
      auto reader = source->makeReader();
      Morsel morsel;
      while (source->next(morsel)) {
         reader->open(morsel);
         for (uint32_t first = 0; first < reader->rowCount(); first += vectorRows) {
            const uint32_t count = std::min(vectorRows, reader->rowCount() - first);
            const Selection live = reader->visible(first, count);
            const Vector numbers = reader->read(0, first, count, live), texts = reader->read(1, first, count, live);
            forEachRow(live, [&](uint32_t row) {
               const auto value = numbers.value<int64_t>(row);
               char text[32] = "text ";
               const std::string_view expected(text, std::to_chars(text + 5, text + sizeof text, value).ptr - text);
               const bool isNull = value % 10 == 0;
               if (texts.isNull(row) != isNull || (!isNull && texts.value<StringView>(row).view() != expected))
                  throw std::runtime_error("text of row " + std::to_string(value));
               rows.push_back(value);
            });
         }
      }
      std::sort(rows.begin(), rows.end());
   }
   database_->abort(*transaction);
   return found;
}

} // namespace ouzel::storage::test
