#include <algorithm>

#include "executor/operator/aggregate/aggregate.hpp"
#include "executor/operator/aggregate/collected_rows.hpp"

// The finishing stages of an aggregation whose groups stayed in memory. The workers' groups are united, partition by
// partition. Then distinct values and collected rows are fed to the groups. Spilled groups are united by
// spilled_groups.cpp.

namespace ouzel::executor {

namespace {
constexpr uint32_t allPartitions = UINT32_MAX; ///< number of a task that takes all partitions in turn
} // namespace

/// Each call opens the next stage that has tasks.
uint32_t AggregateSink::finishTasks(QueryContext&, uint32_t round) {
   if (round == 0) {
      for (GroupingSet& set : sets_) {
         if (set.isSpilled()) continue; // united by AggregateSource
         merges_.push_back({&set.groups, &set});
         for (const auto& distinct : set.distinct)
            if (distinct && !distinct->groups.isSpilled()) merges_.push_back({&distinct->groups, nullptr});
      }
      for (const Merge& merge : merges_)
         merge.groups->start(grant_.memory(), pageBits_);
   }
   tasks_.clear();
   while (tasks_.empty() && nextStage_ != Stage::End) {
      stage_ = nextStage_;
      nextStage_ = static_cast<Stage>(static_cast<uint8_t>(nextStage_) + 1);
      planStage();
   }
   if (tasks_.empty()) grant_.settle();
   if (tasks_.empty() && std::none_of(sets_.begin(), sets_.end(), [](const auto& set) { return set.isSpilled(); }))
      grant_.waiveFloor();
   return static_cast<uint32_t>(tasks_.size());
}

void AggregateSink::planStage() {
   switch (stage_) {
   case Stage::Scatter:
      for (const Merge& merge : merges_)
         for (uint32_t page = 0; merge.groups->mergesHere() && page < merge.groups->pageCount(); ++page)
            if (merge.groups->needsScatter(page)) tasks_.push_back({merge.groups, merge.set, page, 0});
      break;
   case Stage::Unite:
      for (const Merge& merge : merges_)
         for (uint32_t part = 0; merge.groups->mergesHere() && part < merge.groups->partitionCountUsed(); ++part)
            tasks_.push_back({merge.groups, merge.set, part, 0});
      break;
   case Stage::Distinct:
      for (const Merge& merge : merges_)
         merge.groups->endMerge();
      for (GroupingSet& set : sets_) {
         if (set.isSpilled()) continue;
         addMissingGroup(set);
         if (set.needsIndex()) set.groups.index();
         for (uint32_t a = 0; a < aggregates_.size(); ++a) {
            if (!set.distinct[a]) continue;
            if (set.distinct[a]->groups.isSpilled()) {
               tasks_.push_back({nullptr, &set, allPartitions, a});
               continue;
            }
            for (uint32_t part = 0; part < set.distinct[a]->groups.partitionCountUsed(); ++part)
               if (!set.distinct[a]->groups.groups(part).empty()) tasks_.push_back({nullptr, &set, part, a});
         }
      }
      break;
   case Stage::Collected:
      for (GroupingSet& set : sets_)
         for (uint32_t a = 0; a < aggregates_.size(); ++a)
            if (set.collected[a] && !set.isSpilled()) tasks_.push_back({nullptr, &set, 0, a});
      break;
   case Stage::End: break;
   }
}

void AggregateSink::finishTask(QueryContext& context, uint32_t, uint32_t number) {
   const Task& task = tasks_[number];
   switch (stage_) {
   case Stage::Scatter: return task.groups->scatter(task.number);
   case Stage::Unite: return uniteGroups(task);
   case Stage::Distinct: return feedDistinctValues(context, task);
   case Stage::Collected: {
      GroupingSet::CollectedRows& collected = *task.set->collected[task.aggregate];
      RowPartition rows;
      rows.rows = collected.pages.rowCount(collected.layout.rowSize());
      rows.spilled = collected.pages.spilled(); // without keys, whose one group stays in memory
      rows.pages = collected.pages.takePages();
      size_t groups = 0;
      for (uint32_t partition = 0; partition < task.set->groups.partitionCountUsed(); ++partition)
         groups += task.set->groups.groups(partition).size();
      return feedCollected(context, *task.set, task.aggregate, std::move(rows), groups, findIn(task.set->groups),
                           keepArena(newArena()), grant_);
   }
   case Stage::End: break;
   }
}

void AggregateSink::uniteGroups(const Task& task) {
   Arena* arena = nullptr;
   task.groups->unite(task.number, [&](std::byte* const* into, const std::byte* const* from, uint32_t count) {
      if (!task.set) return;
      if (!arena) arena = &keepArena(newArena());
      combineStates(*task.set, into, from, count, *arena);
   });
}

void AggregateSink::combineStates(const GroupingSet& set, std::byte* const* into, const std::byte* const* from,
                                  uint32_t count, Arena& arena) const {
   std::byte* targets[batchRowsMax];
   const std::byte* sources[batchRowsMax];
   for (size_t a = 0; a < aggregates_.size(); ++a) {
      // The states of DISTINCT and collected aggregates are still empty: they are fed later.
      if (aggregates_[a].isCollected || aggregates_[a].isDistinct || aggregates_[a].isShared) continue;
      for (uint32_t i = 0; i < count; ++i) {
         targets[i] = into[i] + set.stateOffsets[a];
         sources[i] = from[i] + set.stateOffsets[a];
      }
      aggregates_[a].kernel->combine(targets, sources, count, arena);
   }
}

/// A set without keys has its one group even if there were no rows.
void AggregateSink::addMissingGroup(GroupingSet& set) {
   if (!set.keys.empty() || !set.groups.groups(0).empty()) return;
   GroupTable::Scratch scratch;
   GroupTable table(set.layout, 0, set, grant_, *set.partitions, scratch, tableOptions_);
   const uint64_t hash = 0;
   std::byte* row = nullptr;
   table.findOrCreate(nullptr, &hash, 1, &row);
   set.groups.addOnly(table.takePages());
}

/// Feed the distinct values of one partition of the group's hash, so that no other task uses these groups.
void AggregateSink::feedDistinctValues(QueryContext& context, const Task& task) {
   GroupingSet::DistinctValues& values = *task.set->distinct[task.aggregate];
   Arena& arena = keepArena(newArena());
   if (!task.set->keys.empty()) {
      DCHECK(task.number != allPartitions); // with spilled values, the whole set counts as spilled
      return feedDistinct(context, *task.set, task.aggregate, values.groups.groups(task.number),
                          findIn(task.set->groups), arena);
   }
   // Partitions are those of the values, and all values belong to the only group. Each task has a state of its own.
   const AggregateKernel& kernel = *aggregates_[task.aggregate].kernel;
   std::vector<int128> memory((kernel.stateSize + sizeof(int128) - 1) / sizeof(int128)); // aligned as states are
   auto* const state = reinterpret_cast<std::byte*>(memory.data());
   kernel.initialize(state);
   const auto feed = [&](std::span<std::byte* const> rows) {
      feedDistinctOne(context, *task.set, task.aggregate, rows, state, arena);
   };
   if (task.number == allPartitions)
      forEachUnited(context, grant_, values.layout, values.groups.takePages(), *values.partitions,
                    [&](const GroupSet& united) { feed(united.groups()); });
   else
      feed(values.groups.groups(task.number));
   std::byte* const into = task.set->groups.groups(0)[0] + task.set->stateOffsets[task.aggregate];
   const std::byte* const from = state;
   const MutexLock lock(onlyGroupMutex_);
   kernel.combine(&into, &from, 1, arena);
}

} // namespace ouzel::executor
