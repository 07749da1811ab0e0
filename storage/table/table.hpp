#pragma once
#include <memory>
#include <span>
#include <vector>

#include "storage/base/ids.hpp"
#include "storage/base/table_use.hpp"
#include "storage/block/statistics.hpp"
#include "storage/table/appender.hpp"
#include "storage/table/scan.hpp"
#include "storage/version/lock_strength.hpp"
#include "storage/version/snapshot.hpp"

namespace ouzel::storage {

class Database;
class LocalWrites;
class Transaction;
struct TableCore;

/// The rows of one relation: immutable blocks, an in-memory delta of small committed inserts, and versioned delete
/// marks on both. Shared among the database, transactions and scans; thread-safe.
class Table : public std::enable_shared_from_this<Table> {
public:
   explicit Table(std::unique_ptr<TableCore> core);
   ~Table();

   StorageId id() const;
   TableUse& use() { return *use_; }
   const std::shared_ptr<TableUse>& sharedUse() const { return use_; }
   /// This is new storage of a relation, whose counters go on. REQUIRES: the transaction that has made it is the only
   /// one to use it yet.
   void takeUse(const Table& former) { use_ = former.use_; }
   /// The current columns. A scan or appender keeps the list it started with.
   std::shared_ptr<const std::vector<ColumnDefinition>> columns() const;

   /// The blocks lie in a store over a network.
   bool isRemote() const;
   /// Start a scan of the rows that `snapshot` sees, own uncommitted rows included.
   std::unique_ptr<ScanSource> scan(const Snapshot& snapshot, ScanSpec spec);
   std::unique_ptr<Appender> appender(Transaction& transaction, AppendMode mode);
   /// What the server may use, of which new rows in memory take a part.
   size_t memoryLimit() const;

   /// Mark rows as deleted by the transaction; rows that it has deleted before are skipped. Returns the number of newly
   /// deleted rows and, if `deletedNow` is given, sets its elements to 1 for these (an update inserts the new version
   /// only of these). `strengths`, one for each row: NoKeyUpdate where the new version has the old one's keys, else
   /// Update; none: all are Update. Throws WriteConflict when an open transaction has deleted or locked a row, or a
   /// transaction deleted a row and committed after `snapshot`. Many workers may call at once.
   uint64_t deleteRows(Transaction& transaction, const Snapshot& snapshot, std::span<const RowId> rows,
                       std::span<uint8_t> deletedNow = {}, std::span<const LockStrength> strengths = {});

   /// Keys of new rows that no other row may have.
   struct NewKeys {
      std::vector<uint32_t> columns; ///< storage columns
      std::vector<RowId> rows;
      std::vector<uint64_t> hashes;                ///< one per row
      std::vector<ZoneRange> zones;                ///< zones of all the keys, by column; empty: unknown
      std::shared_ptr<const ComputedKey> computed; ///< null: the key is the columns
   };
   /// Keys of the rows that the transaction has inserted in commands from `sinceCommand` on and not deleted again. Rows
   /// with a NULL in the key only when `nullsEqual`. Empty when there are more than `rowsMax` rows. `columns`: of a
   /// computed key its inputs.
   std::optional<NewKeys> newKeys(Transaction& transaction, uint32_t sinceCommand, std::vector<uint32_t> columns,
                                  bool nullsEqual, size_t rowsMax,
                                  std::shared_ptr<const ComputedKey> computed = nullptr);
   struct KeyConflict {
      std::vector<Value> key;
      TransactionId holder = 0; ///< ≠ 0: this open transaction deletes the other row if it commits (31 bits of its id)
      bool isLate = false;      ///< the other row was committed after the snapshot
   };
   /// Find a new row whose key another row has, committed or of the transaction itself, whether `snapshot` shows it or
   /// not. REQUIRES: no other transaction can commit rows with these keys meanwhile.
   std::optional<KeyConflict> findKeyConflict(Transaction& transaction, const Snapshot& snapshot, const NewKeys& keys);
   /// The i-th of the new keys.
   std::vector<Value> newKey(Transaction& transaction, const NewKeys& keys, size_t i);
   /// Whether a row has this key now, independent of the transaction's snapshot. If so, it is locked with the strength
   /// KeyShare: until the transaction ends, no other one deletes it or changes its keys. The key has no NULL; integers
   /// of any width. Throws WriteConflict when an open transaction is about to delete the row, or holds it FOR UPDATE.
   bool shareKey(Transaction& transaction, const std::vector<uint32_t>& keyColumns, uint64_t hash,
                 const std::vector<Value>& key);
   /// Keys of the rows that the transaction has deleted in commands from `sinceCommand` on, in that order. Empty when
   /// there are more than `rowsMax` rows.
   std::optional<std::vector<std::vector<Value>>> deletedKeys(Transaction& transaction, uint32_t sinceCommand,
                                                              const std::vector<uint32_t>& keyColumns, size_t rowsMax);

   /// How lockRows() locks.
   struct RowLocking {
      LockStrength strength = LockStrength::Update;
      bool skip = false; ///< leave out what others hold
      /// KeyShare: storage columns that tell the rows from each other and that no UPDATE of NoKeyUpdate changes; none:
      /// there is no such UPDATE.
      std::vector<uint32_t> key{};
   };
   /// Lock rows: until the transaction ends, no other transaction may take a lock that conflicts with this one. Sets
   /// isLocked[i] to 1 for the rows that are locked now. The other rows are deleted or, with `skip`, held by another
   /// transaction. Throws WriteConflict as deleteRows(). Rows that the transaction has inserted need no lock. Many
   /// workers may call at once.
   void lockRows(Transaction& transaction, const Snapshot& snapshot, std::span<const RowId> rows,
                 const RowLocking& locking, std::span<uint8_t> isLocked);

   /// Statistics for planning, cached until the table changes enough to matter; cheap to call for each statement.
   std::shared_ptr<const TableStatistics> statistics(const Snapshot& snapshot);
   /// What the documents of a column have at a path: those of every row of the snapshot, and perhaps of deleted rows.
   PathSummary pathSummary(const Snapshot& snapshot, uint32_t column, std::span<const std::string> keys);
   /// The same of the most frequent paths.
   DocumentSummary documentSummary(const Snapshot& snapshot, uint32_t column);
   /// Number of rows the snapshot sees. Reads no page, but every delete mark.
   uint64_t rowCount(const Snapshot& snapshot);
   /// An estimate of rowCount() in constant time per segment: excludes rows deleted by commits after the snapshot.
   uint64_t estimatedRows(const Snapshot& snapshot);
   /// Bytes of the blocks and of the delta, for pg_relation_size.
   uint64_t storedBytes() const;

   TableCore& core() { return *core_; } ///< for files of storage only

private:
   std::unique_ptr<TableCore> core_;
   std::shared_ptr<TableUse> use_ = std::make_shared<TableUse>();
};

} // namespace ouzel::storage
