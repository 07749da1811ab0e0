#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "storage/block/block.hpp"

namespace ouzel::storage {

/// Blocks that the newest manifest does not name any more. A server that only reads looks for a newer manifest from
/// time to time, and reads what the one before names until then: the objects of replaced blocks stay for that long.
/// Thread-safe.
class ReplacedBlocks {
public:
   /// Each block stays for `nanos`.
   explicit ReplacedBlocks(int64_t nanos) : nanos_(nanos) {}

   bool keeps() const { return nanos_ > 0; }
   /// Add a block; its object goes with it. REQUIRES: keeps().
   void add(std::shared_ptr<Block> block);
   /// Remove the blocks whose time is over. Cheap when there are none.
   void removeIfDue();
   void removeAll();

private:
   struct Entry {
      int64_t dueAt; ///< by steadyNanos()
      std::shared_ptr<Block> block;
   };

   const int64_t nanos_;
   std::atomic<int64_t> dueAt_{INT64_MAX}; ///< of the first entry
   Mutex mutex_;
   std::vector<Entry> entries_ GUARDED_BY(mutex_); ///< in order of dueAt
};

} // namespace ouzel::storage
