#include "storage/table/transaction.hpp"

#include <algorithm>

#include "common/env/clock.hpp"
#include "common/error/check.hpp"
#include "storage/table/table_core.hpp"

namespace ouzel::storage {

Transaction::Transaction(TransactionManager& manager, TransactionId id) : manager_(manager), id_(id) {
   horizon_ = manager.lastCommitted();
}

Transaction::~Transaction() {
   abort();
}

Snapshot Transaction::snapshot() {
   return {manager_.takeSnapshot(*this), id_, commandId_};
}

std::optional<Snapshot> Transaction::adopted(TransactionId owner, Timestamp timestamp) {
   if (!manager_.adoptSnapshot(*this, owner, timestamp)) return std::nullopt;
   return Snapshot{timestamp, id_, commandId_};
}

Snapshot Transaction::refreshed(const Snapshot& earlier) const {
   return {earlier.commitTimestamp, id_, commandId_};
}

bool Transaction::isReadOnly() const {
   const MutexLock lock(writesMutex_);
   for (const auto& [id, writes] : writes_)
      if (!writes->isEmpty()) return false;
   return storageChanges_.empty();
}

LocalWrites& Transaction::writesOf(Table& table) {
   const MutexLock lock(writesMutex_);
   CHECK(open_);
   auto& writes = writes_[table.id()];
   if (!writes) {
      writes = std::make_unique<LocalWrites>(table.shared_from_this(), id_);
      TableCore& core = table.core();
      const MutexLock coreLock(core.mutex);
      core.local[id_] = writes.get();
   }
   return *writes;
}

std::vector<LocalWrites*> Transaction::allWrites() const {
   const MutexLock lock(writesMutex_);
   if (!storageChanges_.empty())
      throw SqlError(sqlstate::featureNotSupported,
                     "PREPARE TRANSACTION of a transaction that has changed tables is not supported");
   std::vector<LocalWrites*> all;
   for (const auto& [id, writes] : writes_)
      all.push_back(writes.get());
   return all;
}

void Transaction::nextCommand() {
   constexpr uint32_t rolledBackMax = 1 << 16; // rollbackTo() begins a command, too, and must not fail
   if (commandId_ >= DeleteMarks::commandMax - rolledBackMax)
      throw SqlError(sqlstate::programLimitExceeded, "cannot have more than 2^30-2^16 commands in a transaction");
   ++commandId_;
}

Transaction::Savepoint Transaction::savepoint() {
   const MutexLock lock(writesMutex_);
   nextCommand();
   return {storageChanges_.size(), commandId_};
}

Transaction::Savepoint Transaction::mark() const {
   const MutexLock lock(writesMutex_);
   return {storageChanges_.size(), commandId_};
}

void Transaction::rollbackTo(const Savepoint& savepoint, bool keepLocks) {
   const MutexLock lock(writesMutex_);
   CHECK(open_);
   for (auto& [id, writes] : writes_)
      writes->rollbackTo(savepoint.commandId, keepLocks);
   while (storageChanges_.size() > savepoint.position) {
      undoStorageChange(storageChanges_.back());
      storageChanges_.pop_back();
   }
   ++commandId_;
}

void Transaction::undoStorageChange(const StorageChange& change) {
   if (change.kind == StorageChange::Kind::Create) use_.takeBack(change.table->id());
   TableCore& core = change.table->core();
   {
      const MutexLock lock(core.mutex);
      switch (change.kind) {
      case StorageChange::Kind::Create: core.isDropped = true; break;
      case StorageChange::Kind::Drop: break;
      case StorageChange::Kind::AddColumn: {
         auto columns = std::make_shared<std::vector<ColumnDefinition>>(*core.columns);
         CHECK(!columns->empty());
         columns->pop_back();
         core.columns = std::move(columns);
         core.sealDelta();
         break;
      }
      }
   }
   if (change.undone) change.undone();
}

void Transaction::addStorageChange(StorageChange change) {
   const MutexLock lock(writesMutex_);
   CHECK(open_);
   storageChanges_.push_back(std::move(change));
}

void Transaction::finishCommitted() {
   {
      const MutexLock lock(writesMutex_);
      CHECK(open_);
      forgetWrites();
      storageChanges_.clear();
      open_ = false;
   }
   use_.end(true);
   manager_.end(*this);
}

void Transaction::forgetWrites() {
   for (auto& [id, writes] : writes_) {
      writes->releaseLocks();
      TableCore& core = writes->table().core();
      const MutexLock lock(core.mutex);
      core.local.erase(id_);
   }
   writes_.clear();
}

void Transaction::abort() {
   if (!open_) return;
   {
      const MutexLock lock(writesMutex_);
      for (auto& [id, writes] : writes_)
         writes->rollbackTo(0);
      forgetWrites();
      while (!storageChanges_.empty()) {
         undoStorageChange(storageChanges_.back());
         storageChanges_.pop_back();
      }
      open_ = false;
   }
   use_.end(false);
   manager_.end(*this);
}

std::unique_ptr<Transaction> TransactionManager::begin() {
   const MutexLock lock(openMutex_);
   std::unique_ptr<Transaction> transaction(new Transaction(*this, nextId_++));
   open_[transaction->id()].transaction = transaction.get();
   return transaction;
}

void TransactionManager::end(Transaction& transaction) {
   if (transaction.reads_) changes.close(transaction.id());
   const MutexLock lock(openMutex_);
   const size_t erased = open_.erase(transaction.id());
   CHECK(erased == 1); // else the horizon would pass this transaction, and its snapshots lose their rows
}

Timestamp TransactionManager::horizon() const {
   const MutexLock lock(openMutex_);
   Timestamp oldest = lastCommitted();
   for (const auto& [id, open] : open_)
      oldest = std::min(oldest, open.transaction->horizon_);
   return oldest;
}

Timestamp TransactionManager::takeSnapshot(Transaction& transaction) {
   const MutexLock lock(openMutex_); // under it, so that liveSnapshots() has this one, or a `from` before it
   const Timestamp now = lastCommitted();
   const auto found = open_.find(transaction.id());
   CHECK(found != open_.end());
   transaction.oldestOpen_ = open_.begin()->first;
   Open& open = found->second;
   LiveSnapshots& taken = open.snapshots;
   if (open.firstTakenAt == INT64_MAX) open.firstTakenAt = steadyNanos();
   if (now >= taken.from || (!taken.single.empty() && taken.single.back() == now)) return now;
   if (taken.single.size() < singleMax)
      taken.single.push_back(now);
   else
      taken.from = now;
   return now;
}

bool TransactionManager::adoptSnapshot(Transaction& transaction, TransactionId owner, Timestamp timestamp) {
   const MutexLock lock(openMutex_); // under it, so that the owner's snapshot is in use until this one is
   if (!open_.contains(owner)) return false;
   Open& open = open_.at(transaction.id());
   CHECK(open.snapshots.single.empty() && open.snapshots.from == UINT64_MAX);
   open.snapshots.single.push_back(timestamp);
   open.firstTakenAt = steadyNanos();
   transaction.oldestOpen_ = open_.at(owner).transaction->oldestOpen_;
   transaction.horizon_ = std::min(transaction.horizon_, timestamp);
   return true;
}

namespace {
void unite(LiveSnapshots& all, const LiveSnapshots& more) {
   all.single.insert(all.single.end(), more.single.begin(), more.single.end());
   all.from = std::min(all.from, more.from);
}
} // namespace

LiveSnapshots TransactionManager::liveSnapshots() const {
   const MutexLock lock(openMutex_);
   LiveSnapshots all;
   all.from = lastCommitted();
   for (const auto& [id, open] : open_)
      unite(all, open.snapshots);
   return all;
}

LiveSnapshots TransactionManager::snapshotsOlderThan(int64_t nanos) const {
   const int64_t now = steadyNanos();
   const MutexLock lock(openMutex_);
   LiveSnapshots old;
   for (const auto& [id, open] : open_)
      if (open.firstTakenAt <= now - nanos) unite(old, open.snapshots);
   return old;
}

bool LiveSnapshots::mayRead(const SegmentVersions& versions, Timestamp retiredAt) const {
   if (from < retiredAt && versions.visibleRows(retiredAt) > 0) return true;
   return std::any_of(single.begin(), single.end(),
                      [&](Timestamp snapshot) { return snapshot < retiredAt && versions.visibleRows(snapshot) > 0; });
}

size_t TransactionManager::openTransactions() const {
   const MutexLock lock(openMutex_);
   return open_.size();
}

} // namespace ouzel::storage
