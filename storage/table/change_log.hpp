#pragma once
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "storage/base/ids.hpp"
#include "storage/table/scan.hpp"

namespace ouzel::storage {

struct Segment;

/// What serializable transactions have read, and whether what others committed meanwhile touches it: precision locking
/// (Jordan, Banerjee, Batman 1981; Neumann, Muehlbauer, Kemper 2015). A transaction that writes may commit when all it
/// read is still so; then it is as if all of it happened at its commit. One that only reads is as if at its snapshot.

/// The scans of one transaction. Thread-safe.
class ReadSet {
public:
   /// Rows that no range in the spec excludes were read. Keys and runtime filters are left out: more is read, then.
   void add(StorageId table, const ScanSpec& spec);

private:
   friend class ChangeLog;
   struct Range {
      uint32_t column;
      ZoneKey lower, upper;
   };
   /// Rows with a value in each of the ranges; none: all rows.
   using Scan = std::vector<Range>;
   static constexpr size_t scansMax = 256; ///< of one table; more are taken for all of it
   mutable Mutex mutex_;
   std::map<StorageId, std::vector<Scan>> scans_ GUARDED_BY(mutex_);
};

/// Rows that a commit added or deleted.
struct ChangedRows {
   std::shared_ptr<const Segment> segment;
   uint32_t first = 0, end = 0;
   std::vector<uint32_t> rows; ///< instead of first and end
};

/// The changes of recent commits, kept while serializable transactions are open. Thread-safe.
class ChangeLog {
public:
   /// Commits are recorded from now on. REQUIRES: no commit is between isRecording() and record().
   void open(TransactionId transaction);
   /// The transaction reads as of `snapshot`.
   void setSnapshot(TransactionId transaction, Timestamp snapshot);
   void close(TransactionId transaction);
   bool isRecording() const { return isRecording_.load(); }

   struct TableChange {
      StorageId table;
      std::shared_ptr<const std::vector<ColumnDefinition>> columns;
      std::vector<ChangedRows> rows;
   };
   void record(Timestamp timestamp, std::vector<TableChange> changes);
   /// True when a commit after `snapshot` changed a row that was read.
   bool overlaps(const ReadSet& reads, Timestamp snapshot) const;

private:
   struct Commit {
      Timestamp timestamp;
      std::vector<TableChange> changes;
   };
   static bool matches(const ReadSet::Scan& scan, const TableChange& change);

   std::atomic<bool> isRecording_{false};
   mutable Mutex mutex_; ///< guards what follows
   std::map<TransactionId, Timestamp> open_ GUARDED_BY(mutex_);
   std::deque<Commit> commits_ GUARDED_BY(mutex_);
};

} // namespace ouzel::storage
