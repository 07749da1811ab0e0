#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// A select list, or RETURNING, with its stars expanded.
std::vector<Target> bindTargetList(BindState& state, Scope& scope, const ::List* list, Clause clause);

} // namespace ouzel::sql
