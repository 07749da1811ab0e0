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
#include "storage/table/segment.hpp"
#include "storage/table/table.hpp"
#include "storage/table/transaction.hpp"

namespace ouzel::storage {

/// What tables share: where blocks lie, what memory is charged to, where ids come from. Owned by the database.
struct StorageContext {
   io::ObjectStore& store;
   FrameCache& cache;
   Reservation& deltaMemory;
   TaskRunner& tasks;
   TransactionManager& transactions;
   KeyIndexPool& keyIndexes;
   ReadAheadBudget readAhead{cache};
   IdSource ids{};
   std::atomic<uint64_t> nextObject{1};
   std::atomic<size_t> retiredDeltaBytes{0}; ///< of the delta memory, what only older snapshots read
   Garbage garbage{};
   std::string sessionTag{}; ///< makes object names of this run of the process unique

   /// "table/<id>/block/<segment>-<tag>-<n>"
   std::string newBlockName(StorageId table, SegmentId segment);
};

/// The members of a table, open to storage's own files (transaction, checkpoint, recovery).
struct TableCore {
   TableCore(StorageContext& ctx, StorageId tableId, std::vector<ColumnDefinition> definitions);
   ~TableCore();

   StorageContext& context;
   const StorageId id;

   mutable Mutex mutex; ///< guards what follows
   std::shared_ptr<const std::vector<ColumnDefinition>> columns GUARDED_BY(mutex);
   std::shared_ptr<const SegmentList> segments GUARDED_BY(mutex); ///< committed ones; replaced, never changed
   SegmentPtr openDelta GUARDED_BY(mutex); ///< the last segment, if small commits may still be added to it
   std::map<TransactionId, LocalWrites*> local GUARDED_BY(mutex); ///< of open transactions
   bool isDropped GUARDED_BY(mutex) = false;                      ///< objects become garbage when the last user goes

   Mutex statisticsMutex; ///< guards what follows, and the sketches of deltas
   std::shared_ptr<const TableStatistics> statistics GUARDED_BY(statisticsMutex);
   std::shared_ptr<const SegmentList> statisticsSegments GUARDED_BY(statisticsMutex);
   uint64_t statisticsDeltaRows GUARDED_BY(statisticsMutex) = 0; ///< when sketches and sample were made
   uint64_t boundsDeltaRows GUARDED_BY(statisticsMutex) = 0;     ///< when bounds were

   std::vector<PhysicalType> physicalTypes() const REQUIRES(mutex);
   std::vector<Value> missingValues() const REQUIRES(mutex);
   std::shared_ptr<const SegmentList> segmentList() const;
   void addSegment(SegmentPtr segment) REQUIRES(mutex);
   void addColumn(ColumnDefinition definition) REQUIRES(mutex);
   /// A delta segment with room for `rows` more; made and listed when there is none.
   SegmentPtr deltaWithRoom(uint32_t rows) REQUIRES(mutex);
   SegmentPtr newDeltaSegment(SegmentId segmentId) REQUIRES(mutex);
   /// No more rows go to the open delta.
   void sealDelta() REQUIRES(mutex) { openDelta = nullptr; }
   /// Find a segment by id; null when it is not among the committed ones.
   SegmentPtr findSegment(SegmentId segmentId) const;
};

} // namespace ouzel::storage
