#pragma once
#include "optimizer/query/query.hpp"

// Predicates that follow from others.

namespace ouzel::optimizer {

/// What a disjunction says of the columns in `side` alone: (a.x = 1 AND b.y = 2) OR (a.x = 3 AND b.y = 4) implies
/// a.x = 1 OR a.x = 3. Null when it says nothing.
ExprPtr impliedBy(const Expr& conjunct, const ColumnSet& side);

/// Add to the conjuncts of a tree of inner joins what equalities carry over: a = b AND b < 5 gives a < 5. Predicates
/// that scans below `tree` already have count as known.
void deriveFromEqualities(std::vector<ExprPtr>& conjuncts, const Rel& tree, const Query& query);

/// The same for ON of a one-sided join: what the left side is known to satisfy, for right columns that equal it.
std::vector<ExprPtr> deriveForRight(const std::vector<ExprPtr>& on, const std::vector<ExprPtr>& leftConjuncts,
                                    const Rel& left, const ColumnSet& right, const Query& query);

} // namespace ouzel::optimizer
