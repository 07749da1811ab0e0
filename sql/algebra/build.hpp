#pragma once
#include <cstdint>
#include <vector>

#include "sql/algebra/rel.hpp"

// Short ways to build algebra, for the binder and for rewrites.

namespace ouzel::sql {

ExprPtr makeTyped(ExprKind kind, const SqlType& type, uint32_t position = 0);
/// `arg` under a test of one argument: NOT, IS NULL, ...
ExprPtr makeTest(ExprKind kind, ExprPtr arg);
/// lhs AND rhs; either may be null.
ExprPtr conjunction(ExprPtr lhs, ExprPtr rhs);
std::vector<ExprPtr> conjunctsOf(ExprPtr predicate); ///< empty for null and for true
/// The predicates that AND joins; the predicate itself when it is no AND, none for null.
std::vector<const Expr*> conjunctList(const Expr* predicate);

RelPtr oneRow();             ///< one row without columns
bool isUnit(const Rel& rel); ///< whether it is oneRow()
/// The input itself when the predicate is null or true; one Select for two predicates, one after the other.
RelPtr makeSelect(RelPtr input, ExprPtr predicate);
RelPtr makeSelect(RelPtr input, std::vector<ExprPtr> conjuncts);
/// The input itself when nothing is computed.
RelPtr makeMap(RelPtr input, std::vector<ComputedColumn> computed);
RelPtr makeJoin(JoinKind kind, RelPtr left, RelPtr right, ExprPtr predicate);

} // namespace ouzel::sql
