#pragma once
#include "sql/algebra/fold.hpp"
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Adds an aggregate call to the scope of the query level that it belongs to; gives a reference to the call's column.
/// `fold`: of an aggregate of a user, whose state the call then gives; null: a built-in aggregate.
ExprPtr bindAggregate(BindState& state, Scope& scope, const ::FuncCall& call, const struct FunctionCandidate& candidate,
                      std::vector<ExprPtr> args, const SqlType& resultType, uint32_t directCount, FoldPtr fold = {});
/// Adds a GROUPING(...) call to the scope, which keeps it until the grouping keys are known.
ExprPtr bindGroupingCall(BindState& state, Scope& scope, const ::GroupingFunc& node);

} // namespace ouzel::sql
