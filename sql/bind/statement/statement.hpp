#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Binds a whole statement. Call it once per BindState.
BoundQuery bindStatement(BindState& state, const ::Node& statement);

} // namespace ouzel::sql
