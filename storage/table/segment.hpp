#pragma once
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "storage/block/block.hpp"
#include "storage/table/delete_marks.hpp"
#include "storage/table/delta.hpp"
#include "storage/table/key_index.hpp"

namespace ouzel::storage {

class MovedRows;

/// The versions of a segment's rows: which exist for which snapshot, and which are deleted. Rows are committed in row
/// order, so a snapshot sees a prefix. The object outlives the form of the rows: a checkpoint that turns a delta
/// segment into a block passes it on to the new Segment. Thread-safe.
class SegmentVersions {
public:
   /// Rows before `rowEnd` exist from `timestamp` on. Commits up to `horizon`, which every snapshot sees, may be
   /// merged. Called in commit order.
   void addCommit(Timestamp timestamp, uint32_t rowEnd, Timestamp horizon);
   uint32_t visibleRows(Timestamp timestamp) const;
   uint32_t committedRows() const;

   DeleteMarks deletes;
   KeyIndexes keys;
   /// Set before the end of the move that `deletes` tells of; null before.
   std::shared_ptr<const MovedRows> moved;

private:
   struct Commit {
      Timestamp timestamp;
      uint32_t rowEnd;
   };
   mutable Mutex mutex_;
   std::vector<Commit> commits_ GUARDED_BY(mutex_); ///< ascending in both
};

/// A piece of a table: rows with consecutive ids, as a delta or a block. The Segment is immutable; its delta may grow.
struct Segment {
   SegmentId id = 0;
   std::shared_ptr<SegmentVersions> versions;
   std::shared_ptr<Delta> delta; ///< rows in memory, or
   std::shared_ptr<Block> block; ///< rows in the store
   /// Not 0: the segment is retired. Snapshots from this time on read the segments that replace it.
   Timestamp retiredAt = 0;

   uint32_t columnCount() const {
      return static_cast<uint32_t>(delta ? delta->types().size() : block->header().columnTypes.size());
   }
   /// All rows, visible or not.
   uint32_t rowCount() const { return delta ? delta->rowCount() : block->header().rowCount; }
};

using SegmentPtr = std::shared_ptr<const Segment>;
using SegmentList = std::vector<SegmentPtr>;

} // namespace ouzel::storage
