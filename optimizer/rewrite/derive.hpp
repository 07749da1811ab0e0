#pragma once
#include "optimizer/query/query.hpp"

// Derives predicates from other predicates.

namespace ouzel::optimizer {

/// The predicate over columns of `side` alone that a disjunction implies: (a.x = 1 AND b.y = 2) OR (a.x = 3 AND b.y =
/// 4) implies a.x = 1 OR a.x = 3. Null if there is none.
ExprPtr impliedBy(const Expr& conjunct, const ColumnSet& side);

/// Adds predicates that follow from equalities to the conjuncts of a tree of inner joins: a = b AND b < 5 gives a < 5.
/// Predicates of scans below `tree` also count as conjuncts.
void deriveFromEqualities(std::vector<ExprPtr>& conjuncts, const Rel& tree, const Query& query);

/// Derives predicates for the right side of a one-sided join: if ON has a left column = a right column, a predicate of
/// the left column holds for the right column.
std::vector<ExprPtr> deriveForRight(const std::vector<ExprPtr>& on, const std::vector<ExprPtr>& leftConjuncts,
                                    const Rel& left, const ColumnSet& right, const Query& query);

} // namespace ouzel::optimizer
