#pragma once
#include <span>

#include "sql/bind/state/bind_state.hpp"

// The recursion of the grammar: expressions contain queries, and WITH contains statements that write.

namespace ouzel::sql {

/// Binds a query with its WITH: SELECT, VALUES or a set operation. `parent`: the enclosing scope or null. `assignTo`:
/// for INSERT, the types that unknown literals of the select list take. `resolveUnknowns`: other unknown literals
/// become text. Implemented in query/select.cpp.
BoundRel bindSelect(BindState& state, const ::SelectStmt& select, Scope* parent, std::span<const SqlType> assignTo = {},
                    bool resolveUnknowns = true);
/// Binds INSERT, UPDATE, DELETE or MERGE. `parent`: the scope around a WITH query, else null. Implemented in
/// dml/dml.cpp.
BoundRel bindDml(BindState& state, const ::Node& statement, Scope* parent);

} // namespace ouzel::sql
