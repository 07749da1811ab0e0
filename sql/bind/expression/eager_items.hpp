#pragma once
#include <vector>

#include "sql/algebra/expr.hpp"

namespace ouzel::sql {

/// Copies of what may fail in x = ANY (ARRAY[items]), where an item does: PostgreSQL computes x and then all items
/// before it compares, also those behind the one that is found.
std::vector<ExprPtr> eagerItems(const Expr& left, const std::vector<ExprPtr>& items);

} // namespace ouzel::sql
