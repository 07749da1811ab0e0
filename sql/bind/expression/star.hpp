#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Appends the columns of `*` or `t.*` to `exprs`, or to `targets` if `exprs` is null.
void expandStar(BindState& state, Scope& scope, const ::ColumnRef& star, std::vector<Target>& targets,
                std::vector<ExprPtr>* exprs);
/// Whether the node stands for several expressions: `t.*` or `(row).*`; appends these to `exprs`.
bool expands(const ::Node* node);
void appendExpanded(BindState& state, Scope& scope, const ::Node* node, std::vector<ExprPtr>& exprs);
/// Binds an expression list that may contain such nodes: a row of VALUES, ROW(...).
std::vector<ExprPtr> bindExpressionList(BindState& state, Scope& scope, const ::List* list, Clause clause);

/// True for `*` and `t.*`.
bool isStarRef(const ::Node* node);

/// True for `(row).*`.
bool isRowStar(const ::Node* node);
/// The fields of the row as targets.
std::vector<Target> expandRowStar(BindState& state, Scope& scope, const ::A_Indirection& star);

} // namespace ouzel::sql
