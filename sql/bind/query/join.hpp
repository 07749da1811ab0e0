#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Binds a JOIN with its ON, USING or NATURAL.
FromItem bindJoin(BindState& state, Scope& scope, const ::JoinExpr& node);

} // namespace ouzel::sql
