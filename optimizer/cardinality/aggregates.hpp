#pragma once
#include "optimizer/cardinality/estimator.hpp"

// How the results of aggregates spread over the groups, for predicates of HAVING.

namespace ouzel::optimizer {

/// Sets the spread of an aggregate's results, where it can be told; `rowsOfGroup`: of `input`, in the mean.
void setSpread(ColumnEstimate& result, const sql::AggregateCall& call, const RelEstimate& input, double rowsOfGroup);
/// The fraction of the groups whose result is less than `number`, or equal if `inclusive`. REQUIRES: the spread is
/// known.
double fractionBelow(const ColumnEstimate& result, double number, bool inclusive);

} // namespace ouzel::optimizer
