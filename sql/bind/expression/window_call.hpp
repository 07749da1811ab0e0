#pragma once
#include "sql/algebra/fold.hpp"
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Adds a call with OVER to the scope; gives a reference to the call's column. `fold`: as of bindAggregate().
ExprPtr bindWindowCall(BindState& state, Scope& scope, const ::FuncCall& call,
                       const struct FunctionCandidate& candidate, std::vector<ExprPtr> args, const SqlType& resultType,
                       FoldPtr fold = {});

} // namespace ouzel::sql
