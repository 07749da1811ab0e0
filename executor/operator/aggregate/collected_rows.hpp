#pragma once
#include "executor/operator/aggregate/aggregate_feed.hpp"

namespace ouzel::executor {

/// Feed rows of set.collected[aggregate] to the states of their groups, in the order that the aggregate asks for, or
/// else in order of arrival. Takes one page of the rows after the other; if they must be sorted and do not fit into
/// memory, they are sorted on disk. `groups`: about how many groups they have. `arena` must live as long as the groups.
void feedCollected(QueryContext& context, const GroupingSet& set, size_t aggregate, RowPartition&& rows, size_t groups,
                   const FindGroups& find, Arena& arena, MemoryGrant& grant);

} // namespace ouzel::executor
