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

} // namespace ouzel::optimizer
