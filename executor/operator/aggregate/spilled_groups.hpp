#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "executor/operator/aggregate/aggregate_feed.hpp"

namespace ouzel::executor {

/// The groups of one partition in memory, complete.
struct LoadedGroups {
   const GroupingSet* set = nullptr;
   std::vector<std::unique_ptr<TuplePage>> pages; ///< that hold a group
   GroupSet groups;
   std::unique_ptr<Arena> arena; ///< of what was added to their states
};

/// Groups that did not all fit into memory, taken partition by partition: what is in memory first, so that its memory
/// serves those that have to be read. A partition too large for the memory there is, is parted by further bits of the
/// hash. Shared by the workers of a source.
class SpilledGroups {
public:
   SpilledGroups(AggregateSink& sink, QueryContext& context) : sink_(sink), context_(context) {}

   /// Take over what a set has; once per set, before the first open().
   void add(GroupingSet& set);
   size_t partitionCount() const {
      const MutexLock lock(mutex_);
      return waiting_.size();
   }

   enum class Status : uint8_t { Opened, Blocked, Done };
   /// The groups of some partition. Blocked: others must release theirs first. Thread-safe.
   Status open(std::unique_ptr<LoadedGroups>& out);
   /// They have been used. Thread-safe.
   void release(std::unique_ptr<LoadedGroups> groups);

private:
   struct Partition {
      const GroupingSet* set = nullptr;
      RowPartition groups;
      std::vector<RowPartition> distinct, collected; ///< by aggregate
      bool isSpilled() const;
   };
   void enqueue(Partition&& partition) REQUIRES(mutex_);
   std::unique_ptr<LoadedGroups> load(Partition&& partition);
   std::vector<Partition> split(Partition&& partition);
   void loaded(size_t wanted);
   void finished();

   AggregateSink& sink_;
   QueryContext& context_;
   mutable Mutex mutex_; // guards what follows
   std::deque<Partition> waiting_ GUARDED_BY(mutex_);
   uint32_t open_ GUARDED_BY(mutex_) = 0; ///< being loaded, split or used
   size_t coming_ GUARDED_BY(mutex_) = 0; ///< that those being loaded are going to take
};

} // namespace ouzel::executor
