#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "storage/base/document_columns.hpp"
#include "storage/base/ids.hpp"
#include "storage/table/change_log.hpp"
#include "storage/table/transaction_use.hpp"
#include "storage/version/snapshot.hpp"

namespace ouzel::storage {

class Committer;
class LocalWrites;
class SegmentVersions;
class Table;
class TransactionManager;

/// One running transaction: its ids and its writes. Rows it inserts stay private (LocalWrites, one per table) until
/// commit; rows it deletes carry its mark. Destroying a transaction that did not commit aborts it.
///
/// Ownership: owned by the session; begin, commit and abort go through storage::Database.
/// Threads: appenders and deletes of one statement may run on many threads; all other members are called by the
/// session's thread.
class Transaction {
public:
   ~Transaction();
   Transaction(const Transaction&) = delete;
   Transaction& operator=(const Transaction&) = delete;

   TransactionId id() const { return id_; }
   uint32_t commandId() const { return commandId_; }
   /// End a statement that may have written: later snapshots see its writes.
   void nextCommand();
   /// A new snapshot (READ COMMITTED takes one per statement; REPEATABLE READ keeps the first). It counts as in use
   /// until the transaction ends.
   Snapshot snapshot();
   /// A snapshot with the commit timestamp of `earlier` and all own writes up to now: for the next statement under
   /// REPEATABLE READ.
   Snapshot refreshed(const Snapshot& earlier) const;
   /// A snapshot that the open transaction `owner` has, taken at `timestamp`; empty: it has ended. It counts as in use
   /// until this transaction ends. REQUIRES: this one has no snapshot yet.
   std::optional<Snapshot> adopted(TransactionId owner, Timestamp timestamp);
   /// The oldest transaction that was open when the last snapshot was taken: the snapshot sees all before it that have
   /// committed.
   TransactionId oldestOpen() const { return oldestOpen_; }
   /// No snapshot of this transaction is older.
   Timestamp oldestSnapshot() const { return horizon_; }
   /// True when commit has nothing to write (catalog changes aside).
   bool isReadOnly() const;
   bool isOpen() const { return open_; }
   /// End of its commit in the log; 0: the transaction had nothing to write.
   uint64_t commitLsn() const { return commitLsn_; }
   /// Serializable transactions record their scans. Any thread.
   void noteRead(StorageId table, const ScanSpec& spec) {
      if (reads_) reads_->add(table, spec);
   }

   /// What its statements do with tables. Any thread.
   TransactionUse& use() { return use_; }

   /// A point to roll back to (SAVEPOINT, and the implicit one of a statement). Making one starts a new command.
   struct Savepoint {
      uint64_t position = 0;
      uint32_t commandId = 0;
   };
   Savepoint savepoint();
   /// The savepoint before the first write of the current command; starts no new command.
   Savepoint mark() const;
   /// Undo all writes since the savepoint, which stays valid. With `keepLocks`, rows deleted since stay locked: a
   /// statement that runs again loses none of them to another transaction.
   void rollbackTo(const Savepoint& savepoint, bool keepLocks = false);

   /// How the documents are stored that it writes from now on.
   void setExtraction(JsonExtraction extraction) { extraction_ = extraction; }
   JsonExtraction extraction() const { return extraction_; }

   // For files of storage only:

   /// The transaction's writes to `table`, made on first use. Thread-safe.
   LocalWrites& writesOf(Table& table);
   /// All of them. Throws 0A000 if the transaction has made, dropped or changed a table.
   std::vector<LocalWrites*> allWrites() const;
   /// A change of a whole table, in effect for the transaction at once.
   struct StorageChange {
      enum class Kind : uint8_t { Create, Drop, AddColumn };
      Kind kind;
      std::shared_ptr<Table> table;
      ColumnDefinition column;      ///< AddColumn
      std::function<void()> undone; ///< called when the change is undone; may be null
   };
   void addStorageChange(StorageChange change);
   /// Undo all writes and end the transaction; does nothing when it has ended.
   void abort();

private:
   friend class TransactionManager; // begins and ends transactions
   friend class Committer;          // reads and clears its members, when no statement runs any more

   Transaction(TransactionManager& manager, TransactionId id);
   void finishCommitted();
   void undoStorageChange(const StorageChange& change);
   void forgetWrites() REQUIRES(writesMutex_);
   // For Committer. They need no mutex, because a transaction commits when none of its statements runs any more.
   const auto& writesAtCommit() const NO_THREAD_SAFETY_ANALYSIS { return writes_; }
   const std::vector<StorageChange>& storageChangesAtCommit() const NO_THREAD_SAFETY_ANALYSIS {
      return storageChanges_;
   }

   TransactionManager& manager_;
   const TransactionId id_;
   std::unique_ptr<ReadSet> reads_; ///< of a serializable transaction
   TransactionUse use_;
   Timestamp serializableSnapshot_ = 0;
   uint32_t commandId_ = 1;
   bool open_ = true;
   JsonExtraction extraction_ = JsonExtraction::Shapes;
   uint64_t commitLsn_ = 0;
   TransactionId oldestOpen_ = 0;
   Timestamp horizon_ = 0;     ///< no snapshot of this transaction is older
   mutable Mutex writesMutex_; ///< guards the members below
   std::map<StorageId, std::unique_ptr<LocalWrites>> writes_ GUARDED_BY(writesMutex_);
   std::vector<StorageChange> storageChanges_ GUARDED_BY(writesMutex_);
};

/// The snapshots that may be in use at one moment: some single ones, and all from a timestamp on.
struct LiveSnapshots {
   std::vector<Timestamp> single;
   Timestamp from = UINT64_MAX;
   /// Whether one of them may see rows of a segment that is retired at `retiredAt` (UINT64_MAX: it is not).
   bool mayRead(const SegmentVersions& versions, Timestamp retiredAt) const;
};

/// Hands out transaction ids and snapshots; holds the newest visible timestamp. Thread-safe.
class TransactionManager {
public:
   std::unique_ptr<Transaction> begin();

   Timestamp lastCommitted() const { return lastCommitted_.load(std::memory_order_acquire); }
   /// The oldest timestamp that a snapshot of an open transaction may have.
   Timestamp horizon() const;
   /// All snapshots in use, and those that will still be taken.
   LiveSnapshots liveSnapshots() const;
   /// The snapshots of transactions that have had one for so long.
   LiveSnapshots snapshotsOlderThan(int64_t nanos) const;
   size_t openTransactions() const;
   ChangeLog changes; ///< for serializable transactions

   /// Make `timestamp` visible. Called in commit order, when all changes of the commit are in place.
   void publish(Timestamp timestamp) { lastCommitted_.store(timestamp, std::memory_order_release); }

private:
   friend class Transaction; // calls end() and takeSnapshot()
   void end(Transaction& transaction);
   Timestamp takeSnapshot(Transaction& transaction);
   bool adoptSnapshot(Transaction& transaction, TransactionId owner, Timestamp timestamp);

   /// An open transaction. Of many snapshots the first are kept, and the next one stands for all behind it.
   struct Open {
      Transaction* transaction;
      LiveSnapshots snapshots{};
      int64_t firstTakenAt = INT64_MAX; ///< steadyNanos()
   };
   static constexpr size_t singleMax = 16; ///< snapshots of one transaction

   std::atomic<Timestamp> lastCommitted_{1};
   mutable Mutex openMutex_; ///< guards the members below
   TransactionId nextId_ GUARDED_BY(openMutex_) = 1;
   std::map<TransactionId, Open> open_ GUARDED_BY(openMutex_);
};

} // namespace ouzel::storage
