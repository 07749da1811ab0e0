#pragma once
#include "optimizer/query/query.hpp"

// The rewrites, one file each. optimizer.cpp has their order. Invariants: a rewrite keeps the query's result, and every
// column id that operators above read keeps its value.

namespace ouzel::optimizer {

/// Drops CTEs without readers, and inlines CTEs that are read once or are NOT MATERIALIZED.
void inlineCtes(RelPtr& root, Query& query);
/// Inlines CTEs that join stored tables and give more rows than those have: a reader's predicates, and runtime filters,
/// then leave out most of them. True: pushDown() has new predicates to move.
bool inlineExpandingCtes(RelPtr& root, Query& query);
/// Moves a cast that all rows of a VALUES share into a Map above the VALUES.
void liftCasts(RelPtr& root, Query& query);
/// Folds constants, normalises predicates, factors common conjuncts out of ORs, removes casts around columns.
void simplify(RelPtr& root, Query& query);
/// Replaces accesses to stored documents by columns that the scans give (GetPath). Before subqueries are unnested:
/// their joins then carry the value of an access, not its document.
void readPaths(RelPtr& root, Query& query);
/// Replaces every Subquery expression by a dependent join below the operator that has the expression.
void removeSubqueries(RelPtr& root, Query& query);
/// Replaces arrays and jsonb in GROUP BY, DISTINCT, set operations and PARTITION BY by their order keys. Needed for
/// right answers. Before unnest(), whose own keys, the columns of outer queries, are compared by their bytes.
void encodeGroups(RelPtr& root, Query& query);
/// Replaces every dependent join by ordinary joins (Neumann & Kemper 2015).
void unnest(RelPtr& root, Query& query);
/// Replaces INTERSECT and EXCEPT by joins.
void replaceSetOperations(RelPtr& root, Query& query);
/// Replaces one of them. `encodesKeys`: arrays and jsonb are compared by their order keys, not by their bytes.
void replaceSetOperation(RelPtr& rel, bool encodesKeys, Query& query);
/// Replaces arrays and jsonb in ORDER BY by their order keys (query/order_key.hpp). Needed for right answers.
void encodeOrders(RelPtr& root, Query& query);
/// Replaces a = b over arrays or jsonb by a comparison of order keys, by which joins can hash.
void encodeEqualities(RelPtr& root, const Query& query);
/// Replaces a column that only renames another column by that column, and drops its computation.
void removeAliases(RelPtr& root, Query& query, std::vector<sql::OutputColumn>& output);
/// Moves predicates towards the scans, derives new predicates, turns outer joins into simpler joins.
void pushDown(RelPtr& root, Query& query);
/// Makes scans of foreign tables scans of the other server's tables. Throws 55000 if the query reads or writes a
/// foreign table whose wrapper has no code, 0A000 if there is no code for what it does. Of the partitions or heirs of a
/// table, those count that prunePartitions() leaves.
void readForeignTables(RelPtr& root);
/// Leaves out partitions without rows that satisfy the predicates of their scan.
void prunePartitions(RelPtr& root);
void requireHandlersOfParts(Rel& root);
/// Gives aggregates and row numbers over ordered rows that order as their own. Before unnest(), whose joins keep none.
void keepOrders(sql::Rel& root);
/// Small rewrites of order, duplicates and limits: drops sorts and DISTINCTs without effect, moves LIMIT below
/// projections, gives aggregates the order of their input.
void tidy(RelPtr& root, Query& query);

/// Drops computations without readers, and joins without effect.
void pruneColumns(RelPtr& root, const std::vector<sql::OutputColumn>& output, Query& query);
/// Replaces a sum over values of several display scales by sums over values of one display scale.
void splitSums(RelPtr& root, Query& query);
/// Replaces sums of a column plus or times constants by computations over one sum and one count of the column.
void liftAddends(RelPtr& root, Query& query);
/// Computes a repeated subexpression of an operator once.
void shareSubexpressions(RelPtr& root, Query& query);
/// Runs equal joins and aggregations of a query once.
void shareSubplans(RelPtr& root, Query& query);
/// Takes keys of a GroupBy away that follow from other keys, and computes them for each group.
void dropDeterminedKeys(RelPtr& root, Query& query);
/// Joins a relation of one row with groups instead of with the rows that are grouped.
void liftSingleRows(RelPtr& root, Query& query);
/// Groups by keys and value first where aggregates are of DISTINCT values, so that one grouping follows the other.
void distinctFirst(RelPtr& root, Query& query);
/// Computes averages above a LIMIT with an order that does not read them.
void lateAverages(RelPtr& root, Query& query);
/// Aggregates only the rows of the groups that a LIMIT without an order gives.
void limitGroups(RelPtr& root, Query& query);
/// Finds the least and largest values of a table's columns by ORDER BY ... LIMIT 1, which reads few row groups.
void orderExtremes(RelPtr& root, Query& query);
/// Groups below joins where that leaves fewer rows to group by many columns, or by texts.
void groupEarly(RelPtr& root, Query& query);
/// Groups by numbers of the texts that a small side of a join gives, instead of by the texts.
void numberKeys(RelPtr& root, Query& query);
/// Computes grouping sets from finer grouping sets where the rows are many more than the groups.
void rollUp(RelPtr& root, Query& query);
/// Chooses the order of joins (join_order/).
void orderJoins(RelPtr& root, Query& query);
/// Runs all rewrites in their order.
void rewrite(RelPtr& root, std::vector<sql::OutputColumn>& output, Query& query);

/// Simplifies one expression in place. Rewrites use it for predicates that they derive.
void simplifyExpr(ExprPtr& expr, Query& query);

} // namespace ouzel::optimizer
