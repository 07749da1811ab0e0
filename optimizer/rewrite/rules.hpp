#pragma once
#include "optimizer/query/query.hpp"

// The rewrites, one file each, in the order optimize() runs them. Each keeps the meaning of the query and leaves every
// column id that is read above with its value.

namespace ouzel::optimizer {

/// Drop CTEs nobody reads, inline those read once (or NOT MATERIALIZED).
void inlineCtes(RelPtr& root, Query& query);
/// Casts of all rows of VALUES run above it.
void liftCasts(RelPtr& root, Query& query);
/// Fold constants, normalise predicates, take common conjuncts out of ORs, undo casts around columns.
void simplify(RelPtr& root, Query& query);
/// Replace every Subquery expression by a dependent join below the operator that has it.
void removeSubqueries(RelPtr& root, Query& query);
/// Replace every dependent join by ordinary ones (Neumann & Kemper 2015).
void unnest(RelPtr& root, Query& query);
/// INTERSECT and EXCEPT become joins.
void replaceSetOperations(RelPtr& root, Query& query);
/// Replace columns that only rename another column by that column, and drop what made them.
void removeAliases(RelPtr& root, Query& query, std::vector<sql::OutputColumn>& output);
/// Move predicates towards the scans, derive new ones, turn outer joins into simpler ones.
void pushDown(RelPtr& root, Query& query);
/// Smaller things: DISTINCT as GroupBy, order of aggregates' input, needless sorts, LIMIT below projections.
void tidy(RelPtr& root, Query& query);

/// Drop computations whose result is not read, and joins that cannot change anything.
void pruneColumns(RelPtr& root, const std::vector<sql::OutputColumn>& output, Query& query);
/// Sums that mix display scales, as sums that do not.
void splitSums(RelPtr& root, Query& query);
/// Compute repeated subexpressions once.
void shareSubexpressions(RelPtr& root, Query& query);
/// Run equal joins and aggregations once.
void shareSubplans(RelPtr& root, Query& query);
/// Order joins (join_order/).
void orderJoins(RelPtr& root, Query& query);
/// All of them, in order.
void rewrite(RelPtr& root, std::vector<sql::OutputColumn>& output, Query& query);

/// Simplify one expression in place; used on predicates that rewrites derive.
void simplifyExpr(ExprPtr& expr, Query& query);

} // namespace ouzel::optimizer
