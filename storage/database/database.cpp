#include "storage/database/database.hpp"

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "storage/base/definition_codec.hpp"
#include "storage/database/database_state.hpp"

namespace ouzel::storage {

Database::State::State(const DatabaseOptions& o, MemoryGovernor& g, TaskRunner& t)
   : options(o), governor(g), tasks(t),
     walDirectory(o.walDirectory.empty() ? o.dataDirectory + "/wal" : o.walDirectory), deltaMemory(g.ledger()),
     keyIndexes(g, transactions) {
   if (o.keepsLog || o.follows) return;
   temporaryLog = std::make_unique<TemporaryLog>();
   walDirectory = temporaryLog->path();
}

Database::State::~State() {
   if (group) group->stop();
   waitForBackground();
   tables.clear();
}

Database::Database(std::unique_ptr<State> state) : state_(std::move(state)) {}
Database::~Database() = default;

std::unique_ptr<Database> Database::open(const DatabaseOptions& options, MemoryGovernor& governor, TaskRunner& tasks) {
   auto state = std::make_unique<State>(options, governor, tasks);
   const bool isRemote = io::isRemoteStore(options.dataDirectory);
   if ((options.readOnly || options.follows) && !isRemote && !io::exists(options.dataDirectory))
      throw SqlError(sqlstate::undefinedFile, "there is no database in \"" + options.dataDirectory + "\"");
   if (options.follows) {
      state->store = io::openObjectStore(options.dataDirectory, options.store);
      state->startFollowing();
      return std::unique_ptr<Database>(new Database(std::move(state)));
   }
   const std::string& lockDirectory = isRemote ? state->walDirectory : options.dataDirectory;
   io::makeDirectories(lockDirectory);
   state->lockFile = io::File(lockDirectory + "/ouzel.lock", io::File::Mode::Write);
   // A quick answer for most cases. The lease decides: a process that is stopped keeps its lock.
   const bool isLocked = state->lockFile.tryLock();
   if (!isLocked && !options.takeOver)
      throw SqlError(sqlstate::objectInUse, "data directory \"" + lockDirectory + "\" is in use")
          .hint("Is another server running on it?");
   state->store = io::openObjectStore(options.dataDirectory, options.store);
   if (!options.readOnly) {
      state->claim();
      if (isLocked && !state->lease->mayPredecessorLive()) state->removeLeftovers();
   }
   try {
      state->recover();
   } catch (...) {
      state->releaseLease(); // nothing has been promised in this epoch
      throw;
   }
   return std::unique_ptr<Database>(new Database(std::move(state)));
}

RecoveredCatalog Database::takeRecoveredCatalog() {
   return std::move(state_->recovered);
}

void Database::setCatalogImageSource(std::function<std::string()> source) {
   state_->catalogImage = std::move(source);
}

Snapshot Database::beginSerializable(Transaction& transaction) {
   return state_->beginSerializable(transaction);
}

std::unique_ptr<Transaction> Database::begin() {
   return state_->transactions.begin();
}
TransactionManager& Database::transactions() {
   return state_->transactions;
}

Timestamp Database::commit(Transaction& transaction, CommitRequest request) {
   return state_->commit(transaction, request);
}

void Database::abort(Transaction& transaction) {
   if (transaction.isOpen()) transaction.undoAll();
}

std::shared_ptr<Table> Database::createTable(Transaction& transaction, std::vector<ColumnDefinition> columns) {
   State& s = *state_;
   const auto id = static_cast<StorageId>(s.nextStorage.fetch_add(1));
   const auto columnCount = static_cast<uint32_t>(columns.size());
   auto table = std::make_shared<Table>(std::make_unique<TableCore>(*s.context, id, std::move(columns)));
   {
      const std::lock_guard lock(s.tablesMutex);
      s.tables[id] = {table, false, columnCount};
   }
   transaction.addStorageChange({Transaction::StorageChange::Kind::Create, table, {}, [&s, id] {
                                    const std::lock_guard lock(s.tablesMutex);
                                    s.tables.erase(id);
                                 }});
   return table;
}

void Database::dropTable(Transaction& transaction, StorageId id) {
   auto table = find(id);
   if (!table) throwInternal("dropped storage does not exist");
   transaction.addStorageChange({Transaction::StorageChange::Kind::Drop, std::move(table), {}, nullptr});
}

void Database::addColumn(Transaction& transaction, StorageId id, ColumnDefinition column) {
   auto table = find(id);
   if (!table) throwInternal("altered storage does not exist");
   TableCore& core = table->core();
   {
      const std::lock_guard lock(core.mutex);
      auto columns = std::make_shared<std::vector<ColumnDefinition>>(*core.columns);
      columns->push_back(column);
      core.columns = std::move(columns);
      core.sealDelta(); // rows of the new shape go to a segment of the new shape
   }
   transaction.addStorageChange(
       {Transaction::StorageChange::Kind::AddColumn, std::move(table), std::move(column), nullptr});
}

std::shared_ptr<Table> Database::find(StorageId id) const {
   const std::lock_guard lock(state_->tablesMutex);
   const auto it = state_->tables.find(id);
   return it == state_->tables.end() ? nullptr : it->second.table;
}

Oid Database::allocateOid() {
   return state_->nextOid.fetch_add(1);
}

namespace {
/// Of a follower. The engine refuses statements that write; this is for what it forgets.
[[noreturn]] void refuseWrite() {
   throw SqlError(sqlstate::readOnlySqlTransaction, "cannot write to a database opened read-only");
}
} // namespace

void Database::setCounter(Oid id, Counter counter) {
   if (!state_->log) refuseWrite();
   std::string bytes;
   writeCounter(id, counter, bytes);
   const std::string_view part = bytes;
   const std::lock_guard lock(state_->commitMutex);
   state_->log->reserve(bytes.size());
   state_->log->append(FrameKind::Counter, state_->lastAssigned, std::span(&part, 1));
   state_->counters[id] = counter;
}

std::optional<Counter> Database::counter(Oid id) const {
   const std::lock_guard lock(state_->commitMutex);
   const auto it = state_->counters.find(id);
   return it == state_->counters.end() ? std::nullopt : std::optional(it->second);
}

std::vector<Oid> Database::counters() const {
   const std::lock_guard lock(state_->commitMutex);
   std::vector<Oid> ids;
   for (const auto& [id, counter] : state_->counters)
      ids.push_back(id);
   return ids;
}

void Database::forgetCounter(Oid id) {
   const std::lock_guard lock(state_->commitMutex);
   state_->counters.erase(id);
}

void Database::syncLog() {
   if (!state_->log) return;
   state_->log->flush();
   if (state_->lease) state_->lease->require();
}

void Database::waitForStore(uint64_t lsn) {
   if (state_->group) state_->group->wait(lsn);
}

bool Database::follow(const FollowCallback& publish) {
   return state_->follow(publish);
}

bool Database::hasLostBlock() const {
   return state_->hasLostBlock.load();
}

void Database::checkpoint() {
   if (!state_->log) refuseWrite();
   const std::lock_guard lock(state_->checkpointMutex);
   state_->checkpoint(CheckpointKind::Background);
}

void Database::close() {
   CHECK(!state_->isClosed);
   state_->isClosed = true;
   if (!state_->lease) return;
   state_->group->stop();
   state_->waitForBackground();
   state_->lease->require();
   CHECK(state_->transactions.openTransactions() == 0);
   const std::lock_guard lock(state_->checkpointMutex);
   state_->checkpoint(CheckpointKind::Clean);
   // An upload whose beginning was answered, but the answer was lost, is nobody's.
   if (!state_->lease->mayPredecessorLive()) state_->removeLeftovers();
   state_->releaseLease();
}

uint64_t Database::check(const std::function<void(std::string_view)>& report) {
   State& s = *state_;
   // Manifest, catalog, headers, deletes and log were verified when the database was opened.
   uint64_t objects = 1 + s.referencedObjects.size();
   std::vector<std::shared_ptr<Table>> all;
   {
      const std::lock_guard lock(s.tablesMutex);
      for (const auto& [id, entry] : s.tables)
         all.push_back(entry.table);
   }
   for (const auto& table : all) {
      for (const SegmentPtr& segment : *table->core().segmentList()) {
         if (!segment->block) continue;
         ++objects;
         try {
            const std::string& name = segment->block->objectName();
            const auto reader = s.store->open(name);
            if (!reader) throw SqlError(sqlstate::dataCorrupted, "missing block \"" + name + "\"");
            Block::readHeader(*reader, name);
            segment->block->verify();
         } catch (const SqlError& error) {
            report(error.what());
         }
      }
   }
   return objects;
}

size_t Database::deltaBytes() const {
   return state_->deltaMemory.used();
}

std::optional<io::RetrieverStatistics> Database::storeStatistics() const {
   return state_->store->statistics();
}

std::optional<io::CacheStatistics> Database::cacheStatistics() const {
   return state_->store->cacheStatistics();
}

uint64_t Database::walBytes() const {
   return state_->log ? state_->log->keptBytes() : 0;
}

uint64_t Database::walPosition() const {
   return state_->log->endLsn();
}

} // namespace ouzel::storage
