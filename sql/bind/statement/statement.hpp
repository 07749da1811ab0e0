#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Parameters that are declared as of domains have values of their base types. Called before anything is bound.
void declareParameters(BindState& state);
/// Binds a whole statement. Call it once per BindState.
BoundQuery bindStatement(BindState& state, const ::Node& statement);

} // namespace ouzel::sql
