#pragma once
#include "sql/algebra/operators.hpp"
#include "sql/bind/state/bind_state.hpp"

// Direct arguments of ordered-set aggregates, rank(a) WITHIN GROUP (ORDER BY b), over grouping sets.

namespace ouzel::sql {

/// The aggregates of `group` compute their direct arguments from input rows, where a key has its value even for a set
/// that it is absent from. For each choice of present keys this makes an aggregate whose direct arguments have NULL for
/// the absent ones. Returns the columns to compute above the GroupBy, which choose among them by GROUPING.
std::vector<ComputedColumn> splitDirectArguments(BindState& state, const Scope& scope, op::GroupBy& group);

} // namespace ouzel::sql
