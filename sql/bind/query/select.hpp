#pragma once
#include "sql/bind/state/nested_query.hpp"

namespace ouzel::sql {

/// Puts ProjectSets with the set-returning functions of the select list over `rel`.
RelPtr placeSrfs(Scope& scope, RelPtr rel, std::vector<TargetSrf> srfs);
/// Puts a Map over `rel` that computes the targets, and sets their columns.
RelPtr placeTargets(BindState& state, Scope& scope, RelPtr rel, std::vector<Target>& targets,
                    Stage stage = Stage::Early);
/// Makes the visible targets the query's output.
void setOutput(const BindState& state, BoundRel& query, const std::vector<Target>& targets);
/// Binds ORDER BY and LIMIT of VALUES or a set operation. ORDER BY of a set operation may only name output columns.
void bindOrderOverOutput(BindState& state, Scope& scope, const ::SelectStmt& select, BoundRel& rel);

} // namespace ouzel::sql
