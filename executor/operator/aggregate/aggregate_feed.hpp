#pragma once
#include <functional>
#include <vector>

#include "executor/operator/aggregate/aggregate.hpp"
#include "executor/pipeline/memory_grant.hpp"

// What waits until all groups are known: the values of DISTINCT aggregates and the input of ordered ones. Rows are fed
// to the states of their groups, which are all in memory; the rows are, or are brought back by partitions.

namespace ouzel::executor {

/// groups[i] = the group with these keys.
using FindGroups =
    std::function<void(const LiveColumn* keys, const uint64_t* hashes, uint32_t count, std::byte** groups)>;
FindGroups findIn(const MergedGroups& groups);
FindGroups findIn(const GroupSet& groups, const GroupingSet& set);

/// So many bits of a distinct value's hash are those of its group; the others are of group and value.
inline constexpr uint32_t distinctGroupBits = 16;

/// Append the rows of pages.
void listRows(const RowLayout& layout, const std::vector<std::unique_ptr<TuplePage>>& pages,
              std::vector<std::byte*>& rows);

/// Feed distinct values, rows of set.distinct[aggregate], once each. `arena` lives as long as the groups.
void feedDistinct(QueryContext& context, const GroupingSet& set, size_t aggregate, std::span<std::byte* const> rows,
                  const FindGroups& find, Arena& arena);
/// Sort rows of set.collected[aggregate] by group and order, and feed them in that order.
void feedCollected(QueryContext& context, const GroupingSet& set, size_t aggregate, std::span<std::byte* const> rows,
                   const FindGroups& find, Arena& arena, Reservation& memory);

/// Some rows, in memory and spilled, that agree in `bitsUsed` bits of their hashes.
struct RowPartition {
   std::vector<std::unique_ptr<TuplePage>> pages;
   std::vector<SpilledTuples> spilled;
   uint64_t rows = 0;
   size_t spilledBytes = 0; ///< that the spilled pages take when they are back
   uint32_t bitsUsed = 0;
};
/// By partition; each may be empty. Pages in memory may hold rows of several partitions.
std::vector<RowPartition> partitionsOf(QueryContext& context, MemoryGrant& grant, const RowLayout& layout,
                                       TuplePages&& pages, SpilledPartitions& by);
/// By the next bits of the hash.
std::vector<RowPartition> splitPartition(QueryContext& context, MemoryGrant& grant, const RowLayout& layout,
                                         RowPartition&& partition);
/// Calls `take` with each page, brought back from disk where it was spilled.
void forEachPage(QueryContext& context, MemoryGrant& grant, const RowLayout& layout, RowPartition&& partition,
                 const std::function<void(std::unique_ptr<TuplePage>)>& take);

/// Calls `use` with all rows, each key (all columns) once: as many at a time as memory allows.
void forEachUnited(QueryContext& context, MemoryGrant& grant, const RowLayout& layout, TuplePages&& pages,
                   SpilledPartitions& by, const std::function<void(const GroupSet&)>& use);
void forEachUnited(QueryContext& context, MemoryGrant& grant, const RowLayout& layout, RowPartition&& partition,
                   const std::function<void(const GroupSet&)>& use);

} // namespace ouzel::executor
