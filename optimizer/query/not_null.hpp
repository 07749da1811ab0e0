#pragma once
#include "optimizer/query/query.hpp"

namespace ouzel::optimizer {

/// Columns of `rel`'s output that are NULL in no row: declared so, computed so, or kept so by predicates.
ColumnSet notNullColumns(const Rel& rel, const Query& query);
/// True when the expression gives no NULL for rows in which `notNull` are not NULL.
bool isNeverNull(const Expr& expr, const ColumnSet& notNull);

} // namespace ouzel::optimizer
