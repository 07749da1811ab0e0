#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// An ORDER BY element: which target, and which way.
struct OrderElement {
   uint32_t target;
   bool descending, nullsFirst;
};

/// The target that an element of ORDER BY, GROUP BY or DISTINCT ON means as SQL-92 has it: an output's name, an
/// ordinal, or else an expression, for which a hidden target is added.
uint32_t findTargetSql92(BindState& state, Scope& scope, const ::Node* node, std::vector<Target>& targets,
                         Clause clause);
/// ORDER BY, in terms of the targets, to which it may add hidden ones.
std::vector<OrderElement> bindOrderBy(BindState& state, Scope& scope, const ::List* list, std::vector<Target>& targets,
                                      Clause clause);
/// DISTINCT ON: indexes of targets; `order` gets what ORDER BY leaves open.
std::vector<uint32_t> bindDistinctOn(BindState& state, Scope& scope, const ::SelectStmt& select,
                                     std::vector<Target>& targets, std::vector<OrderElement>& order);

} // namespace ouzel::sql
