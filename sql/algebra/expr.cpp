#include "sql/algebra/expr.hpp"

#include "sql/algebra/rel.hpp"

namespace ouzel::sql {

Expr::~Expr() = default; // here, where Rel is complete

} // namespace ouzel::sql
