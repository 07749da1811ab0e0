#include "storage/database/database.hpp"

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "storage/database/checkpointer.hpp"
#include "storage/database/follower.hpp"
#include "storage/database/kept_writes.hpp"
#include "storage/database/recovery.hpp"

namespace ouzel::storage {

/// The parts of a database; each is destroyed before the parts it uses.
///
///    Follower       shownMutex_       brings in manifests of another process      (a follower)
///    Checkpointer   storedMutex_      StoredState; held during a whole checkpoint (not a follower)
///                   scheduleMutex_    whether a checkpoint is scheduled
///      CheckpointGroup  mutex_        commits that wait for the store
///      Compactor, Checkpoint          one run each, under storedMutex_
///    Committer      orderMutex_       the order of commits, appends to the log
///      CommitQueue  entriesMutex_     commits between log and publication; publishes under it
///    RetiredSegments  blocksMutex_    blocks that the next manifest does not name
///    TableRegistry  tablesMutex_      tables by storage id
///    Counters       numbersMutex_     states of sequences
///    BackgroundTasks  runningMutex_   tasks to wait for
///    DatabaseFiles                    store, lease, directory of the log
///
/// Lock order, the only one in which two of these mutexes are held at a time:
///
///    storedMutex_ or shownMutex_ > orderMutex_ > entriesMutex_ > tablesMutex_ > a table's mutex (TableCore)
///                                           Transaction::writesMutex_ > tablesMutex_
///
/// Below all of these are leaf mutexes: those of counters, retired blocks, garbage, background tasks, the checkpoint
/// group, open transactions, delete marks, row versions, and of the log (flushMutex_ > mutex_). The engine's callbacks
/// run under orderMutex_ (catalog image) and entriesMutex_ (CommitRequest::publish).
struct Database::State {
   State(const DatabaseOptions& options, MemoryGovernor& governor, TaskRunner& tasks)
      : files(options), background(tasks), deltaMemory(governor.ledger()), lockMemory(governor.ledger()),
        keyIndexes(governor, transactions), context{files.store(), governor.cache(), deltaMemory, lockMemory,
                                                    tasks,         transactions,     keyIndexes},
        replacedBlocks(options.replacedBlocksNanos) {}
   ~State() {
      if (checkpointer) checkpointer->stop();
      background.stop();
   }

   void startFollowing();
   void recover(MemoryGovernor& governor);

   DatabaseFiles files;
   BackgroundTasks background;
   Reservation deltaMemory, lockMemory;
   TransactionManager transactions;
   KeyIndexPool keyIndexes;
   StorageContext context;
   Counters counters;
   TableRegistry tables{context};
   RetiredSegments retired{tables, transactions};
   ReplacedBlocks replacedBlocks;
   RecoveredCatalog recovered;
   std::unique_ptr<Log> log; ///< null: follows
   std::optional<Committer> committer;
   std::optional<Checkpointer> checkpointer; ///< none: follows
   std::optional<Follower> follower;         ///< none: does not follow
   bool isClosed = false;
};

void Database::State::startFollowing() {
   committer.emplace(files, context, tables, counters, background, nullptr, transactions.lastCommitted());
   follower.emplace(files, context, tables, counters, retired, *committer);
   const bool isFound = follower->follow([this](const std::string* image, const std::function<void()>& publishRows) {
      recovered.image = *image;
      publishRows();
   });
   CHECK(isFound);
}

void Database::State::recover(MemoryGovernor& governor) {
   RecoveredDatabase start = recoverDatabase(files, context, tables, counters, retired);
   recovered = std::move(start.catalog);
   log = std::move(start.log);
   Log* const writable = files.lease() ? log.get() : nullptr;
   committer.emplace(files, context, tables, counters, background, writable, start.lastCommit);
   checkpointer.emplace(CheckpointParts{files, context, tables, counters, retired, replacedBlocks, *committer,
                                        background, *log, governor.ledger()},
                        std::move(start.stored));
}

Database::Database(std::unique_ptr<State> state) : state_(std::move(state)) {}
Database::~Database() = default;

std::unique_ptr<Database> Database::open(const DatabaseOptions& options, MemoryGovernor& governor, TaskRunner& tasks) {
   auto state = std::make_unique<State>(options, governor, tasks);
   try {
      options.follows ? state->startFollowing() : state->recover(governor);
   } catch (...) {
      state->files.releaseLease(); // no commit was acknowledged in this epoch
      throw;
   }
   return std::unique_ptr<Database>(new Database(std::move(state)));
}

RecoveredCatalog Database::takeRecoveredCatalog() {
   return std::move(state_->recovered);
}

void Database::setCatalogImageSource(std::function<std::string()> source) {
   if (state_->checkpointer) state_->checkpointer->setImageSource(std::move(source));
}

std::unique_ptr<Transaction> Database::begin() {
   return state_->transactions.begin();
}
TransactionManager& Database::transactions() {
   return state_->transactions;
}

Snapshot Database::beginSerializable(Transaction& transaction) {
   return state_->committer->beginSerializable(transaction);
}

Timestamp Database::commit(Transaction& transaction, CommitRequest request) {
   const Timestamp timestamp = state_->committer->commit(transaction, request);
   const bool hasWritten = transaction.commitLsn() != 0;
   state_->retired.releaseAfter(transaction.oldestSnapshot());
   if (hasWritten) state_->checkpointer->startIfDue();
   return timestamp;
}

void Database::abort(Transaction& transaction) {
   transaction.abort();
   state_->retired.releaseAfter(transaction.oldestSnapshot());
}

std::string Database::describe(Transaction& transaction) {
   return describeWrites(transaction);
}

void Database::repeat(Transaction& transaction, std::string_view described) {
   repeatWrites(transaction, described, [this](StorageId id) { return find(id); });
}

std::shared_ptr<Table> Database::createTable(Transaction& transaction, std::vector<ColumnDefinition> columns,
                                             uint32_t place) {
   return state_->tables.create(transaction, std::move(columns), place);
}

void Database::dropTable(Transaction& transaction, StorageId id) {
   state_->tables.drop(transaction, id);
}

void Database::addColumn(Transaction& transaction, StorageId id, ColumnDefinition column) {
   state_->tables.addColumn(transaction, id, std::move(column));
}

std::shared_ptr<Table> Database::find(StorageId id) const {
   return state_->tables.find(id);
}

std::vector<StorageId> Database::tables() const {
   std::vector<StorageId> ids;
   for (const auto& table : state_->tables.all())
      ids.push_back(table->id());
   return ids;
}

Oid Database::allocateOid() {
   return state_->context.ids.newOid();
}

void Database::setCounter(Oid id, Counter counter) {
   state_->committer->setCounter(id, counter);
}

std::optional<Counter> Database::counter(Oid id) const {
   return state_->counters.find(id);
}

std::vector<Oid> Database::counters() const {
   return state_->counters.ids();
}

void Database::forgetCounter(Oid id) {
   state_->counters.forget(id);
}

void Database::syncLog() {
   state_->committer->syncLog();
}

void Database::waitForStore(uint64_t lsn) {
   if (state_->checkpointer) state_->checkpointer->waitForStore(lsn);
}

bool Database::follow(const FollowCallback& publish) {
   CHECK(state_->follower.has_value());
   return state_->follower->follow(publish);
}

bool Database::hasLostBlock() const {
   return state_->follower && state_->follower->hasLostBlock();
}

void Database::checkpoint() {
   state_->files.writerLease(); // throws when there is none
   state_->checkpointer->checkpoint(CheckpointKind::Background);
}

void Database::close() {
   State& s = *state_;
   CHECK(!s.isClosed);
   s.isClosed = true;
   if (!s.files.lease()) return;
   s.checkpointer->stop();
   s.background.stop();
   s.files.writerLease().require();
   CHECK(s.transactions.openTransactions() == 0);
   s.checkpointer->checkpoint(CheckpointKind::Clean);
   // The store may hold an upload whose beginning succeeded, but whose answer was lost.
   s.files.removeLeftovers();
   s.files.releaseLease();
}

uint64_t Database::check(const std::function<void(std::string_view)>& report) {
   State& s = *state_;
   // Manifest, catalog, headers, deletes and log were verified when the database was opened.
   uint64_t objects = 1 + (s.checkpointer ? s.checkpointer->referencedCount() : 0);
   for (const auto& table : s.tables.all()) {
      for (const std::string& fault : {table->core().damage, table->core().mended})
         if (!fault.empty())
            report("table with storage id " + std::to_string(static_cast<uint64_t>(table->id())) + ": " + fault);
      for (const SegmentPtr& segment : *table->core().segmentList()) {
         if (!segment->block) continue;
         ++objects;
         try {
            const std::string& name = segment->block->objectName();
            const auto reader = s.files.store().open(name);
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
   return state_->files.store().statistics();
}

std::optional<io::CacheStatistics> Database::cacheStatistics() const {
   return state_->files.store().cacheStatistics();
}

uint64_t Database::walBytes() const {
   return state_->log ? state_->log->keptBytes() : 0;
}

uint64_t Database::walPosition() const {
   return state_->log ? state_->log->endLsn() : 0;
}

LogUse Database::logUse() const {
   return state_->log ? state_->log->use() : LogUse();
}

CheckpointUse Database::checkpointUse() const {
   return state_->checkpointer->use();
}

DatabaseFiles& Database::files() {
   return state_->files;
}

} // namespace ouzel::storage
