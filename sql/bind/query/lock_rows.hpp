#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// FOR UPDATE and its like over the rows of a query.
RelPtr lockRows(BindState& state, Scope& scope, const ::SelectStmt& select, RelPtr rel);

} // namespace ouzel::sql
