#include "executor/operator/aggregate/aggregate_feed.hpp"

#include <algorithm>
#include <numeric>

#include "executor/operator/aggregate/keyed_rows.hpp"

namespace ouzel::executor {

FindGroups findIn(const MergedGroups& groups) {
   return [&groups](const LiveColumn* keys, const uint64_t* hashes, uint32_t count, std::byte** rows) {
      groups.find(keys, hashes, count, rows);
   };
}

FindGroups findIn(const GroupSet& groups, const GroupingSet& set) {
   return [&](const LiveColumn* keys, const uint64_t* hashes, uint32_t count, std::byte** rows) {
      RowIndex live[batchRowsMax];
      std::iota(live, live + count, RowIndex{0});
      groups.find(set.layout, set.keysCompared, keys, hashes, live, count, rows);
   };
}

void feedDistinct(QueryContext& context, const GroupingSet& set, size_t a, std::span<std::byte* const> all,
                  const FindGroups& find, Arena& arena) {
   const CompiledAggregate& aggregate = (*set.aggregates)[a];
   const RowLayout& layout = set.distinct[a]->layout;
   const auto keyCount = static_cast<uint32_t>(set.keys.size());
   KeyedRows rows(context, layout, keyCount, find, aggregate.kernel->ignoresValues);
   for (; !all.empty(); all = all.subspan(std::min<size_t>(batchRowsMax, all.size()))) {
      context.checkCancelled();
      const auto count = static_cast<uint32_t>(std::min<size_t>(batchRowsMax, all.size()));
      rows.gather(all.first(count));
      for (uint32_t i = 0; i < count; ++i)
         rows.groups()[i] += set.stateOffsets[a];
      const AggregateInput input{std::span(rows.columns()).subspan(keyCount, aggregate.argCount),
                                 Selection::dense(count), context.functions(), arena, aggregate.argTypes};
      aggregate.kernel->update(input, rows.groups());
   }
}

void feedDistinctOne(QueryContext& context, const GroupingSet& set, size_t a, std::span<std::byte* const> all,
                     std::byte* state, Arena& arena) {
   const CompiledAggregate& aggregate = (*set.aggregates)[a];
   const FindGroups find;
   KeyedRows rows(context, set.distinct[a]->layout, 0, find, aggregate.kernel->ignoresValues);
   for (; !all.empty(); all = all.subspan(std::min<size_t>(batchRowsMax, all.size()))) {
      context.checkCancelled();
      const auto count = static_cast<uint32_t>(std::min<size_t>(batchRowsMax, all.size()));
      rows.gather(all.first(count));
      const AggregateInput input{std::span(rows.columns()).first(aggregate.argCount), Selection::dense(count),
                                 context.functions(), arena, aggregate.argTypes};
      if (aggregate.kernel->updateOne) {
         aggregate.kernel->updateOne(input, state);
         continue;
      }
      std::fill_n(rows.groups(), count, state);
      aggregate.kernel->update(input, rows.groups());
   }
}

// ---- rows by partition ----

namespace {

constexpr uint32_t splitBits = 4;
/// Rows that agree in so many bits of the hash are not split further.
constexpr uint32_t bitsUsedMax = 44;

std::vector<RowPartition> sortPages(const RowLayout& layout, TuplePages&& pages, const SpilledPartitions& by) {
   std::vector<RowPartition> partitions(size_t{1} << by.bits());
   for (auto& page : pages.takePages()) {
      RowPartition& partition = partitions[page->partition];
      partition.rows += page->rowCount(layout.rowSize());
      partition.pages.push_back(std::move(page));
   }
   for (const SpilledTuplePage& spilled : pages.spilled()) {
      RowPartition& partition = partitions[spilled.partition];
      partition.rows += spilled.rowCount;
      partition.spilledBytes += spilled.bytes;
      partition.spilled.push_back(spilled);
   }
   for (RowPartition& partition : partitions)
      partition.bitsUsed = by.skippedBits() + by.bits();
   return partitions;
}

} // namespace

std::vector<RowPartition> partitionsOf(QueryContext& context, MemoryGrant& grant, const RowLayout& layout,
                                       TuplePages&& pages, SpilledPartitions& by) {
   const auto isMixed = [](const auto& page) { return page->partition == TuplePage::anyPartition; };
   if (std::any_of(pages.pages().begin(), pages.pages().end(), isMixed)) {
      TupleBuffer buffer(layout, grant, by, {.startsPartitioned = true});
      TuplePages partitioned;
      for (auto& page : pages.takePages()) {
         if (!isMixed(page)) {
            partitioned.add(std::move(page));
            continue;
         }
         context.checkCancelled();
         buffer.storeCopies(*page);
         page.reset();
         if (buffer.wantsRelief()) buffer.relieve();
      }
      pages.merge(std::move(partitioned));
      pages.merge(buffer.finish());
   }
   return sortPages(layout, std::move(pages), by);
}

std::vector<RowPartition> splitPartition(QueryContext& context, MemoryGrant& grant, const RowLayout& layout,
                                         RowPartition&& partition) {
   SpilledPartitions by(&context.spill(), splitBits, partition.bitsUsed);
   TupleBuffer buffer(layout, grant, by, {.startsPartitioned = true});
   forEachPage(context, grant, layout, std::move(partition), [&](std::unique_ptr<TuplePage> page) {
      buffer.storeCopies(*page);
      page.reset();
      if (buffer.wantsRelief()) buffer.relieve();
   });
   return sortPages(layout, buffer.finish(), by);
}

void forEachPage(QueryContext& context, MemoryGrant& grant, const RowLayout& layout, RowPartition&& partition,
                 const std::function<void(std::unique_ptr<TuplePage>)>& take) {
   for (auto& page : partition.pages) {
      context.checkCancelled();
      take(std::move(page));
   }
   if (partition.spilled.empty()) return;
   TupleReader reader(layout, grant.memory(), context.spill());
   for (const SpilledTuplePage& spilled : partition.spilled)
      reader.add(spilled);
   while (auto page = reader.next()) {
      context.checkCancelled();
      take(std::move(page));
   }
}

void forEachUnited(QueryContext& context, MemoryGrant& grant, const RowLayout& layout, TuplePages&& pages,
                   SpilledPartitions& by, const std::function<void(const GroupSet&)>& use) {
   std::vector<RowPartition> partitions = partitionsOf(context, grant, layout, std::move(pages), by);
   // Partitions in memory first: using them frees their memory for the spilled partitions.
   for (const bool isSpilled : {false, true})
      for (RowPartition& partition : partitions)
         if (partition.rows > 0 && partition.spilled.empty() != isSpilled)
            forEachUnited(context, grant, layout, std::move(partition), use);
}

void forEachUnited(QueryContext& context, MemoryGrant& grant, const RowLayout& layout, RowPartition&& partition,
                   const std::function<void(const GroupSet&)>& use) {
   const bool fits = grant.mayGrow(partition.spilledBytes + partition.rows * GroupSet::bytesPerRow);
   if (!fits && !partition.spilled.empty() && partition.bitsUsed < bitsUsedMax) {
      for (RowPartition& part : splitPartition(context, grant, layout, std::move(partition)))
         if (part.rows > 0) forEachUnited(context, grant, layout, std::move(part), use);
      return;
   }
   GroupSet united(partition.rows, grant.memory());
   std::vector<std::unique_ptr<TuplePage>> kept;
   forEachPage(context, grant, layout, std::move(partition), [&](std::unique_ptr<TuplePage> page) {
      if (united.addPage(layout, layout.columnCount(), *page, nullptr) > 0) kept.push_back(std::move(page));
   });
   use(united);
}

} // namespace ouzel::executor
