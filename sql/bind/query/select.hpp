#pragma once
#include "sql/bind/state/nested_query.hpp"

namespace ouzel::sql {

/// Puts set-returning functions of the select list into the tree, row by row.
RelPtr placeSrfs(Scope& scope, RelPtr rel, std::vector<TargetSrf> srfs);
/// Turn target expressions into columns of a Map.
RelPtr placeTargets(BindState& state, Scope& scope, RelPtr rel, std::vector<Target>& targets);
/// Makes the visible targets the query's output.
void setOutput(const BindState& state, BoundRel& query, const std::vector<Target>& targets);
/// ORDER BY and LIMIT over finished columns of VALUES and set operations.
void bindOrderOverOutput(BindState& state, Scope& scope, const ::SelectStmt& select, BoundRel& rel);

} // namespace ouzel::sql
