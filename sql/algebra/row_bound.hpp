#pragma once
#include "sql/algebra/expr.hpp"

namespace ouzel::sql {

/// The number of rows that LIMIT and OFFSET read: their sum, or the largest bigint where the sum is larger. A NULL
/// offset counts as 0, a NULL limit as no limit.
ExprPtr rowBound(ExprPtr limit, ExprPtr offset);

} // namespace ouzel::sql
