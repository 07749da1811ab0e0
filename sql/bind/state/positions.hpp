#pragma once
#include <cstdint>
#include <functional>

#include "sql/algebra/rel.hpp"

// Positions of expressions in the statement's text, for errors.

namespace ouzel::sql {

/// The leftmost position in an expression: the place where its text begins.
uint32_t startOf(const Expr& expr);
/// Position of the first column in the expression (or its subqueries) that `matches`; 0 if there is none.
uint32_t positionOfColumn(const Expr& expr, const std::function<bool(ColumnId)>& matches);

} // namespace ouzel::sql
