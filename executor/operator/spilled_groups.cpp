#include "executor/operator/spilled_groups.hpp"

#include <algorithm>

namespace ouzel::executor {

namespace {

constexpr uint32_t splitBits = 4;
/// Rows that agree in so many bits will not be parted by more.
constexpr uint32_t bitsUsedMax = 40;

void addRows(GroupSet& groups, const RowLayout& layout, uint32_t keyCount, const TuplePage& page,
             const GroupSet::Combine& combine, uint32_t& added) {
   std::byte* rows[batchRowsMax];
   for (std::byte* row = page.begin; row != page.cursor;) {
      uint32_t count = 0;
      for (; count < batchRowsMax && row != page.cursor; row += layout.rowSize())
         rows[count++] = row;
      added += groups.add(layout, keyCount, rows, count, &combine);
   }
}

} // namespace

void SpilledGroups::sortByPartition(const GroupingSet& set, TuplePages&& pages, const SpilledPartitions& by,
                                    std::deque<Partition>& out) {
   const uint32_t rowSize = set.layout.rowSize();
   std::vector<Partition> partitions(size_t{1} << by.bits());
   for (auto& page : pages.takePages()) {
      Partition& partition = partitions[page->partition];
      partition.rows += page->rowCount(rowSize);
      partition.pages.push_back(std::move(page));
   }
   for (const SpilledTuples& spilled : pages.spilled()) {
      Partition& partition = partitions[spilled.partition];
      partition.rows += spilled.rowCount;
      partition.spilledBytes += spilled.page.rawBytes;
      partition.spilled.push_back(spilled);
   }
   for (Partition& partition : partitions) {
      if (partition.rows == 0) continue;
      partition.set = &set;
      partition.bitsUsed = by.skippedBits() + by.bits();
      if (partition.spilled.empty())
         out.push_front(std::move(partition));
      else
         out.push_back(std::move(partition));
   }
}

void SpilledGroups::add(GroupingSet& set) {
   TuplePages pages = set.groups.takePages();
   // A worker that ended before anything was spilled has pages of all partitions.
   const bool isMixed = std::any_of(pages.pages().begin(), pages.pages().end(),
                                    [](const auto& page) { return page->partition == TuplePage::anyPartition; });
   if (isMixed) {
      TupleBuffer buffer(set.layout, sink_.grant(), *set.partitions, {.startsPartitioned = true});
      TuplePages partitioned;
      for (auto& page : pages.takePages()) {
         if (page->partition != TuplePage::anyPartition) {
            partitioned.add(std::move(page));
            continue;
         }
         buffer.storeCopies(*page);
         page.reset();
         if (buffer.wantsRelief()) buffer.relieve();
      }
      pages.merge(std::move(partitioned));
      pages.merge(buffer.finish());
   }
   sortByPartition(set, std::move(pages), *set.partitions, waiting_);
}

SpilledGroups::Status SpilledGroups::open(std::unique_ptr<LoadedGroups>& out) {
   Partition partition;
   bool mustSplit = false;
   {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) return open_ == 0 ? Status::Done : Status::Blocked;
      const bool fits = sink_.grant().mayGrow(waiting_.front().bytesWanted());
      if (!fits && open_ > 0) return Status::Blocked;
      partition = std::move(waiting_.front());
      waiting_.pop_front();
      mustSplit = !fits && !partition.spilled.empty() && partition.bitsUsed < bitsUsedMax;
      ++open_;
   }
   try {
      if (mustSplit) {
         std::deque<Partition> parts = split(std::move(partition));
         {
            const std::lock_guard lock(mutex_);
            for (Partition& part : parts)
               waiting_.push_front(std::move(part));
         }
         finished();
         return open(out);
      }
      out = load(std::move(partition));
   } catch (...) {
      finished();
      throw;
   }
   return Status::Opened;
}

void SpilledGroups::release(std::unique_ptr<LoadedGroups> groups) {
   groups.reset();
   finished();
}

void SpilledGroups::finished() {
   {
      const std::lock_guard lock(mutex_);
      --open_;
   }
   context_.wake();
}

std::unique_ptr<LoadedGroups> SpilledGroups::load(Partition&& partition) {
   const GroupingSet& set = *partition.set;
   Reservation& memory = sink_.grant().memory();
   auto loaded = std::make_unique<LoadedGroups>();
   loaded->set = &set;
   loaded->arena = std::make_unique<Arena>(&memory);
   loaded->groups = GroupSet(partition.rows, memory);
   const GroupSet::Combine combine = [&](std::byte* const* into, const std::byte* const* from, uint32_t count) {
      sink_.combineStates(set, into, from, count, *loaded->arena);
   };
   const auto take = [&](std::unique_ptr<TuplePage> page) {
      context_.checkCancelled();
      uint32_t added = 0;
      addRows(loaded->groups, set.layout, static_cast<uint32_t>(set.keys.size()), *page, combine, added);
      if (added > 0) loaded->pages.push_back(std::move(page));
   };
   for (auto& page : partition.pages)
      take(std::move(page));
   if (partition.spilled.empty()) return loaded;
   TupleReader reader(set.layout, memory, context_.spill());
   for (const SpilledTuples& spilled : partition.spilled)
      reader.add(spilled);
   while (auto page = reader.next())
      take(std::move(page));
   return loaded;
}

/// By the next bits of the hash.
std::deque<SpilledGroups::Partition> SpilledGroups::split(Partition&& partition) {
   const GroupingSet& set = *partition.set;
   SpilledPartitions by(&context_.spill(), splitBits, partition.bitsUsed);
   TupleBuffer buffer(set.layout, sink_.grant(), by, {.startsPartitioned = true});
   const auto take = [&](std::unique_ptr<TuplePage> page) {
      context_.checkCancelled();
      buffer.storeCopies(*page);
      page.reset();
      if (buffer.wantsRelief()) buffer.relieve();
   };
   for (auto& page : partition.pages)
      take(std::move(page));
   TupleReader reader(set.layout, sink_.grant().memory(), context_.spill());
   for (const SpilledTuples& spilled : partition.spilled)
      reader.add(spilled);
   while (auto page = reader.next())
      take(std::move(page));
   std::deque<Partition> parts;
   sortByPartition(set, buffer.finish(), by, parts);
   return parts;
}

} // namespace ouzel::executor
