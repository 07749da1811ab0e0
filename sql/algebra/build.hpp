#pragma once
#include <cstdint>
#include <vector>

#include "sql/algebra/rel.hpp"

// Constructors of common operators and predicates, for the binder and for rewrites.

namespace ouzel::sql {

ExprPtr makeTyped(ExprKind kind, const SqlType& type, uint32_t position = 0);
/// `columns` are those of `query`, as listed at scalar::Subquery.
ExprPtr makeSubquery(SubqueryKind kind, const SqlType& type, RelPtr query, std::vector<ColumnId> columns,
                     uint32_t position = 0);
/// `arg` under a test of one argument: NOT, IS NULL, ...
ExprPtr makeTest(ExprKind kind, ExprPtr arg);
/// lhs AND rhs; either may be null.
ExprPtr conjunction(ExprPtr lhs, ExprPtr rhs);
std::vector<ExprPtr> conjunctsOf(ExprPtr predicate); ///< empty for null and for true
/// The operands of an AND. A predicate that is no AND gives itself; null gives an empty list.
std::vector<const Expr*> conjunctList(const Expr* predicate);

RelPtr oneRow();             ///< one row without columns
bool isUnit(const Rel& rel); ///< whether it is oneRow()
/// The rows of `input` for which the predicate is true. A null or true predicate gives the input itself. A Select over
/// a Select becomes one Select.
RelPtr makeSelect(RelPtr input, ExprPtr predicate);
RelPtr makeSelect(RelPtr input, std::vector<ExprPtr> conjuncts);
/// `input` with computed columns; the input itself when `computed` is empty.
RelPtr makeMap(RelPtr input, std::vector<ComputedColumn> computed);
RelPtr makeJoin(JoinKind kind, RelPtr left, RelPtr right, ExprPtr predicate);

} // namespace ouzel::sql
