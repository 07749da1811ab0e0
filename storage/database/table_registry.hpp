#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "common/sync/mutex.hpp"
#include "storage/table/table_core.hpp"
#include "storage/table/transaction.hpp"

namespace ouzel::storage {

/// The tables of a database by storage id.
///
///    create() ──> uncommitted ──publish()──> committed ──publish(drop)──> gone
///                      └── abort: gone           └── withdrawExcept() (a follower): found, but not captured
///                                                    └── erase(): gone
///
/// Threads: any; tablesMutex_ guards the map and is taken before a table's own mutex. The result of capture() agrees
/// with the log only while no commit is under way (Committer::Pause).
/// Invariants: find() returns an uncommitted table, since its transaction uses it, but no checkpoint contains that
/// table. Checkpoints contain only the committed columns of a committed table.
class TableRegistry {
public:
   explicit TableRegistry(StorageContext& context) : context_(context) {}
   TableRegistry(const TableRegistry&) = delete;
   TableRegistry& operator=(const TableRegistry&) = delete;

   /// See Database.
   std::shared_ptr<Table> create(Transaction& transaction, std::vector<ColumnDefinition> columns, uint32_t place);
   void drop(Transaction& transaction, StorageId id);
   void addColumn(Transaction& transaction, StorageId id, ColumnDefinition column);
   /// Null when no such table exists.
   std::shared_ptr<Table> find(StorageId id) const;
   std::vector<std::shared_ptr<Table>> all() const;

   /// Apply a committed change of a transaction. Called in commit order.
   void publish(const Transaction::StorageChange& change);

   /// A committed table at the time of a checkpoint.
   struct Captured {
      std::shared_ptr<Table> table;
      std::shared_ptr<const std::vector<ColumnDefinition>> columns; ///< committed ones
      SegmentList segments;                                         ///< without the retired ones
   };
   /// The committed tables, their deltas sealed: these get no more rows. REQUIRES: a Committer::Pause.
   std::vector<Captured> capture();
   /// The committed tables, at any time and without sealing.
   std::vector<Captured> committed() const;

   // For a start and a follower, whose tables come from the store or the log and are committed:

   /// Add the table, or update the entry of its id. All its columns count as committed.
   void putCommitted(const std::shared_ptr<Table>& table);
   /// Null when there is no such table, or it is not committed.
   std::shared_ptr<Table> findCommitted(StorageId id) const;
   /// Mark the tables not in `alive` as not committed: only older snapshots use them. Returns those that were
   /// committed.
   std::vector<StorageId> withdrawExcept(const std::set<StorageId>& alive);
   /// Remove the table. Returns it, so that it is not destroyed under the lock.
   std::shared_ptr<Table> erase(StorageId id);

private:
   struct Entry {
      std::shared_ptr<Table> table;
      bool isCommitted = false;
      uint32_t committedColumns = 0;
   };
   /// `core` is the entry's.
   static Captured captureOne(const Entry& entry, TableCore& core) REQUIRES(core.mutex);

   StorageContext& context_;
   mutable Mutex tablesMutex_; ///< guards the members below
   std::map<StorageId, Entry> tables_ GUARDED_BY(tablesMutex_);
};

} // namespace ouzel::storage
