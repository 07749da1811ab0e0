#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Rows proposed for insertion (dml.target) meet the rows whose keys they share.
RelPtr bindOnConflict(BindState& state, Scope& scope, const ::InsertStmt& statement, const catalog::RelationPtr& table,
                      RelPtr rel, Dml& dml);

} // namespace ouzel::sql
