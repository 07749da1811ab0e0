#pragma once
#include <map>
#include <vector>

#include "storage/table/table.hpp"
#include "storage/table/table_core.hpp"

namespace ouzel::storage {

/// Sets delete marks or locks on rows of a table for one transaction and notes them in its LocalWrites.
///
/// A row that compaction has moved since the snapshot is marked where it is now, which decides between transactions. A
/// delete also sets a shadow, a mark on the row's old place: there the transaction's snapshot reads.
///
/// Threads: one thread. REQUIRES: finish() after the last mark; a WriteConflict finishes by itself.
class RowMarker {
public:
   enum class Kind : uint8_t { Delete, Lock };
   RowMarker(Table& table, Transaction& transaction, const Snapshot& snapshot, Kind kind);

   /// Marks the row. Never returns Moved. Throws WriteConflict instead of returning Conflict; with `skip`, returns it
   /// for a row that an open transaction holds.
   DeleteMarks::Outcome mark(RowId id, bool skip);
   void finish();

private:
   DeleteMarks::Outcome set(DeleteMarks& marks, uint32_t row);
   DeleteMarks::Outcome markMoved(uint32_t row, RowId& place);
   void flushMoved();

   Table& table_;
   TableCore& core_;
   Transaction& transaction_;
   const Snapshot& snapshot_;
   const Kind kind_;
   LocalWrites& writes_;
   DeleteWord seen_ = 0; ///< the mark found last
   SegmentPtr segment_;  ///< of the row marked last, as its id says
   SegmentId segmentId_ = 0;
   std::vector<uint32_t> marked_, shadows_;           ///< rows of segment_
   std::map<SegmentId, std::vector<uint32_t>> moved_; ///< marked rows by the segments they are in now
};

} // namespace ouzel::storage
