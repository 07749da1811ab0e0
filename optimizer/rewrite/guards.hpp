#pragma once
#include "optimizer/query/query.hpp"

// A subquery becomes the right side of a join, which computes it for all rows of the left side, its `input`. What may
// fail or has effects must happen only for the rows that ask for it.

namespace ouzel::optimizer {

/// Lets a subquery do nothing that fails or has effects in rows of `input` whose boolean column `guard` is not true:
/// it reads NULL from these rows, and each of its expressions that may fail is a CASE over the guard.
void guardSubquery(Rel& subquery, RelPtr& input, ColumnId guard, Query& query);

/// A subquery that may fail is evaluated only for rows of `input`, and a filter there may read columns of an outer
/// query. The subquery then reads these columns from the rows of `input`, and so becomes dependent on them.
void carryOuter(Rel& subquery, RelPtr& input, Query& query);

} // namespace ouzel::optimizer
