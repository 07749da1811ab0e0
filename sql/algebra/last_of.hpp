#pragma once
#include <vector>

#include "sql/algebra/expr.hpp"

namespace ouzel::sql {

/// `value`, when `others` have been computed as well, and might have failed.
ExprPtr lastOf(std::vector<ExprPtr> others, ExprPtr value);

} // namespace ouzel::sql
