#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/sync/mutex.hpp"
#include "common/thread/task_runner.hpp"
#include "storage/base/id_source.hpp"
#include "storage/table/key_index.hpp"
#include "storage/table/local_writes.hpp"
#include "storage/table/read_ahead.hpp"
#include "storage/table/row_shares.hpp"
#include "storage/table/segment.hpp"
#include "storage/table/table.hpp"
#include "storage/table/transaction.hpp"

namespace ouzel::storage {

/// Objects that all tables of a database share: the store, the cache, the memory of deltas, the source of ids. Owned by
/// the Database.
struct StorageContext {
   io::ObjectStore& store;
   FrameCache& cache;
   Reservation& deltaMemory; ///< of new rows that are in no block yet
   Reservation& lockMemory;  ///< of shared locks on rows
   TaskRunner& tasks;
   TransactionManager& transactions;
   KeyIndexPool& keyIndexes;
   ReadAheadBudget readAhead{cache};
   IdSource ids{};
   std::atomic<uint64_t> nextObject{1};
   std::atomic<size_t> retiredDeltaBytes{0}; ///< part of deltaMemory that only older snapshots read
   Garbage garbage{};
   std::string sessionTag{}; ///< makes object names of this process run unique

   /// A new object name: "table/<id>/block/<segment>-<tag>-<n>".
   std::string newBlockName(StorageId table, SegmentId segment);
};

/// The members of a table, open to files of storage (transaction, checkpoint, recovery).
struct TableCore {
   TableCore(StorageContext& ctx, StorageId tableId, std::vector<ColumnDefinition> definitions);
   ~TableCore();

   StorageContext& context;
   const StorageId id;
   RowShares shares; ///< of its rows

   mutable Mutex mutex; ///< guards the members below
   std::shared_ptr<const std::vector<ColumnDefinition>> columns GUARDED_BY(mutex);
   std::shared_ptr<const SegmentList> segments GUARDED_BY(mutex); ///< committed; replaced, never changed
   SegmentPtr openDelta GUARDED_BY(mutex); ///< the last segment, if small commits may still be added to it
   std::map<TransactionId, LocalWrites*> local GUARDED_BY(mutex); ///< writes of open transactions
   bool isDropped GUARDED_BY(mutex) = false; ///< the objects become garbage when the last user is gone
   /// What the start found damaged in the store; empty: nothing. A damaged table has no segments in memory, can be
   /// neither read nor written, and checkpoints keep naming its objects. Set before other threads use the table.
   std::string damage;
   std::string mended; ///< a damaged object whose content the start found elsewhere; empty: none
   /// Throws XX001 when the table is damaged.
   void requireSound() const;

   Mutex statisticsMutex; ///< guards the members below, and the sketches of deltas
   std::shared_ptr<const TableStatistics> statistics GUARDED_BY(statisticsMutex);
   std::weak_ptr<const SegmentList> statisticsSegments GUARDED_BY(statisticsMutex); ///< keeps no segment alive
   std::shared_ptr<const std::vector<ColumnDefinition>> statisticsColumns GUARDED_BY(statisticsMutex);
   uint64_t statisticsDeltaRows GUARDED_BY(statisticsMutex) = 0; ///< rows in deltas when sketches and sample were made
   uint64_t boundsDeltaRows GUARDED_BY(statisticsMutex) = 0;     ///< rows in deltas when bounds were made

   std::vector<PhysicalType> physicalTypes() const REQUIRES(mutex);
   std::vector<Value> missingValues() const REQUIRES(mutex);
   std::shared_ptr<const SegmentList> segmentList() const;
   void addSegment(SegmentPtr segment) REQUIRES(mutex);
   void addColumn(ColumnDefinition definition) REQUIRES(mutex);
   /// The open delta if it has room for `rows` more rows; else a new one, which is added to `segments`.
   SegmentPtr deltaWithRoom(uint32_t rows, JsonExtraction extraction) REQUIRES(mutex);
   SegmentPtr newDeltaSegment(SegmentId segmentId, JsonExtraction extraction = JsonExtraction::Shapes) REQUIRES(mutex);
   /// End the open delta: no more rows are added to it.
   void sealDelta() REQUIRES(mutex) { openDelta = nullptr; }
   /// Find a committed segment by id; null when there is none.
   SegmentPtr findSegment(SegmentId segmentId) const;
};

} // namespace ouzel::storage
