#pragma once
#include "sql/algebra/expr.hpp"

namespace ouzel::sql {

/// Whether the value is NULL as soon as an argument is.
bool isStrict(const Expr& expr);
/// Whether the value is NULL whatever its columns are, since a strict function gets a NULL constant. As in PostgreSQL,
/// the other arguments are not computed then.
bool isKnownNull(const Expr& expr);
/// Puts NULL in the place of all such parts.
void foldKnownNulls(ExprPtr& root);

} // namespace ouzel::sql
