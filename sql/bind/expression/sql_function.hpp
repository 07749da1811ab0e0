#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// The body of a function written in SQL over these arguments; null if it stays a call.
ExprPtr inlineSqlFunction(BindState& state, const catalog::FunctionInfo& function, std::vector<ExprPtr>& args,
                          const SqlType& resultType);
/// An SQL expression in which $1... stand for copies of `args`.
ExprPtr bindBody(BindState& state, std::string_view body, const std::vector<ExprPtr>& args);

} // namespace ouzel::sql
