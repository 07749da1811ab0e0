#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// `parent`: the scope around a WITH query; null for a top-level statement.
BoundRel bindMerge(BindState& state, const ::MergeStmt& statement, Scope* parent);

} // namespace ouzel::sql
