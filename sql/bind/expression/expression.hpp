#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Binds a scalar expression as part of `clause`. Unknown literals stay unknown.
ExprPtr bindExpr(BindState& state, Scope& scope, const ::Node* node, Clause clause);
/// Binds a scalar expression as part of the scope's current clause. Unknown literals stay unknown.
ExprPtr bindExpr(BindState& state, Scope& scope, const ::Node* node);

} // namespace ouzel::sql
