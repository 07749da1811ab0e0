#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Gives the output column `index` the type `type` if its type is unknown (a literal in the query). Else no effect.
void retypeUnknown(BindState& state, BoundRel& query, size_t index, Oid type);
/// Binds UNION, INTERSECT and EXCEPT.
BoundRel bindSetOperation(BindState& state, Scope& scope, const ::SelectStmt& select, bool resolveUnknowns);

} // namespace ouzel::sql
