#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Appends what a star stands for: to `exprs` if it is given, to `targets` otherwise.
void expandStar(BindState& state, Scope& scope, const ::ColumnRef& star, std::vector<Target>& targets,
                std::vector<ExprPtr>* exprs);
/// An expression list in which `t.*` may stand: VALUES rows, ROW(...).
std::vector<ExprPtr> bindExpressionList(BindState& state, Scope& scope, const ::List* list, Clause clause);

/// `*` or `t.*`.
bool isStarRef(const ::Node* node);

} // namespace ouzel::sql
