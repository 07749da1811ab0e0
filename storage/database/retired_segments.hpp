#pragma once
#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/sync/mutex.hpp"
#include "storage/database/table_registry.hpp"

namespace ouzel::storage {

/// Keeps track of retired segments: those that new segments have replaced (by compaction, or in a follower by a newer
/// manifest). They stay in their table's list, marked with Segment::retiredAt, as long as a snapshot may read them: one
/// from before they were retired, and from after their first row. So a long transaction keeps the segments of its
/// snapshot, not all that were made and retired since. Their blocks are kept here until a manifest does not name them.
///
/// Threads: any. oldest_ and newest_ are lock-free, as each commit reads them; blocksMutex_ guards the blocks.
/// Invariant: no listed segment was retired before oldest_; 0: no retired segment is listed. While release() runs,
/// oldest_ may be 0 or too high for a moment, which only delays the next release.
class RetiredSegments {
public:
   RetiredSegments(TableRegistry& tables, TransactionManager& transactions)
      : tables_(tables), transactions_(transactions) {}

   /// Note that segments retired at `timestamp` are listed. Called before `timestamp` is published.
   void note(Timestamp timestamp);
   /// Remove retired segments that no snapshot can read any more from the tables' lists.
   void release();
   /// Call release() if segments may have lost their last snapshot, as a transaction has ended. Cheap.
   void releaseIfDue();
   /// The same, when a transaction with snapshots from `oldest` on has ended.
   void releaseAfter(Timestamp oldest);

   /// Add the block of a retired segment.
   void addBlock(std::shared_ptr<Block> block);
   /// Take the blocks added since the last call: the next manifest does not name them.
   std::vector<std::shared_ptr<Block>> takeBlocks();
   /// Put the taken blocks back: the manifest was not published.
   void putBackBlocks(const std::vector<std::shared_ptr<Block>>& blocks);
   /// Add the object names of the blocks kept here.
   void addBlockNames(std::set<std::string>& names) const;

private:
   /// Remove the retired segments of one table. Sets `previous` to the list before, if it has changed.
   void releaseOf(TableCore& core, const LiveSnapshots& live, std::shared_ptr<const SegmentList>& previous);

   TableRegistry& tables_;
   TransactionManager& transactions_;
   std::atomic<Timestamp> oldest_{0};
   std::atomic<Timestamp> newest_{0}; ///< no segment was retired after it
   mutable Mutex blocksMutex_;        ///< guards the members below
   std::vector<std::shared_ptr<Block>> blocks_ GUARDED_BY(blocksMutex_);
};

} // namespace ouzel::storage
