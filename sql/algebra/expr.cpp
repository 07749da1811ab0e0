#include "sql/algebra/expr.hpp"

#include "sql/algebra/rel.hpp"

namespace ouzel::sql {

Expr::Expr(ExprKind k, const SqlType& t) : kind(k), type(t), repr(storedRepresentation(t)) {}

Expr::~Expr() = default; // here, where Rel is complete

} // namespace ouzel::sql
