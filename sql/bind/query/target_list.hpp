#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Binds a select list or RETURNING, and expands its stars.
std::vector<Target> bindTargetList(BindState& state, Scope& scope, const ::List* list, Clause clause);

} // namespace ouzel::sql
