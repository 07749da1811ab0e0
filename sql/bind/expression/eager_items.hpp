#pragma once
#include <vector>

#include "sql/algebra/expr.hpp"

namespace ouzel::sql {

/// Copies of the items that may fail of x = ANY (ARRAY[items]): PostgreSQL computes all items before it compares, also
/// those behind the one that is found.
std::vector<ExprPtr> eagerItems(const std::vector<ExprPtr>& items);

} // namespace ouzel::sql
