#pragma once
#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/sync/mutex.hpp"
#include "storage/database/table_registry.hpp"

namespace ouzel::storage {

/// Segments that others have replaced (compaction; a newer manifest, in a follower). They stay in their table's list,
/// marked with Segment::retiredAt, until no snapshot is so old that it reads them. Their blocks wait here for the
/// manifest that does not name them.
///
/// Threads: any. oldest_ is lock-free, as each commit looks at it; blocksMutex_ guards the blocks.
/// Invariant: no listed segment was retired before oldest_; 0: none is listed. For a moment after release() has begun
/// oldest_ may lie behind that, which only puts off the next look.
class RetiredSegments {
public:
   RetiredSegments(TableRegistry& tables, TransactionManager& transactions)
      : tables_(tables), transactions_(transactions) {}

   /// Segments of some table are retired and listed. Called before `timestamp` is published.
   void note(Timestamp timestamp);
   /// Forget the segments that no snapshot can read any more.
   void release();
   /// The same, if there may be any. Cheap.
   void releaseIfDue();

   /// The block of a retired segment.
   void addBlock(std::shared_ptr<Block> block);
   /// What addBlock() has brought since the last time: the next manifest names none of them.
   std::vector<std::shared_ptr<Block>> takeBlocks();
   /// There was no such manifest.
   void putBackBlocks(const std::vector<std::shared_ptr<Block>>& blocks);
   /// Add the names of the blocks that wait.
   void addBlockNames(std::set<std::string>& names) const;

private:
   TableRegistry& tables_;
   TransactionManager& transactions_;
   std::atomic<Timestamp> oldest_{0};
   mutable Mutex blocksMutex_; ///< guards what follows
   std::vector<std::shared_ptr<Block>> blocks_;
};

} // namespace ouzel::storage
