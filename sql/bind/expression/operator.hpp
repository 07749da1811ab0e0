#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// `left op right` of bound operands; `left` null: a prefix operator. Throws 42883, 42725.
ExprPtr makeOperator(BindState& state, std::string_view name, ExprPtr left, ExprPtr right, uint32_t position);
/// Comparison of rows, expanded column by column.
ExprPtr compareRows(BindState& state, std::string_view name, std::vector<ExprPtr> left, std::vector<ExprPtr> right,
                    uint32_t position);
/// Any A_Expr: operators, IN, BETWEEN, LIKE, IS DISTINCT FROM, NULLIF, op ANY (array).
ExprPtr bindOperator(BindState& state, Scope& scope, const ::A_Expr& node);

} // namespace ouzel::sql
