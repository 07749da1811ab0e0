#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "storage/base/ids.hpp"
#include "storage/table/change_log.hpp"
#include "storage/version/snapshot.hpp"

namespace ouzel::storage {

class Committer;
class LocalWrites;
class Table;
class TransactionManager;

/// One running transaction: its ids and what it has written. Rows it inserts stay private (LocalWrites, one per table)
/// until commit; rows it deletes carry its mark. Owned by the session; begin, commit and abort go through
/// storage::Database. Appenders and deletes of one statement may run on many threads; everything else is called by
/// the session's thread. Destroying a transaction that did not commit aborts it.
class Transaction {
public:
   ~Transaction();
   Transaction(const Transaction&) = delete;
   Transaction& operator=(const Transaction&) = delete;

   TransactionId id() const { return id_; }
   uint32_t commandId() const { return commandId_; }
   /// End a statement that may have written: later snapshots see what it did.
   void nextCommand() { ++commandId_; }
   /// A snapshot of now (READ COMMITTED takes one per statement; REPEATABLE READ keeps the first).
   Snapshot snapshot();
   /// The same commit timestamp as `earlier`, with own writes up to now: the next statement under REPEATABLE READ.
   Snapshot refreshed(const Snapshot& earlier) const;
   /// True when commit has nothing to write (catalog changes aside).
   bool isReadOnly() const;
   bool isOpen() const { return open_; }
   /// Where the log ends behind its commit; 0: it had nothing to write.
   uint64_t commitLsn() const { return commitLsn_; }
   /// Serializable transactions remember what they read. Any thread.
   void noteRead(StorageId table, const ScanSpec& spec) {
      if (reads_) reads_->add(table, spec);
   }

   /// A place to roll back to (SAVEPOINT, and the implicit one of a statement). Starts a new command.
   struct Savepoint {
      uint64_t position = 0;
      uint32_t commandId = 0;
   };
   Savepoint savepoint();
   /// The same before anything of the current command was done, without starting another.
   Savepoint mark() const;
   /// Undo everything written since. The savepoint stays valid. With `keepLocks`, rows deleted since stay locked: a
   /// statement that is going to be run again loses none of them to others.
   void rollbackTo(const Savepoint& savepoint, bool keepLocks = false);

   // For storage's own files.

   /// Private rows of `table`, made on first use. Thread-safe.
   LocalWrites& writesOf(Table& table);
   /// A change of a table as a whole, in effect for the transaction at once.
   struct StorageChange {
      enum class Kind : uint8_t { Create, Drop, AddColumn };
      Kind kind;
      std::shared_ptr<Table> table;
      ColumnDefinition column;      ///< AddColumn
      std::function<void()> undone; ///< what the database takes back besides
   };
   void addStorageChange(StorageChange change);
   /// End it and undo all it did; nothing when it has ended.
   void abort();

private:
   friend class TransactionManager; // begins and ends it
   friend class Committer;          // takes what was written and read apart, when no statement runs any more

   Transaction(TransactionManager& manager, TransactionId id);
   void finishCommitted();
   void undoStorageChange(const StorageChange& change);
   void forgetWrites();

   TransactionManager& manager_;
   const TransactionId id_;
   std::unique_ptr<ReadSet> reads_; ///< of a serializable transaction
   Timestamp serializableSnapshot_ = 0;
   uint32_t commandId_ = 1;
   bool open_ = true;
   uint64_t commitLsn_ = 0;
   Timestamp horizon_ = 0;     ///< oldest snapshot this transaction may still read with
   mutable Mutex writesMutex_; ///< guards what follows, but not from Committer: then nobody else is there
   std::map<StorageId, std::unique_ptr<LocalWrites>> writes_;
   std::vector<StorageChange> storageChanges_;
};

/// Hands out transaction ids and snapshots; knows which timestamp is the newest one visible. Thread-safe.
class TransactionManager {
public:
   std::unique_ptr<Transaction> begin();

   Timestamp lastCommitted() const { return lastCommitted_.load(std::memory_order_acquire); }
   /// The oldest timestamp any open transaction may still read with.
   Timestamp horizon() const;
   size_t openTransactions() const;
   ChangeLog changes; ///< for serializable transactions

   /// Make `timestamp` visible; called in commit order after everything of that commit is in place.
   void publish(Timestamp timestamp) { lastCommitted_.store(timestamp, std::memory_order_release); }

private:
   friend class Transaction; // ends itself
   void end(Transaction& transaction);

   std::atomic<Timestamp> lastCommitted_{1};
   mutable Mutex openMutex_; ///< guards what follows
   TransactionId nextId_ GUARDED_BY(openMutex_) = 1;
   std::map<TransactionId, Transaction*> open_ GUARDED_BY(openMutex_);
};

} // namespace ouzel::storage
