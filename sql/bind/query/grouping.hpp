#pragma once
#include "sql/bind/query/window.hpp"
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// A bound GROUP BY: grouping keys and grouping sets.
struct Grouping {
   bool isGrouped = false;
   std::vector<uint32_t> keyTargets;        ///< indexes of targets
   std::vector<std::vector<uint32_t>> sets; ///< indexes into keyTargets; empty: one set of all keys
   bool hasSets = false;
};

/// Binds GROUP BY. Each key is one of `targets`; a key that is no target yet becomes a hidden target.
Grouping bindGroupBy(BindState& state, Scope& scope, const ::SelectStmt& select, std::vector<Target>& targets);
/// Puts a GroupBy over `rel`, and rewrites the expressions above (targets, HAVING, windows) in terms of its columns.
/// Throws 42803.
RelPtr placeGrouping(BindState& state, Scope& scope, RelPtr rel, Grouping grouping, std::vector<Target>& targets,
                     ExprPtr& having, std::vector<BoundWindow>& windows);

} // namespace ouzel::sql
