#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catalog/catalog.hpp"
#include "common/client/backend.hpp"
#include "engine/core/internals.hpp"
#include "engine/core/notifications.hpp"
#include "engine/large_object/descriptors.hpp"
#include "engine/setting/settings.hpp"
#include "storage/table/transaction.hpp"
#include "storage/version/write_conflict.hpp"

namespace ouzel::engine {

class KeptRows; // engine/query/kept_rows.hpp

enum class Isolation : uint8_t { ReadCommitted, RepeatableRead, Serializable };

/// The transaction of a session, if it has one: rows (storage), objects (catalog), settings and locks end together.
/// Owned by SessionCore. Used by the session's thread, unless a member says otherwise.
///
///    Idle --ensureStarted--> Implicit --beginBlock--> Block --fail--> Failed --rollback--> Idle
///    Implicit and Block --commit/rollback--> Idle; Implicit --fail--> Idle
///    Failed --rollbackToSavepoint--> Block
///
/// An implicit transaction is one statement, one simple-query script, or one pipeline up to Sync. isOpen() holds in all
/// states but Idle, inBlock() in Block and Failed. status() tells clients Idle for Implicit, as PostgreSQL does.
class TransactionContext {
public:
   /// `databaseOid`: the database whose objects the session sees. `interrupted` is called while waiting for locks and
   /// throws to give up.
   TransactionContext(Database::Internals& database, Oid databaseOid, Settings& settings, int32_t processId,
                      std::function<void()> interrupted)
      : restartedSequences(*database.sequences), database_(database), databaseOid_(databaseOid), settings_(settings),
        interrupted_(std::move(interrupted)), lockOwner_(processId, databaseOid) {}
   ~TransactionContext();

   TransactionStatus status() const;
   bool isOpen() const { return storage_ != nullptr; }
   bool inBlock() const { return inBlock_; }
   bool hasFailed() const { return failed_; }
   bool isReadOnly() const { return readOnly_; }
   // SET TRANSACTION. Throw 25001 when it is too late in the transaction, 0A000 for read-write on a server that only
   // reads. REQUIRES: isOpen().
   void setReadOnly(bool readOnly);
   void setIsolation(const std::string& level); ///< a value of the setting transaction_isolation
   void setDeferrable(bool deferrable);
   Isolation isolation() const { return isolation_; }
   /// What AND CHAIN passes on to the next transaction.
   struct Characteristics {
      std::string isolation;
      bool isReadOnly, isDeferrable;
   };
   Characteristics characteristics() const;
   void setCharacteristics(const Characteristics& characteristics);

   void ensureStarted();
   void beginBlock();
   /// Commit: durable and visible at the return, and the state is Idle. On an error the transaction is rolled back and
   /// the state is Idle too. The exception is the wait for the store (waitsForStore()): by then the transaction is
   /// committed; a cancelled wait only warns, and 57P01 is thrown when the session is to end.
   void commit();
   void rollback() noexcept;
   /// The transaction ends here and waits for COMMIT PREPARED under the name of `draft`, even if the server is started
   /// anew: PreparedTransactions keeps its rows and locks, and the catalog what makes them again. On an error it is
   /// rolled back, and the state is Idle too.
   void prepare(catalog::PreparedTransaction draft);
   /// Wait for the store, if commits do, until it has what another transaction's commit has written up to `lsn`.
   void waitUntilStored(uint64_t lsn) {
      if (lsn != 0 && waitsForStore()) waitForStore(lsn);
   }
   /// After an error: a block becomes Failed and waits for ROLLBACK; an implicit transaction is rolled back. The rows
   /// and locks that the block has written and taken since its last savepoint are undone at once, so that other
   /// sessions do not wait until the client reacts.
   void fail() noexcept;

   /// Take the snapshot the next statement sees. REQUIRES: isOpen().
   void startStatement();
   /// Show the newest objects to a command that reads no rows, so that the transaction takes no snapshot yet: LOCK,
   /// FETCH. REQUIRES: isOpen().
   void startCommand();
   /// Show the newest objects within a statement, under READ COMMITTED: it has waited for a lock on one.
   void seeNewestObjects() {
      if (isolation_ == Isolation::ReadCommitted) editor_->rebase(newestCatalog());
   }
   const storage::Snapshot& snapshot() const { return snapshot_; }
   /// pg_export_snapshot(): a name by which other transactions take the snapshot of this statement, until this one
   /// ends. Throws 25001 in a subtransaction.
   std::string exportSnapshot();
   /// SET TRANSACTION SNAPSHOT. Throws 25001 after a query, 0A000 under READ COMMITTED, 22023 for an unknown name.
   void importSnapshot(const std::string& name);
   storage::Transaction& storage() { return *storage_; }
   /// New storage for a table of the session's database, or of another one. It comes with the commit.
   std::shared_ptr<storage::Table> createStorage(std::vector<storage::ColumnDefinition> columns) {
      return createStorage(std::move(columns), databaseOid_);
   }
   std::shared_ptr<storage::Table> createStorage(std::vector<storage::ColumnDefinition> columns, Oid database);
   catalog::CatalogEditor& editor() { return *editor_; }
   const catalog::Snapshot& catalog() const { return editor_->snapshot(); }
   int64_t startTime() const { return startTime_; }
   /// How many transactions the session has begun.
   uint64_t count() const { return count_; }
   /// The open transaction's number among them; 0: none is open.
   const uint64_t& number() const { return number_; }
   /// A sequence was advanced: the commit waits for the log even when it has written nothing else. Any thread.
   void usesCounters() { usesCounters_.store(true, std::memory_order_relaxed); }
   RestartedSequences restartedSequences;
   PendingNotifications notifications; ///< what LISTEN, NOTIFY and UNLISTEN have said
   LargeObjectDescriptors largeObjects;
   FunctionUses functionUses; ///< calls that pg_stat_xact_user_functions shows
   /// Makes what they have said true; called by commit() when it has committed.
   std::function<void(const PendingNotifications&)> publish;

   // Locks, held until the transaction ends or the savepoint before them is rolled back to.
   void lock(Oid relation, LockMode mode) { tryLock(relation, mode, false); }
   /// False: `noWait`, and another owner or waiter is in the way.
   bool tryLock(Oid relation, LockMode mode, bool noWait);
   /// Lock a database itself: sessions begin in it under RowExclusive.
   void lockDatabase(Oid database, LockMode mode);
   LockManager& locks() { return database_.locks; }
   LockOwner& lockOwner() { return lockOwner_; }
   /// Limits of a wait for a lock that starts now, from the settings.
   LockWait lockWait() const;
   /// Waits until the transaction that holds the row has ended, or has given the row back. Returns the lock that keeps
   /// this one's place among those who wait for the row; none: it needs no place.
   std::optional<std::pair<LockTag, LockMode>> awaitRow(const storage::WriteConflict& conflict);

   // Constraints whose check may wait until the transaction ends.
   /// Rows for which a constraint trigger is yet to fire.
   struct DeferredTrigger {
      Oid target = invalidOid; ///< that the statement named
      Oid table = invalidOid;  ///< that has the trigger: the target, or a part of it
      Oid trigger = invalidOid;
      uint32_t event = 0; ///< of catalog::trigger_bit
      std::shared_ptr<KeptRows> rows;
      int32_t oldRow = -1, newRow = -1; ///< columns of `rows`, see sql::FiredTriggers
      std::vector<uint64_t> numbers;    ///< of the rows
   };
   struct DeferredCheck {
      Oid relation, constraint;
      uint32_t sinceCommand = 0;                        ///< rows written by this and later commands are to be checked
      std::shared_ptr<const DeferredTrigger> trigger{}; ///< null: it is a constraint
   };
   bool defers(const catalog::Constraint& constraint) const;
   bool defers(const catalog::Trigger& trigger) const;
   void defer(const DeferredCheck& check);
   /// SET CONSTRAINTS; invalidOid: all of them.
   void setDeferred(Oid constraint, bool isDeferred);
   std::vector<DeferredCheck>& deferredChecks() { return deferrals_.checks; }
   /// Runs the deferred checks; called by commit() when there are any.
   std::function<void()> checkDeferred;
   /// Does what temporary tables say with ON COMMIT; called by commit() after the deferred checks, when the session has
   /// temporary objects.
   std::function<void()> endTemporaryRows;
   /// The transaction has ended; the session's connections to other servers end theirs. Throws nothing.
   std::function<void(bool committed)> ended;
   /// Warns the client that commit() gave up waiting for the store.
   std::function<void(std::string message, std::string detail)> warnUnstored;

   void savepoint(const std::string& name);
   size_t savepointCount() const { return savepoints_.size(); }
   size_t savepointLevel(const std::string& name) const; ///< number of savepoints before it; 3B001 when there is none
   void releaseSavepoint(const std::string& name);
   void rollbackToSavepoint(const std::string& name);

   /// The transaction's id, for one who may look for it elsewhere: from now on it counts as one that has written.
   uint64_t useId();

private:
   void end(bool committed) noexcept;
   catalog::Snapshot newestCatalog() const { return database_.catalog->newest().inDatabase(databaseOid_); }
   /// Whether a commit waits until the store has it, by the settings and because there may be no log that outlives the
   /// server.
   bool waitsForStore() const;
   /// Wait until the store has everything in the log up to `lsn`. A cancelled statement gives up with a warning.
   void waitForStore(uint64_t lsn);
   /// Undo rows and locks; the catalog's objects stay as they are.
   void undoTo(const storage::Transaction::Savepoint& savepoint, size_t lockPosition) noexcept;
   void lockOwnTransaction();
   /// Throws 0A000 for what a prepared transaction cannot have.
   void requirePreparable() const;

   Database::Internals& database_;
   const Oid databaseOid_;
   Settings& settings_;
   const std::function<void()> interrupted_;
   LockOwner lockOwner_;
   size_t ownLockPosition_ = 0; ///< LockOwner::position() before the lock on the transaction itself
   std::unique_ptr<storage::Transaction> storage_;
   std::unique_ptr<catalog::CatalogEditor> editor_;
   std::vector<catalog::Change> temporary_; ///< the session's temporary objects, kept between transactions
   storage::Snapshot snapshot_;
   bool inBlock_ = false, failed_ = false, readOnly_ = false, hasSnapshot_ = false,
        hasExported_ = false; ///< snapshots, to other transactions
   Isolation isolation_ = Isolation::ReadCommitted;
   std::atomic<bool> usesCounters_{false};
   int64_t startTime_ = 0;
   uint64_t count_ = 0, number_ = 0;
   struct Deferrals {
      std::vector<DeferredCheck> checks;
      std::optional<bool> all;          ///< as SET CONSTRAINTS ALL said
      std::map<Oid, bool> ofConstraint; ///< SET CONSTRAINTS of single ones since then
   };
   struct Savepoint {
      std::string name;
      storage::Transaction::Savepoint storage;
      std::shared_ptr<const catalog::CatalogEditor::Savepoint> catalog;
      size_t lockPosition;
      RestartedSequences::Counters restarted;
      PendingNotifications::Mark notifications;
      Deferrals deferrals; ///< restored by a rollback: it releases the locks of checks made since
      bool readOnly;
   };
   std::vector<Savepoint> savepoints_;
   Deferrals deferrals_;
   friend class NewestSnapshot;
};

/// While it lives, queries of the transaction see the newest committed rows, in every isolation level.
class NewestSnapshot {
public:
   explicit NewestSnapshot(TransactionContext& transaction) : transaction_(transaction), saved_(transaction.snapshot_) {
      transaction.snapshot_ = transaction.storage_->snapshot();
   }
   ~NewestSnapshot() { transaction_.snapshot_ = saved_; }
   NewestSnapshot(const NewestSnapshot&) = delete;
   NewestSnapshot& operator=(const NewestSnapshot&) = delete;

private:
   TransactionContext& transaction_;
   const storage::Snapshot saved_;
};

} // namespace ouzel::engine
