#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "executor/operator/aggregate/aggregate_feed.hpp"

namespace ouzel::executor {

/// The groups of one partition in memory, with complete states.
struct LoadedGroups {
   const GroupingSet* set = nullptr;
   std::vector<std::unique_ptr<TuplePage>> pages; ///< the pages that have a group's row
   GroupSet groups;
   std::unique_ptr<Arena> arena; ///< of the states' variable-size parts
};

/// The groups of sets that did not fit into memory, taken partition by partition. Partitions in memory come first, so
/// that their memory can be used for spilled partitions. A partition that is too large is split by further bits of the
/// hash. Shared by the workers of AggregateSource, each of which open()s a partition, gives its groups and release()s
/// it.
class SpilledGroups {
public:
   SpilledGroups(AggregateSink& sink, QueryContext& context) : sink_(sink), context_(context) {}

   /// Take over the groups, distinct values and collected rows of a set; once per set, before the first open().
   void add(GroupingSet& set);
   size_t partitionCount() const {
      const MutexLock lock(mutex_);
      return waiting_.size();
   }

   /// How many partitions were split because they did not fit.
   uint32_t splitCount() const {
      const MutexLock lock(mutex_);
      return splits_;
   }

   enum class Status : uint8_t { Opened, Blocked, Done };
   /// Load the groups of the next partition. Blocked: other workers must release theirs first. Thread-safe.
   Status open(std::unique_ptr<LoadedGroups>& out);
   /// Free the groups of a partition. Thread-safe.
   void release(std::unique_ptr<LoadedGroups> groups);

private:
   struct Partition {
      const GroupingSet* set = nullptr;
      RowPartition groups;
      std::vector<RowPartition> distinct, collected; ///< by aggregate
      bool isSpilled() const;
      /// What load() takes for the groups and their distinct values.
      size_t bytesToUnite() const;
   };
   void enqueue(Partition&& partition) REQUIRES(mutex_);
   std::unique_ptr<LoadedGroups> load(Partition&& partition);
   std::vector<Partition> split(Partition&& partition);
   void loaded(size_t wanted);
   void finished();

   AggregateSink& sink_;
   QueryContext& context_;
   mutable Mutex mutex_;
   std::deque<Partition> waiting_ GUARDED_BY(mutex_);
   uint32_t splits_ GUARDED_BY(mutex_) = 0;
   bool isSplitting_ GUARDED_BY(mutex_) = false;
   uint32_t open_ GUARDED_BY(mutex_) = 0; ///< partitions being loaded, split or used
   size_t coming_ GUARDED_BY(mutex_) = 0; ///< bytes that partitions being loaded are going to take
};

} // namespace ouzel::executor
