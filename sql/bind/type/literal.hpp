#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Parses a literal of type unknown as a constant of `type`. Throws the errors of the type's input function.
ExprPtr parseLiteral(BindState& state, const Expr& literal, const SqlType& type);

} // namespace ouzel::sql
