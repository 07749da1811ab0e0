#pragma once
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "storage/block/block.hpp"
#include "storage/table/delete_marks.hpp"
#include "storage/table/delta.hpp"
#include "storage/table/key_index.hpp"

namespace ouzel::storage {

/// Which rows of a segment exist for whom. Rows are committed in row order, so a snapshot sees a prefix. Outlives the
/// form the rows have: a checkpoint that turns a delta segment into a block hands this on. Thread-safe.
class SegmentVersions {
public:
   /// Rows up to `rowEnd` exist from `timestamp` on. Called in commit order.
   void addCommit(Timestamp timestamp, uint32_t rowEnd, Timestamp horizon);
   uint32_t visibleRows(Timestamp timestamp) const;
   uint32_t committedRows() const;

   DeleteMarks deletes;
   KeyIndexes keys;

private:
   struct Commit {
      Timestamp timestamp;
      uint32_t rowEnd;
   };
   mutable Mutex mutex_;
   std::vector<Commit> commits_ GUARDED_BY(mutex_); ///< ascending in both
};

/// A piece of a table: rows with consecutive ids, in one of two forms. Immutable as an object (a delta grows inside).
struct Segment {
   SegmentId id = 0;
   std::shared_ptr<SegmentVersions> versions;
   std::shared_ptr<Delta> delta; ///< rows in memory, or
   std::shared_ptr<Block> block; ///< rows in the store
   /// != 0: compaction has moved the rows to other segments, which snapshots from this time on read in its place.
   Timestamp retiredAt = 0;

   uint32_t columnCount() const {
      return static_cast<uint32_t>(delta ? delta->types().size() : block->header().columnTypes.size());
   }
   /// Rows there are, visible or not.
   uint32_t rowCount() const { return delta ? delta->rowCount() : block->header().rowCount; }
};

using SegmentPtr = std::shared_ptr<const Segment>;
using SegmentList = std::vector<SegmentPtr>;

} // namespace ouzel::storage
