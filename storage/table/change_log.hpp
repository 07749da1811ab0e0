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

/// Validation of serializable transactions by precision locking (Jordan, Banerjee, Batman 1981; Neumann, Muehlbauer,
/// Kemper 2015): has a commit of another transaction changed rows that this one has read? A transaction that writes may
/// commit when it has not; its reads and writes are then as if made at its commit. A transaction that only reads is as
/// if run at its snapshot.

/// The scans of one transaction, as ranges of values. Thread-safe.
class ReadSet {
public:
   /// Add a scan. The rows that its ranges do not exclude count as read. Keys and runtime filters are ignored, so that
   /// more rows count as read than were.
   void add(StorageId table, const ScanSpec& spec);

private:
   friend class ChangeLog;
   struct Range {
      uint32_t column;
      ZoneKey lower, upper;
   };
   /// One scan: the rows with a value in each of the ranges; without ranges, all rows.
   using Scan = std::vector<Range>;
   static constexpr size_t scansMax = 256; ///< of one table; more count as a scan of all its rows
   mutable Mutex mutex_;
   std::map<StorageId, std::vector<Scan>> scans_ GUARDED_BY(mutex_);
};

/// Rows that a commit added or deleted.
struct ChangedRows {
   std::shared_ptr<const Segment> segment;
   uint32_t first = 0, end = 0;
   std::vector<uint32_t> rows; ///< if not empty: the rows, instead of [first, end)
};

/// The changes of recent commits, kept while serializable transactions are open. Thread-safe.
class ChangeLog {
public:
   /// Record commits from now on. REQUIRES: no commit is between isRecording() and record().
   void open(TransactionId transaction);
   /// Note the snapshot of a transaction that was opened.
   void setSnapshot(TransactionId transaction, Timestamp snapshot);
   void close(TransactionId transaction);
   bool isRecording() const { return isRecording_.load(); }

   struct TableChange {
      StorageId table;
      std::shared_ptr<const std::vector<ColumnDefinition>> columns;
      std::vector<ChangedRows> rows;
   };
   void record(Timestamp timestamp, std::vector<TableChange> changes);
   /// True when a commit after `snapshot` changed a row of `reads`.
   bool overlaps(const ReadSet& reads, Timestamp snapshot) const;

private:
   struct Commit {
      Timestamp timestamp;
      std::vector<TableChange> changes;
   };
   static bool matches(const ReadSet::Scan& scan, const TableChange& change);

   std::atomic<bool> isRecording_{false};
   mutable Mutex mutex_; ///< guards the members below
   std::map<TransactionId, Timestamp> open_ GUARDED_BY(mutex_);
   std::deque<Commit> commits_ GUARDED_BY(mutex_);
};

} // namespace ouzel::storage
