#include "executor/operator/aggregate/spilled_groups.hpp"

#include <algorithm>

#include "executor/operator/aggregate/collected_rows.hpp"
#include "executor/pipeline/memory_grant.hpp"

namespace ouzel::executor {

bool SpilledGroups::Partition::isSpilled() const {
   const auto has = [](const RowPartition& part) { return !part.spilled.empty(); };
   return has(groups) || std::any_of(distinct.begin(), distinct.end(), has) ||
          std::any_of(collected.begin(), collected.end(), has);
}

/// The groups stay. The distinct values of one aggregate after the other are united meanwhile.
size_t SpilledGroups::Partition::bytesToUnite() const {
   const auto bytesOf = [](const RowPartition& rows) { return rows.spilledBytes + rows.rows * GroupSet::bytesPerRow; };
   size_t values = 0;
   for (const RowPartition& rows : distinct)
      values = std::max(values, bytesOf(rows));
   return bytesOf(groups) + values;
}

void SpilledGroups::enqueue(Partition&& partition) {
   if (partition.groups.rows == 0) return;
   if (partition.isSpilled())
      waiting_.push_back(std::move(partition));
   else
      waiting_.push_front(std::move(partition));
}

void SpilledGroups::add(GroupingSet& set) {
   std::vector<Partition> partitions(size_t{1} << set.partitions->bits());
   const size_t aggregates = set.aggregates->size();
   for (Partition& partition : partitions) {
      partition.set = &set;
      partition.distinct.resize(aggregates);
      partition.collected.resize(aggregates);
   }
   const auto distribute = [&](const RowLayout& layout, TuplePages&& pages, SpilledPartitions& by, auto&& partOf) {
      std::vector<RowPartition> parts = partitionsOf(context_, sink_.grant(), layout, std::move(pages), by);
      DCHECK(parts.size() == partitions.size()); // groups and their values are partitioned alike
      for (size_t p = 0; p < parts.size(); ++p)
         partOf(partitions[p]) = std::move(parts[p]);
   };
   distribute(set.layout, set.groups.takePages(), *set.partitions,
              [](Partition& partition) -> RowPartition& { return partition.groups; });
   for (size_t a = 0; a < aggregates; ++a) {
      if (auto* values = set.distinct[a].get())
         distribute(values->layout, values->groups.takePages(), *values->partitions,
                    [a](Partition& partition) -> RowPartition& { return partition.distinct[a]; });
      if (auto* rows = set.collected[a].get())
         distribute(rows->layout, std::move(rows->pages), *rows->partitions,
                    [a](Partition& partition) -> RowPartition& { return partition.collected[a]; });
   }
   const MutexLock lock(mutex_);
   for (Partition& partition : partitions)
      enqueue(std::move(partition));
}

SpilledGroups::Status SpilledGroups::open(std::unique_ptr<LoadedGroups>& out) {
   Partition partition;
   bool mustSplit = false;
   size_t wanted = 0;
   {
      const MutexLock lock(mutex_);
      if (waiting_.empty()) return open_ == 0 ? Status::Done : Status::Blocked;
      // The parts' pages are allocated one by one, and would not leave room for what another partition was promised.
      if (isSplitting_) return Status::Blocked;
      const Partition& next = waiting_.front();
      const size_t ofGroups = next.bytesToUnite();
      wanted = ofGroups;
      for (const RowPartition& rows : next.collected)
         wanted += rows.spilledBytes * 2;
      bool fits = sink_.grant().mayGrow(wanted + coming_);
      if (!fits && open_ > 0) return Status::Blocked;
      // Collected rows that do not fit are sorted on disk, which costs as much as splitting them once.
      if (!fits) fits = sink_.grant().mayGrow(ofGroups + coming_);
      // The hash of a distinct value has only distinctGroupBits bits of its group: further bits would divide values and
      // groups differently.
      mustSplit = !fits && next.isSpilled() && next.groups.bitsUsed + 4 <= distinctGroupBits;
      partition = std::move(waiting_.front());
      waiting_.pop_front();
      ++open_;
      isSplitting_ = mustSplit;
      if (mustSplit) wanted = 0;
      coming_ += wanted;
   }
   try {
      if (mustSplit) {
         std::vector<Partition> parts = split(std::move(partition));
         const MutexLock lock(mutex_);
         ++splits_;
         for (Partition& part : parts)
            if (part.groups.rows > 0) waiting_.push_front(std::move(part));
      } else {
         out = load(std::move(partition));
      }
   } catch (...) {
      loaded(wanted);
      finished();
      throw;
   }
   loaded(wanted);
   if (!mustSplit) return Status::Opened;
   finished();
   return open(out);
}

void SpilledGroups::release(std::unique_ptr<LoadedGroups> groups) {
   groups.reset();
   finished();
}

void SpilledGroups::loaded(size_t wanted) {
   const MutexLock lock(mutex_);
   DCHECK(coming_ >= wanted);
   coming_ -= wanted;
}

void SpilledGroups::finished() {
   {
      const MutexLock lock(mutex_);
      DCHECK(open_ > 0);
      --open_;
      isSplitting_ = false; // the worker that splits is the only one meanwhile
   }
   context_.wake();
}

std::unique_ptr<LoadedGroups> SpilledGroups::load(Partition&& partition) {
   DCHECK(partition.groups.rows > 0);
   const GroupingSet& set = *partition.set;
   MemoryGrant& grant = sink_.grant();
   auto loaded = std::make_unique<LoadedGroups>();
   loaded->set = &set;
   loaded->arena = std::make_unique<Arena>(&grant.memory());
   loaded->groups = GroupSet(partition.groups.rows, grant.memory());
   const GroupSet::Combine combine = [&](std::byte* const* into, const std::byte* const* from, uint32_t count) {
      sink_.combineStates(set, into, from, count, *loaded->arena);
   };
   forEachPage(context_, grant, set.layout, std::move(partition.groups), [&](std::unique_ptr<TuplePage> page) {
      if (loaded->groups.addPage(set.layout, set.keysCompared, *page, &combine) > 0)
         loaded->pages.push_back(std::move(page));
   });
   const FindGroups find = findIn(loaded->groups, set);
   for (size_t a = 0; a < set.aggregates->size(); ++a) {
      if (set.distinct[a]) {
         RowPartition& values = partition.distinct[a];
         values.bitsUsed = distinctGroupBits; // within these bits, values are partitioned like their groups
         forEachUnited(context_, grant, set.distinct[a]->layout, std::move(values), [&](const GroupSet& united) {
            feedDistinct(context_, set, a, united.groups(), find, *loaded->arena);
         });
      }
      if (set.collected[a]) {
         feedCollected(context_, set, a, std::move(partition.collected[a]), loaded->groups.groups().size(), find,
                       *loaded->arena, grant);
      }
   }
   return loaded;
}

std::vector<SpilledGroups::Partition> SpilledGroups::split(Partition&& partition) {
   const GroupingSet& set = *partition.set;
   std::vector<Partition> parts;
   const auto distribute = [&](const RowLayout& layout, RowPartition&& rows, auto&& partOf) {
      std::vector<RowPartition> split = splitPartition(context_, sink_.grant(), layout, std::move(rows));
      parts.resize(split.size());
      for (size_t p = 0; p < split.size(); ++p)
         partOf(parts[p]) = std::move(split[p]);
   };
   distribute(set.layout, std::move(partition.groups), [](Partition& part) -> RowPartition& { return part.groups; });
   for (Partition& part : parts) {
      part.set = &set;
      part.distinct.resize(set.aggregates->size());
      part.collected.resize(set.aggregates->size());
   }
   for (size_t a = 0; a < set.aggregates->size(); ++a) {
      if (set.distinct[a])
         distribute(set.distinct[a]->layout, std::move(partition.distinct[a]),
                    [a](Partition& part) -> RowPartition& { return part.distinct[a]; });
      if (set.collected[a])
         distribute(set.collected[a]->layout, std::move(partition.collected[a]),
                    [a](Partition& part) -> RowPartition& { return part.collected[a]; });
   }
   return parts;
}

} // namespace ouzel::executor
