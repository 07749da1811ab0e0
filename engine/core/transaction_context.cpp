#include "engine/core/transaction_context.hpp"

#include <algorithm>
#include <set>
#include <thread>

#include "catalog/object/codec.hpp"
#include "common/env/clock.hpp"
#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/thread/interruption.hpp"
#include "engine/core/temporary_objects.hpp"

namespace ouzel::engine {

namespace {

/// READ UNCOMMITTED is READ COMMITTED, as in PostgreSQL.
Isolation isolationOf(const std::string& level) {
   return level == "serializable"      ? Isolation::Serializable
          : level == "repeatable read" ? Isolation::RepeatableRead
                                       : Isolation::ReadCommitted;
}

} // namespace

TransactionContext::~TransactionContext() {
   rollback();
   dropTemporaryObjects(database_, temporary_);
   database_.locks.releaseAllSession(lockOwner_);
}

TransactionStatus TransactionContext::status() const {
   if (!inBlock_) return TransactionStatus::Idle;
   return failed_ ? TransactionStatus::Failed : TransactionStatus::InBlock;
}

void TransactionContext::ensureStarted() {
   if (isOpen()) return;
   editor_ = std::make_unique<catalog::CatalogEditor>(
       newestCatalog(), [&storage = *database_.storage] { return storage.allocateOid(); }, temporary_);
   storage_ = database_.storage->begin();
   startTime_ = wallClockMicros();
   number_ = ++count_;
   hasSnapshot_ = false;
   failed_ = false;
   readOnly_ = database_.following || settings_.boolean("default_transaction_read_only");
   const std::string& level = settings_.value("default_transaction_isolation");
   isolation_ = isolationOf(level);
   settings_.transactionBegins();
   settings_.force("transaction_isolation", level);
   settings_.force("transaction_read_only", readOnly_ ? "on" : "off");
   settings_.force("transaction_deferrable", settings_.value("default_transaction_deferrable"));
}

void TransactionContext::setIsolation(const std::string& level) {
   const Isolation isolation = isolationOf(level);
   if (isolation != isolation_ && hasSnapshot_)
      throw SqlError(sqlstate::activeSqlTransaction, "SET TRANSACTION ISOLATION LEVEL must be called before any query");
   if (isolation != isolation_ && !savepoints_.empty())
      throw SqlError(sqlstate::activeSqlTransaction,
                     "SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction");
   isolation_ = isolation;
   settings_.force("transaction_isolation", level);
}

void TransactionContext::setReadOnly(bool readOnly) {
   if (!readOnly && readOnly_) {
      if (!savepoints_.empty())
         throw SqlError(sqlstate::activeSqlTransaction,
                        "cannot set transaction read-write mode inside a read-only transaction");
      if (hasSnapshot_)
         throw SqlError(sqlstate::activeSqlTransaction, "transaction read-write mode must be set before any query");
      if (database_.following)
         throw SqlError(sqlstate::featureNotSupported, "cannot set transaction read-write mode during recovery");
   }
   readOnly_ = readOnly;
   settings_.force("transaction_read_only", readOnly ? "on" : "off");
}

void TransactionContext::setDeferrable(bool deferrable) {
   if (!savepoints_.empty())
      throw SqlError(sqlstate::activeSqlTransaction,
                     "SET TRANSACTION [NOT] DEFERRABLE cannot be called within a subtransaction");
   if (hasSnapshot_)
      throw SqlError(sqlstate::activeSqlTransaction,
                     "SET TRANSACTION [NOT] DEFERRABLE must be called before any query");
   settings_.force("transaction_deferrable", deferrable ? "on" : "off");
}

TransactionContext::Characteristics TransactionContext::characteristics() const {
   return {settings_.value("transaction_isolation"), readOnly_, settings_.boolean("transaction_deferrable")};
}

void TransactionContext::setCharacteristics(const Characteristics& characteristics) {
   setIsolation(characteristics.isolation);
   setReadOnly(characteristics.isReadOnly);
   setDeferrable(characteristics.isDeferrable);
}

void TransactionContext::beginBlock() {
   ensureStarted();
   inBlock_ = true;
}

std::shared_ptr<storage::Table> TransactionContext::createStorage(std::vector<storage::ColumnDefinition> columns,
                                                                  Oid database) {
   const uint32_t place = database == catalog::postgresDatabase ? 0 : database; // which was alone at first
   return database_.storage->createTable(*storage_, std::move(columns), place);
}

void TransactionContext::startCommand() {
   DCHECK(isOpen());
   DCHECK(!failed_);
   if (hasSnapshot_ && isolation_ != Isolation::ReadCommitted) {
      snapshot_ = storage_->refreshed(snapshot_);
      return;
   }
   editor_->rebase(newestCatalog());
}

namespace {
storage::JsonExtraction extractionOf(const std::string& name) {
   if (name == "none") return storage::JsonExtraction::None;
   if (name == "global") return storage::JsonExtraction::Global;
   if (name == "tiles") return storage::JsonExtraction::Tiles;
   return storage::JsonExtraction::Shapes;
}
} // namespace

void TransactionContext::startStatement() {
   DCHECK(isOpen());
   DCHECK(!failed_);
   storage_->setExtraction(extractionOf(settings_.value("ouzel.json_extraction")));
   if (hasSnapshot_ && isolation_ != Isolation::ReadCommitted) {
      snapshot_ = storage_->refreshed(snapshot_);
      return;
   }
   if (database_.following) database_.following->beforeStatement();
   const auto together = database_.following ? database_.following->hold() : std::shared_lock<std::shared_mutex>();
   editor_->rebase(newestCatalog());
   snapshot_ =
       isolation_ == Isolation::Serializable ? database_.storage->beginSerializable(*storage_) : storage_->snapshot();
   hasSnapshot_ = true;
   // Two commits in between may have made a label of an enum, and a row that has it.
   const catalog::Snapshot newest = newestCatalog();
   if (newest.version() != editor_->base().version()) editor_->rebase(newest);
}

std::string TransactionContext::exportSnapshot() {
   if (!savepoints_.empty())
      throw SqlError(sqlstate::activeSqlTransaction, "cannot export a snapshot from a subtransaction");
   hasExported_ = true;
   return database_.exportedSnapshots.add(lockOwner_.processId(),
                                          {databaseOid_, storage_->id(), snapshot_.commitTimestamp});
}

void TransactionContext::importSnapshot(const std::string& name) {
   if (hasSnapshot_ || !savepoints_.empty())
      throw SqlError(sqlstate::activeSqlTransaction, "SET TRANSACTION SNAPSHOT must be called before any query");
   if (isolation_ == Isolation::ReadCommitted)
      throw SqlError(sqlstate::featureNotSupported,
                     "a snapshot-importing transaction must have isolation level SERIALIZABLE or REPEATABLE READ");
   if (isolation_ == Isolation::Serializable) throwNotSupported("SET TRANSACTION SNAPSHOT under SERIALIZABLE");
   const auto found = database_.exportedSnapshots.find(name);
   if (found && found->database != databaseOid_)
      throw SqlError(sqlstate::featureNotSupported, "cannot import a snapshot from a different database");
   const auto adopted = found ? storage_->adopted(found->owner, found->timestamp) : std::nullopt;
   if (!adopted) throw SqlError(sqlstate::invalidParameterValue, "invalid snapshot identifier: \"" + name + "\"");
   snapshot_ = *adopted;
   hasSnapshot_ = true;
   editor_->rebase(newestCatalog());
}

void TransactionContext::commit() {
   if (!isOpen()) return;
   DCHECK(!failed_);       // fail() has rolled it back
   uint64_t storedLsn = 0; ///< position in the log that the store must reach; 0: no wait
   try {
      if (!deferrals_.checks.empty()) checkDeferred();
      if (!editor_->temporaryChanges().empty()) endTemporaryRows();
      storage::CommitRequest request;
      const bool synchronous = settings_.value("synchronous_commit") != "off";
      request.synchronous = synchronous;
      const bool isReadOnly = storage_->isReadOnly() && !editor_->hasChanges();
      if (editor_->hasChanges()) {
         auto prepared = database_.catalog->prepare(*editor_);
         request.catalogChange = prepared.record();
         request.publish = [&prepared](storage::Timestamp) { prepared.publish(); };
         database_.storage->commit(*storage_, std::move(request));
      } else {
         database_.storage->commit(*storage_, std::move(request));
      }
      // After the commit: a crash in between leaves the sequences where they were, ahead of all values.
      const RestartedSequences::Counters restarted = restartedSequences.counters();
      for (const auto& [sequence, counter] : restarted)
         database_.sequences->setHeld(sequence, counter);
      const bool movesCounters = (isReadOnly && usesCounters_.load()) || !restarted.empty();
      if (movesCounters && synchronous) database_.storage->syncLog();
      if (waitsForStore()) storedLsn = movesCounters ? database_.storage->walPosition() : storage_->commitLsn();
      temporary_ = editor_->temporaryChanges();
   } catch (...) {
      rollback();
      throw;
   }
   const PendingNotifications said = std::exchange(notifications, {});
   end(true);
   if (!said.isEmpty()) publish(said);
   // Other sessions see the commit since it is in the log; the locks are released before the wait.
   if (storedLsn != 0) waitForStore(storedLsn);
}

void TransactionContext::requirePreparable() const {
   const auto refuse = [](const std::string& what) { throw SqlError(sqlstate::featureNotSupported, what); };
   std::set<Oid> temporary;
   for (const catalog::Change& change : editor_->temporaryChanges())
      if (change.key.kind == catalog::ObjectKind::Relation) temporary.insert(change.key.a);
   for (const auto& [tag, mode] : database_.locks.taken(lockOwner_))
      if (tag.kind == LockKind::Relation && temporary.contains(static_cast<Oid>(tag.object)))
         refuse("cannot PREPARE a transaction that has operated on temporary objects");
   if (!notifications.isEmpty()) refuse("cannot PREPARE a transaction that has executed LISTEN, UNLISTEN, or NOTIFY");
   const std::vector<catalog::Change> changes = editor_->changes();
   const bool areKept = std::all_of(changes.begin(), changes.end(), [](const catalog::Change& change) {
      return change.key.kind == catalog::ObjectKind::LargeObject ||
             (change.key.kind == catalog::ObjectKind::Comment && change.key.b == catalog::class_oid::pgLargeObject);
   });
   if (!areKept || !restartedSequences.counters().empty())
      refuse("PREPARE TRANSACTION of a transaction that has changed objects is not supported");
   if (isolation_ == Isolation::Serializable)
      refuse("PREPARE TRANSACTION of a serializable transaction is not supported");
}

void TransactionContext::prepare(catalog::PreparedTransaction draft) {
   DCHECK(isOpen() && !failed_);
   const std::string name = draft.name;
   try {
      if (!deferrals_.checks.empty()) checkDeferred();
      requirePreparable();
      lockOwnTransaction(); // waiters for its rows wait for this lock
      const auto most = settings_.integer("max_prepared_transactions");
      database_.prepared->reserve(name, static_cast<size_t>(most));
   } catch (...) {
      rollback();
      throw;
   }
   uint64_t lsn = 0;
   try {
      for (const auto& [tag, mode] : database_.locks.taken(lockOwner_))
         if (tag.kind != LockKind::Transaction)
            draft.locks.push_back({static_cast<uint8_t>(tag.kind), static_cast<uint8_t>(mode), tag.object, tag.detail});
      draft.writes = database_.storage->describe(*storage_);
      if (editor_->hasChanges()) draft.objects = catalog::encodeChanges(editor_->changes());
      draft.preparedAt = wallClockMicros();
      catalog::CatalogEditor editor(newestCatalog(), [this] { return database_.storage->allocateOid(); });
      editor.addPrepared(std::move(draft));
      auto change = database_.catalog->prepare(editor);
      storage::CommitRequest request;
      request.catalogChange = change.record();
      request.publish = [&change](storage::Timestamp) { change.publish(); };
      const auto carrier = database_.storage->begin();
      database_.storage->commit(*carrier, std::move(request));
      lsn = carrier->commitLsn();
   } catch (...) {
      database_.prepared->forget(name);
      rollback();
      throw;
   }
   PreparedTransactions::Entry entry{std::move(storage_), std::make_unique<LockOwner>(0, databaseOid_)};
   database_.locks.moveTo(lockOwner_, *entry.locks);
   database_.prepared->keep(name, std::move(entry));
   end(true);
   waitUntilStored(lsn);
}

bool TransactionContext::waitsForStore() const {
   if (!settings_.boolean("ouzel.keeps_log")) return true;
   if (settings_.value("ouzel.commit") != "object_store") return false;
   const std::string& synchronous = settings_.value("synchronous_commit");
   return synchronous != "off" && synchronous != "local";
}

void TransactionContext::waitForStore(uint64_t lsn) {
   const Interruptible interruptible(interrupted_);
   try {
      database_.storage->waitForStore(lsn);
   } catch (const SqlError& error) {
      // The transaction is committed, and an error would deny it. PostgreSQL warns as well when the wait for a standby
      // ends.
      const bool isCancelled = error.state() == sqlstate::queryCanceled;
      if (!isCancelled && error.state() != sqlstate::adminShutdown) throw;
      constexpr const char* detail =
          "The transaction has already committed locally, but might not have been stored there yet.";
      if (isCancelled) return warnUnstored("canceling wait for the object store due to user request", detail);
      warnUnstored("canceling the wait for the object store and terminating connection due to administrator command",
                   detail);
      throw;
   }
}

void TransactionContext::rollback() noexcept {
   if (!isOpen()) return;
   if (storage_->isOpen()) database_.storage->abort(*storage_);
   end(false);
}

void TransactionContext::fail() noexcept {
   if (!inBlock_) return rollback();
   if (!failed_) settings_.transactionFails();
   failed_ = true;
   if (!isOpen() || !storage_->isOpen()) return;
   if (savepoints_.empty()) {
      restartedSequences.restore({});
      undoTo({0, 0}, 0);
   } else {
      restartedSequences.restore(savepoints_.back().restarted);
      undoTo(savepoints_.back().storage, savepoints_.back().lockPosition);
   }
}

void TransactionContext::undoTo(const storage::Transaction::Savepoint& savepoint, size_t lockPosition) noexcept {
   storage_->rollbackTo(savepoint);
   if (const uint64_t id = lockOwner_.transaction.load()) {
      if (lockPosition <= ownLockPosition_)
         lockOwner_.transaction.store(0);
      else
         database_.locks.wakeWaiters(id);
   }
   database_.locks.releaseTo(lockOwner_, lockPosition);
}

void TransactionContext::end(bool committed) noexcept {
   DCHECK(!storage_ || !storage_->isOpen()); // committed, aborted or prepared
   if (storage_)
      database_.uses.add(databaseOid_, committed ? &DatabaseUses::Use::commits : &DatabaseUses::Use::rollbacks);
   database_.functionUses.take(functionUses);
   if (hasExported_ && storage_) database_.exportedSnapshots.forget(storage_->id());
   hasExported_ = false;
   restartedSequences.restore({}); // before the lock that others wait for
   database_.locks.releaseAll(lockOwner_);
   lockOwner_.transaction.store(0);
   savepoints_.clear();
   deferrals_ = {};
   notifications.clear();
   largeObjects.clear();
   editor_.reset();
   storage_.reset();
   number_ = 0;
   inBlock_ = failed_ = hasSnapshot_ = false;
   usesCounters_.store(false);
   settings_.transactionEnds(committed);
   if (ended) ended(committed);
}

LockWait TransactionContext::lockWait() const {
   return {settings_.integer("lock_timeout"), settings_.integer("deadlock_timeout"), false, &interrupted_,
           settings_.boolean("log_lock_waits")};
}

namespace {

/// The modes in which those who wait for a row queue: PostgreSQL's of tuple locks. They conflict as the strengths do.
LockMode queueMode(storage::LockStrength strength) {
   switch (strength) {
   case storage::LockStrength::KeyShare: return LockMode::AccessShare;
   case storage::LockStrength::Share: return LockMode::RowShare;
   case storage::LockStrength::NoKeyUpdate: return LockMode::Exclusive;
   case storage::LockStrength::Update: break;
   }
   return LockMode::AccessExclusive;
}

} // namespace

std::optional<std::pair<LockTag, LockMode>> TransactionContext::awaitRow(const storage::WriteConflict& conflict) {
   if (conflict.holder == 0) {
      // The deleter has committed: its delete mark is set a moment before its timestamp is published.
      while (storage_->snapshot().commitTimestamp < conflict.committedAt)
         std::this_thread::yield();
      return std::nullopt;
   }
   // The waiters for one row queue on the row's lock. Only the first waits for the holder, so that few are woken in
   // vain. A transaction that shares the row does not queue: the first waiter may wait for it.
   std::optional<std::pair<LockTag, LockMode>> queue;
   if (!conflict.isShared) {
      queue.emplace(LockTag::row(static_cast<uint64_t>(conflict.table), conflict.row), queueMode(conflict.wanted));
      database_.locks.acquire(lockOwner_, queue->first, queue->second, lockWait());
   }
   database_.locks.waitForTransaction(lockOwner_, conflict.holder, lockWait());
   return queue;
}

bool TransactionContext::tryLock(Oid relation, LockMode mode, bool noWait) {
   if (relation < firstUserOid) return true; // built-in relations do not change
   if (mode > LockMode::AccessShare) lockOwnTransaction();
   const LockTag tag = LockTag::relation(relation);
   if (database_.locks.acquire(lockOwner_, tag, mode, {.noWait = true})) return true; // without looking up settings
   return !noWait && database_.locks.acquire(lockOwner_, tag, mode, lockWait());
}

void TransactionContext::lockDatabase(Oid database, LockMode mode) {
   DCHECK(isOpen());
   database_.locks.acquire(lockOwner_, LockTag::database(database), mode, lockWait());
}

/// Lock the transaction's own id before its first write: other sessions that meet its rows wait for this lock.
void TransactionContext::lockOwnTransaction() {
   if (lockOwner_.transaction.load(std::memory_order_relaxed) != 0) return;
   DCHECK(isOpen());
   ownLockPosition_ = lockOwner_.position();
   database_.locks.acquire(lockOwner_, LockTag::transaction(storage_->id()), LockMode::Exclusive, {});
   lockOwner_.transaction.store(LockTag::transaction(storage_->id()).object);
}

uint64_t TransactionContext::useId() {
   lockOwnTransaction();
   return storage_->id();
}

void TransactionContext::savepoint(const std::string& name) {
   DCHECK(isOpen());
   DCHECK(savepoints_.empty() || savepoints_.back().lockPosition <= lockOwner_.position());
   savepoints_.push_back({name, storage_->savepoint(), editor_->savepoint(), lockOwner_.position(),
                          restartedSequences.counters(), notifications.mark(), deferrals_, readOnly_});
   settings_.savepoint();
}

size_t TransactionContext::savepointLevel(const std::string& name) const {
   for (size_t i = savepoints_.size(); i-- > 0;)
      if (savepoints_[i].name == name) return i;
   throw SqlError(sqlstate::sEInvalidSpecification, "savepoint \"" + name + "\" does not exist");
}

void TransactionContext::releaseSavepoint(const std::string& name) {
   const size_t level = savepointLevel(name);
   savepoints_.resize(level);
   largeObjects.release(level);
   settings_.releaseSavepoint(level);
}

void TransactionContext::rollbackToSavepoint(const std::string& name) {
   const size_t level = savepointLevel(name);
   const Savepoint& savepoint = savepoints_[level];
   restartedSequences.restore(savepoint.restarted); // before the locks that others wait for
   undoTo(savepoint.storage, savepoint.lockPosition);
   editor_->rollbackTo(*savepoint.catalog);
   notifications.rollbackTo(savepoint.notifications);
   largeObjects.rollbackTo(level);
   deferrals_ = savepoint.deferrals;
   settings_.rollbackToSavepoint(level);
   readOnly_ = savepoint.readOnly;
   settings_.force("transaction_read_only", readOnly_ ? "on" : "off");
   savepoints_.resize(level + 1);
   failed_ = false;
}

bool TransactionContext::defers(const catalog::Constraint& constraint) const {
   if (!constraint.isDeferrable) return false;
   const auto found = deferrals_.ofConstraint.find(constraint.oid);
   return found != deferrals_.ofConstraint.end() ? found->second
                                                 : deferrals_.all.value_or(constraint.isInitiallyDeferred);
}

bool TransactionContext::defers(const catalog::Trigger& trigger) const {
   if (!trigger.isConstraint()) return false;
   catalog::Constraint constraint;
   constraint.oid = trigger.constraint;
   constraint.isDeferrable = trigger.isDeferrable;
   constraint.isInitiallyDeferred = trigger.isDeferred;
   return defers(constraint);
}

void TransactionContext::defer(const DeferredCheck& check) {
   for (DeferredCheck& known : deferrals_.checks)
      if (!check.trigger && known.constraint == check.constraint) {
         known.sinceCommand = std::min(known.sinceCommand, check.sinceCommand);
         return;
      }
   deferrals_.checks.push_back(check);
}

void TransactionContext::setDeferred(Oid constraint, bool isDeferred) {
   if (constraint == invalidOid) {
      deferrals_.all = isDeferred;
      deferrals_.ofConstraint.clear();
   } else {
      deferrals_.ofConstraint[constraint] = isDeferred;
   }
}

} // namespace ouzel::engine
