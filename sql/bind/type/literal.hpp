#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// The constant that a literal of unknown type means as a value of `type`. Throws what the type's input throws.
ExprPtr parseLiteral(BindState& state, const Expr& literal, const SqlType& type);

} // namespace ouzel::sql
