#pragma once
#include "sql/bind/query/window.hpp"
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// What GROUP BY says.
struct Grouping {
   bool isGrouped = false;
   std::vector<uint32_t> keyTargets;        ///< indexes of targets
   std::vector<std::vector<uint32_t>> sets; ///< indexes into keyTargets; empty: one set of all
   bool hasSets = false;
};

/// Binds GROUP BY, in terms of the targets, to which it may add hidden ones.
Grouping bindGroupBy(BindState& state, Scope& scope, const ::SelectStmt& select, std::vector<Target>& targets);
/// Put the GroupBy into the tree and rewrite everything above it in terms of its columns. Throws 42803.
RelPtr placeGrouping(BindState& state, Scope& scope, RelPtr rel, Grouping grouping, std::vector<Target>& targets,
                     ExprPtr& having, std::vector<BoundWindow>& windows);

} // namespace ouzel::sql
