#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// An element of ORDER BY: the index of its target, and the direction.
struct OrderElement {
   uint32_t target;
   bool descending, nullsFirst;
};

/// Index of the target for an element of ORDER BY, GROUP BY or DISTINCT ON by SQL-92's rules. The element is an
/// output's name, an ordinal, or an expression; an expression that is no target yet becomes a hidden target.
uint32_t findTargetSql92(BindState& state, Scope& scope, const ::Node* node, std::vector<Target>& targets,
                         Clause clause);
/// Binds ORDER BY. Each element is one of `targets`; an expression that is no target yet becomes a hidden target.
std::vector<OrderElement> bindOrderBy(BindState& state, Scope& scope, const ::List* list, std::vector<Target>& targets,
                                      Clause clause);
/// Binds DISTINCT ON; gives indexes of targets. Appends to `order` the targets that ORDER BY does not have.
std::vector<uint32_t> bindDistinctOn(BindState& state, Scope& scope, const ::SelectStmt& select,
                                     std::vector<Target>& targets, std::vector<OrderElement>& order);

} // namespace ouzel::sql
