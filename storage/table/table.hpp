#pragma once
#include <memory>
#include <span>
#include <vector>

#include "storage/base/ids.hpp"
#include "storage/block/statistics.hpp"
#include "storage/table/appender.hpp"
#include "storage/table/scan.hpp"
#include "storage/version/snapshot.hpp"

namespace ouzel::storage {

class Database;
class LocalWrites;
class Transaction;
struct TableCore;

/// The rows of one relation: immutable blocks, an in-memory delta of committed small inserts, and versioned delete
/// marks on both. Knows column types, never names. Shared among the database, transactions and scans; thread-safe.
class Table : public std::enable_shared_from_this<Table> {
public:
   explicit Table(std::unique_ptr<TableCore> core);
   ~Table();

   StorageId id() const;
   /// The columns of now. A scan or appender keeps the list it started with.
   std::shared_ptr<const std::vector<ColumnDefinition>> columns() const;

   /// Its blocks come over a network.
   bool isRemote() const;
   /// Start a scan of what `snapshot` sees, own uncommitted rows included.
   std::unique_ptr<ScanSource> scan(const Snapshot& snapshot, ScanSpec spec);
   std::unique_ptr<Appender> appender(Transaction& transaction, AppendMode mode);

   /// Mark rows as deleted by the transaction. Rows it has already deleted are passed over. Returns how many were newly
   /// deleted and, when given, sets deletedNow[i] to 1 for those (an update inserts the new version only of these).
   /// Throws WriteConflict when another transaction deleted or locked a row and is open, or deleted it and committed
   /// after `snapshot`.
   /// May be called by many workers at once.
   uint64_t deleteRows(Transaction& transaction, const Snapshot& snapshot, std::span<const RowId> rows,
                       std::span<uint8_t> deletedNow = {});

   /// Keys that new rows must not share with others.
   struct NewKeys {
      std::vector<uint32_t> columns; ///< storage columns
      std::vector<RowId> rows;
      std::vector<uint64_t> hashes; ///< one per row
      std::vector<ZoneRange> zones; ///< what all of them lie in, by column; empty: anything
   };
   /// Keys of the rows that the transaction has inserted in commands from `sinceCommand` on and not deleted again; rows
   /// with a NULL in the key only when `nullsEqual`. Nothing when there are more than `rowsMax`.
   std::optional<NewKeys> newKeys(Transaction& transaction, uint32_t sinceCommand, std::vector<uint32_t> columns,
                                  bool nullsEqual, size_t rowsMax);
   struct KeyConflict {
      std::vector<Value> key;
      TransactionId holder = 0; ///< ≠ 0: whether the other row stays is up to this open transaction (31 bits of its id)
   };
   /// A new row whose key another row has, committed or of the transaction itself. REQUIRES: nobody else can commit
   /// rows with these keys meanwhile.
   std::optional<KeyConflict> findKeyConflict(Transaction& transaction, const NewKeys& keys);
   /// The i-th of them.
   std::vector<Value> newKey(Transaction& transaction, const NewKeys& keys, size_t i);
   struct KeyPresence {
      bool isPresent = false;
      TransactionId deleter = 0; ///< ≠ 0: not present if this open transaction commits, present if not
   };
   /// Whether a row has this key (no NULL in it; integers of any width) now, whatever the transaction's snapshot.
   KeyPresence findKey(Transaction& transaction, const std::vector<uint32_t>& keyColumns, uint64_t hash,
                       const std::vector<Value>& key);
   /// Keys of the rows that the transaction has deleted in commands from `sinceCommand` on, in that order. Nothing when
   /// there are more than `rowsMax`.
   std::optional<std::vector<std::vector<Value>>> deletedKeys(Transaction& transaction, uint32_t sinceCommand,
                                                              const std::vector<uint32_t>& keyColumns, size_t rowsMax);

   /// Lock rows: until it ends, no other transaction may delete or lock them. Sets isLocked[i] to 1 for those that are
   /// locked now; the others are deleted or, with `skip`, in somebody else's hands. Throws WriteConflict as
   /// deleteRows(). Rows the transaction has inserted itself need no lock. May be called by many workers at once.
   void lockRows(Transaction& transaction, const Snapshot& snapshot, std::span<const RowId> rows, bool skip,
                 std::span<uint8_t> isLocked);

   /// Cached until the table changes enough to matter; cheap to call per statement.
   std::shared_ptr<const TableStatistics> statistics(const Snapshot& snapshot);
   /// Rows the snapshot sees, without reading any; looks at every delete mark.
   uint64_t rowCount(const Snapshot& snapshot);
   /// About as many, at once: what others have deleted since the snapshot is not counted.
   uint64_t estimatedRows(const Snapshot& snapshot);
   /// Bytes of the blocks and of the delta, for pg_relation_size.
   uint64_t storedBytes() const;

   TableCore& core() { return *core_; } ///< for storage's own files

private:
   std::unique_ptr<TableCore> core_;
};

} // namespace ouzel::storage
