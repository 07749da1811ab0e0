#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// The same under a clause of its own.
ExprPtr bindExpr(BindState& state, Scope& scope, const ::Node* node, Clause clause);
/// Bind a scalar expression. Unknown literals stay unknown.
ExprPtr bindExpr(BindState& state, Scope& scope, const ::Node* node);

} // namespace ouzel::sql
