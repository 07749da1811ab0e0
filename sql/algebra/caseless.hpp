#pragma once
#include "common/base_type/citext.hpp"
#include "sql/algebra/expr.hpp"

// Texts that are compared without regard to case: comparisons of citext compare lower() of the operands, as it is under
// the default collation.

namespace ouzel::sql {

/// lower() of a citext, as a text.
ExprPtr lowered(ExprPtr value);
/// The same of each element of a citext[], as a text[].
ExprPtr loweredElements(ExprPtr array);

} // namespace ouzel::sql
