#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// A call with OVER: noted in the scope; the result is a reference to its column.
ExprPtr bindWindowCall(BindState& state, Scope& scope, const ::FuncCall& call,
                       const struct FunctionCandidate& candidate, std::vector<ExprPtr> args, const SqlType& resultType);

} // namespace ouzel::sql
