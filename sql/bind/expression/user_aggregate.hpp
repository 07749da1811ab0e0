#pragma once
#include "sql/bind/state/bind_state.hpp"

// Aggregates of users. The state of a group is the value of ouzel_fold(), an aggregate that calls the transition
// function for each row; the final function is an expression over it.

namespace ouzel::sql {

/// The value of a call, also of one with OVER. `args` as of bindAggregate(). Throws 0A000 for a state of type internal.
ExprPtr bindUserAggregate(BindState& state, Scope& scope, const ::FuncCall& call,
                          const struct FunctionCandidate& candidate, std::vector<ExprPtr> args,
                          const SqlType& resultType, uint32_t directCount);
/// The built-in aggregate that consists of the same functions as one of a user, and so gives the same; null: there is
/// none. Notes that the statement calls the user's.
const catalog::FunctionInfo* builtinTwin(BindState& state, const ::FuncCall& call,
                                         const catalog::FunctionInfo& function);
/// ouzel_fold()
const catalog::FunctionInfo* foldFunction();

} // namespace ouzel::sql
