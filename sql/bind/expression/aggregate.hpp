#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Notes an aggregate call at the query level it belongs to; the result is a reference to its column.
ExprPtr bindAggregate(BindState& state, Scope& scope, const ::FuncCall& call, const struct FunctionCandidate& candidate,
                      std::vector<ExprPtr> args, const SqlType& resultType, uint32_t directCount);
/// GROUPING(...): noted in the scope until the grouping keys are known.
ExprPtr bindGroupingCall(BindState& state, Scope& scope, const ::GroupingFunc& node);

} // namespace ouzel::sql
