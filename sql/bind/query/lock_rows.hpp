#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Puts LockRows for FOR UPDATE, FOR SHARE, ... over the rows of a query.
RelPtr lockRows(BindState& state, Scope& scope, const ::SelectStmt& select, RelPtr rel);

} // namespace ouzel::sql
