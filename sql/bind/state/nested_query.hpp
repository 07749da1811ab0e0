#pragma once
#include <span>

#include "sql/bind/state/bind_state.hpp"

// The recursion of the grammar: queries stand in expressions, and statements that write in WITH.

namespace ouzel::sql {

/// Any query: SELECT, VALUES, set operation, with its WITH. `parent`: the scope around it, null for none. `assignTo`:
/// types that unknown literals take (INSERT). query/select.cpp.
BoundRel bindSelect(BindState& state, const ::SelectStmt& select, Scope* parent, std::span<const SqlType> assignTo = {},
                    bool resolveUnknowns = true);
/// Any of INSERT, UPDATE, DELETE, MERGE. `parent`: of a WITH query, else null. dml/dml.cpp.
BoundRel bindDml(BindState& state, const ::Node& statement, Scope* parent);

} // namespace ouzel::sql
