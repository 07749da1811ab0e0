#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// A whole statement. Once per state.
BoundQuery bindStatement(BindState& state, const ::Node& statement);

} // namespace ouzel::sql
