#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// A call in FROM of a built-in function that gives the rows of a system view, such as pg_lock_status(), as a scan of
/// the view; empty for any other FROM item.
std::optional<FromItem> bindViewRows(BindState& state, Scope& scope, const ::RangeFunction& node);

} // namespace ouzel::sql
