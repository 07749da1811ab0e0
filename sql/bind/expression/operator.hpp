#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// `left op right` of bound operands; `left` null: a prefix operator. Throws 42883, 42725.
ExprPtr makeOperator(BindState& state, std::string_view name, ExprPtr left, ExprPtr right, uint32_t position);
/// Whether the operator of bound operands is one of a user, or of an extension: then makeOperator() gives any
/// expression that its function is, not a comparison of the operands.
bool isUserOperator(std::string_view name, const Expr& left, const Expr& right);
/// Compares two rows with the operator `name`: an expression over comparisons of the columns.
ExprPtr compareRows(BindState& state, const Scope& scope, std::string_view name, std::vector<ExprPtr> left,
                    std::vector<ExprPtr> right, uint32_t position);
/// `left op ANY (array)`, or ALL, of bound operands.
ExprPtr makeAnyArray(BindState& state, std::string_view name, ExprPtr left, ExprPtr right, bool isAll,
                     uint32_t position);
/// Binds an A_Expr: operators, IN, BETWEEN, LIKE, IS DISTINCT FROM, NULLIF, op ANY (array).
ExprPtr bindOperator(BindState& state, Scope& scope, const ::A_Expr& node);

} // namespace ouzel::sql
