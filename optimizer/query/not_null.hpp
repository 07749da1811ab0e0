#pragma once
#include "optimizer/query/query.hpp"

namespace ouzel::optimizer {

/// Columns of `rel`'s output that are NULL in no row: declared NOT NULL, computed without NULLs, or filtered by
/// predicates.
ColumnSet notNullColumns(const Rel& rel, const Query& query);
/// Columns that are not NULL in rows for which the predicate is true.
ColumnSet rejectedColumns(const Expr& predicate);
/// True if the expression gives no NULL for rows in which the columns of `notNull` are not NULL.
bool isNeverNull(const Expr& expr, const ColumnSet& notNull);
/// Whether conjuncts above a Single join compare its rows with a subquery that does not depend on them. The subquery's
/// one row can then be joined wherever it leaves out most rows. Only where a table is large: the subquery is evaluated,
/// and may fail, although there is no row to compare.
bool comparesWithValue(const Rel& rel, const std::vector<ExprPtr>& conjuncts, const Query& query);
/// Whether a conjunct above a Left join asks that a column of the right side be NULL which is not NULL in any row that
/// has a partner.
bool keepsOnlyPadded(const Rel& rel, const std::vector<ExprPtr>& conjuncts, const Query& query);

} // namespace ouzel::optimizer
