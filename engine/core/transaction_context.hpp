#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catalog/catalog.hpp"
#include "engine/core/internals.hpp"
#include "engine/core/session.hpp"
#include "engine/setting/settings.hpp"
#include "storage/table/transaction.hpp"

namespace ouzel::engine {

enum class Isolation : uint8_t { ReadCommitted, RepeatableRead, Serializable };

/// The transaction a session is in, if any: rows (storage), objects (catalog), settings and locks end together.
///
///   Idle --ensureStarted--> Implicit --beginBlock--> Block --fail--> Failed --rollback--> Idle
///   Implicit and Block --commit/rollback--> Idle
/// An implicit transaction is one statement, one simple-query script, or one pipeline up to Sync.
class TransactionContext {
public:
   /// `interrupted` is called while waiting for locks and throws to give up.
   TransactionContext(Database::Internals& database, Settings& settings, int32_t processId,
                      std::function<void()> interrupted)
      : database_(database), settings_(settings), interrupted_(std::move(interrupted)), lockOwner_(processId) {}
   ~TransactionContext();

   TransactionStatus status() const;
   bool isOpen() const { return storage_ != nullptr; }
   bool inBlock() const { return inBlock_; }
   bool hasFailed() const { return failed_; }
   bool isReadOnly() const { return readOnly_; }
   /// Throws 0A000 when the server does not write.
   void setReadOnly(bool readOnly);
   void setIsolation(Isolation isolation);
   Isolation isolation() const { return isolation_; }

   void ensureStarted();
   void beginBlock();
   /// Durable and visible when it returns; idle afterwards, also when it throws (then rolled back, unless it waited for
   /// the store and gives up because the session is to end).
   void commit();
   void rollback() noexcept;
   /// After an error: a block waits for ROLLBACK, anything else is rolled back at once. What a block has done since its
   /// last savepoint is taken back and unlocked at once too, so that nobody waits for a client that has to notice
   /// first.
   void fail() noexcept;

   /// Take the snapshot the next statement sees. REQUIRES: isOpen().
   void startStatement();
   const storage::Snapshot& snapshot() const { return snapshot_; }
   storage::Transaction& storage() { return *storage_; }
   catalog::CatalogEditor& editor() { return *editor_; }
   const catalog::Snapshot& catalog() const { return editor_->snapshot(); }
   int64_t startTime() const { return startTime_; }
   /// A sequence was advanced: even a commit that has nothing else to write waits for the log. Any thread.
   void usesCounters() { usesCounters_.store(true, std::memory_order_relaxed); }

   // Locks, held until the transaction ends or what took them is rolled back.
   void lock(Oid relation, LockMode mode) { tryLock(relation, mode, false); }
   /// False: `noWait`, and others are in the way.
   bool tryLock(Oid relation, LockMode mode, bool noWait);
   LockManager& locks() { return database_.locks; }
   LockOwner& lockOwner() { return lockOwner_; }
   /// How to wait for a lock now, as the settings say.
   LockWait lockWait() const;

   // Constraints whose check may wait until the transaction ends.
   struct DeferredCheck {
      Oid relation, constraint;
      uint32_t sinceCommand; ///< what this and later commands wrote is to be checked
   };
   bool defers(const catalog::Constraint& constraint) const;
   void defer(const DeferredCheck& check);
   /// SET CONSTRAINTS; invalidOid: all of them.
   void setDeferred(Oid constraint, bool isDeferred);
   std::vector<DeferredCheck>& deferredChecks() { return deferrals_.checks; }
   /// Runs the deferred checks; called by commit() when there are any.
   std::function<void()> checkDeferred;
   /// Tells the client that commit() does not wait for the store to the end.
   std::function<void(std::string message, std::string detail)> warnUnstored;

   void savepoint(const std::string& name);
   void releaseSavepoint(const std::string& name); ///< 3B001 when there is none
   void rollbackToSavepoint(const std::string& name);

private:
   void end(bool committed) noexcept;
   /// Whether the settings let a commit wait for the store.
   bool waitsForStore() const;
   /// Wait until everything that is in the log up to `lsn` is in the store. A cancelled statement waits no longer.
   void waitForStore(uint64_t lsn);
   /// Take back rows and locks, not the catalog's objects.
   void undoTo(const storage::Transaction::Savepoint& savepoint, size_t lockPosition) noexcept;
   void lockOwnTransaction();

   Database::Internals& database_;
   Settings& settings_;
   const std::function<void()> interrupted_;
   LockOwner lockOwner_;
   size_t ownLockPosition_ = 0; ///< of the lock on the transaction itself
   std::unique_ptr<storage::Transaction> storage_;
   std::unique_ptr<catalog::CatalogEditor> editor_;
   std::vector<catalog::Change> temporary_; ///< the session's temporary objects, kept between transactions
   storage::Snapshot snapshot_;
   bool inBlock_ = false, failed_ = false, readOnly_ = false, hasSnapshot_ = false;
   Isolation isolation_ = Isolation::ReadCommitted;
   std::atomic<bool> usesCounters_{false};
   int64_t startTime_ = 0;
   struct Deferrals {
      std::vector<DeferredCheck> checks;
      std::optional<bool> all;          ///< as SET CONSTRAINTS ALL said
      std::map<Oid, bool> ofConstraint; ///< and what it said of single ones since
   };
   struct Savepoint {
      std::string name;
      storage::Transaction::Savepoint storage;
      std::shared_ptr<const catalog::CatalogEditor::Savepoint> catalog;
      size_t lockPosition;
      Deferrals deferrals; ///< a check made since has to be made again: its locks are gone
   };
   std::vector<Savepoint> savepoints_;
   Deferrals deferrals_;
   friend class NewestSnapshot;
};

/// While it lives, queries of the transaction see what is committed now, whatever its isolation level.
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
