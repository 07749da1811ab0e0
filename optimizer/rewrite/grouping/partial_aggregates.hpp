#pragma once
#include <span>

#include "optimizer/query/query.hpp"

// Aggregates whose value follows from values for the parts of a group: a sum is the sum of the parts' sums, an average
// is the quotient of two such sums.

namespace ouzel::optimizer {

bool isDecomposable(const sql::AggregateCall& call);
/// The aggregates to compute for each part, with new columns.
std::vector<sql::AggregateCall> partsOf(const sql::AggregateCall& call, Query& query);
/// The aggregate of a column of parts, with a new column; it may serve as a part again.
sql::AggregateCall totalOf(const sql::AggregateCall& call, ColumnId part, Query& query);
/// The value of `call` from the totals, one for each of partsOf(). `mayLackParts`: a group may have none.
ExprPtr valueOf(const sql::AggregateCall& call, std::span<const ColumnId> totals, bool mayLackParts, Query& query);

} // namespace ouzel::optimizer
