#pragma once
#include "optimizer/query/query.hpp"

namespace ouzel::optimizer {

/// True for types whose casts from and to text depend on the value only, not on settings of the session.
bool isPureText(Oid type);
/// The value of an expression whose operands are constants, as a constant. Null if there is no evaluator, or the value
/// has another representation than values of its type. Throws the errors of the evaluation.
ExprPtr constantValue(const Expr& expr, Query& query);
/// Whether a constant is short enough to stand in a plan instead of `expr`: what a plan takes stays in proportion to
/// the text of its statement.
bool mayReplace(const Expr& expr, const Expr& constant);

/// Raises the errors of constant expressions, as PostgreSQL's planner does before any row is read: SELECT 1 / 0 FROM t
/// fails over an empty table, too. If the optimizer is enabled, constants take the place of expressions.
void raiseConstantErrors(Rel& root, const std::vector<sql::OutputColumn>& output, Query& query);

} // namespace ouzel::optimizer
