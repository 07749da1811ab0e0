#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// A column of unknown type (a literal somewhere below) becomes one of `type`; does nothing if its type is known.
void retypeUnknown(BindState& state, BoundRel& query, size_t index, Oid type);
/// UNION, INTERSECT and EXCEPT.
BoundRel bindSetOperation(BindState& state, Scope& scope, const ::SelectStmt& select, bool resolveUnknowns);

} // namespace ouzel::sql
