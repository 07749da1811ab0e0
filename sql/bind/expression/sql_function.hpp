#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// The body of a function that is written in SQL, bound over these arguments; null if the call cannot be replaced.
ExprPtr inlineSqlFunction(BindState& state, const catalog::FunctionInfo& function, std::vector<ExprPtr>& args,
                          const SqlType& resultType);
/// True if evaluating the expression twice instead of once changes no result.
bool isRepeatable(const Expr& root);
/// Binds an SQL expression in which $1... stand for copies of `args`.
ExprPtr bindBody(BindState& state, std::string_view body, const std::vector<ExprPtr>& args);

} // namespace ouzel::sql
