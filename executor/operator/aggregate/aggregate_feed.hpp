#pragma once
#include <functional>
#include <vector>

#include "executor/operator/aggregate/aggregate.hpp"
#include "executor/pipeline/memory_grant.hpp"

// Distinct values, which are stored until all groups are known. Feeding a row updates the state of its group, which
// must be in memory. The rows are in memory or are loaded partition by partition. Collected rows: collected_rows.hpp.

namespace ouzel::executor {

/// Sets groups[i] to the group with the keys of live row i.
using FindGroups =
    std::function<void(const LiveColumn* keys, const uint64_t* hashes, uint32_t count, std::byte** groups)>;
FindGroups findIn(const MergedGroups& groups);
FindGroups findIn(const GroupSet& groups, const GroupingSet& set);

/// So many top bits of a distinct value's hash are those of its group; the other bits are of group and value.
inline constexpr uint32_t distinctGroupBits = 16;

/// Feed distinct values (rows of set.distinct[aggregate]). `arena` must live as long as the groups.
void feedDistinct(QueryContext& context, const GroupingSet& set, size_t aggregate, std::span<std::byte* const> rows,
                  const FindGroups& find, Arena& arena);
/// The same for a set without keys: all values belong to the group with this state of the aggregate.
void feedDistinctOne(QueryContext& context, const GroupingSet& set, size_t aggregate, std::span<std::byte* const> rows,
                     std::byte* state, Arena& arena);

/// Rows, in memory and spilled, that agree in the top `bitsUsed` bits of their hashes.
struct RowPartition {
   std::vector<std::unique_ptr<TuplePage>> pages;
   std::vector<SpilledTuplePage> spilled;
   uint64_t rows = 0;
   size_t spilledBytes = 0; ///< memory that the spilled pages take when they are loaded
   uint32_t bitsUsed = 0;
};
/// Divide pages by partition; a partition may be empty. Pages in memory may have rows of several partitions.
std::vector<RowPartition> partitionsOf(QueryContext& context, MemoryGrant& grant, const RowLayout& layout,
                                       TuplePages&& pages, SpilledPartitions& by);
/// Divide a partition by the next bits of the hash.
std::vector<RowPartition> splitPartition(QueryContext& context, MemoryGrant& grant, const RowLayout& layout,
                                         RowPartition&& partition);
/// Calls `take` with each page; loads spilled pages.
void forEachPage(QueryContext& context, MemoryGrant& grant, const RowLayout& layout, RowPartition&& partition,
                 const std::function<void(std::unique_ptr<TuplePage>)>& take);

/// Calls `use` with sets of different rows (by all columns), as many rows at a time as memory allows. No row occurs in
/// two of the sets.
void forEachUnited(QueryContext& context, MemoryGrant& grant, const RowLayout& layout, TuplePages&& pages,
                   SpilledPartitions& by, const std::function<void(const GroupSet&)>& use);
void forEachUnited(QueryContext& context, MemoryGrant& grant, const RowLayout& layout, RowPartition&& partition,
                   const std::function<void(const GroupSet&)>& use);

} // namespace ouzel::executor
