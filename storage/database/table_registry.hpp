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
///                      └── abort: gone           └── withdraw() (a follower): found, but not captured; erase(): gone
///
/// Threads: any; tablesMutex_ guards the map and is taken before a table's own mutex. What is captured is consistent
/// with the log only while no commit is under way (Committer::Pause).
/// Invariants: an uncommitted table is found by its id, as its transaction uses it, but no checkpoint contains it. Of a
/// committed table, checkpoints contain the columns that are committed.
class TableRegistry {
public:
   explicit TableRegistry(StorageContext& context) : context_(context) {}
   TableRegistry(const TableRegistry&) = delete;
   TableRegistry& operator=(const TableRegistry&) = delete;

   /// See Database.
   std::shared_ptr<Table> create(Transaction& transaction, std::vector<ColumnDefinition> columns);
   void drop(Transaction& transaction, StorageId id);
   void addColumn(Transaction& transaction, StorageId id, ColumnDefinition column);
   /// Null when there is none.
   std::shared_ptr<Table> find(StorageId id) const;
   std::vector<std::shared_ptr<Table>> all() const;

   /// A transaction's change is committed. Called in commit order.
   void publish(const Transaction::StorageChange& change);

   /// A committed table as a checkpoint finds it.
   struct Captured {
      std::shared_ptr<Table> table;
      std::shared_ptr<const std::vector<ColumnDefinition>> columns; ///< committed ones
      SegmentList segments;                                         ///< without the retired ones
   };
   /// The committed tables, their deltas sealed: no rows come to the segments any more. REQUIRES: a Committer::Pause.
   std::vector<Captured> capture();
   /// The same at any time and without sealing.
   std::vector<Captured> committed() const;

   // What a start and a follower know from the store or the log is committed.

   /// Add the table, or put it in the place of one that was withdrawn; take note of its columns.
   void putCommitted(const std::shared_ptr<Table>& table);
   /// Null when there is none, or no committed one.
   std::shared_ptr<Table> findCommitted(StorageId id) const;
   /// The tables not in `alive` belong to older snapshots only. Returns those that were committed till now.
   std::vector<StorageId> withdrawExcept(const std::set<StorageId>& alive);
   /// Returns the table, so that it is not destroyed under the lock.
   std::shared_ptr<Table> erase(StorageId id);

private:
   struct Entry {
      std::shared_ptr<Table> table;
      bool isCommitted = false;
      uint32_t committedColumns = 0;
   };
   static Captured captureOne(const Entry& entry); ///< the table's mutex is held

   StorageContext& context_;
   mutable Mutex tablesMutex_; ///< guards what follows
   std::map<StorageId, Entry> tables_;
};

} // namespace ouzel::storage
