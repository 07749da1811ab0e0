#pragma once
#include "optimizer/query/query.hpp"

namespace ouzel::optimizer {

/// `cast(x) op constant` without the cast where it widens x: int4 -> int8, int -> numeric, date -> timestamp. Then zone
/// maps, encoded predicates and statistics see a plain column. Compare and InList; others are left alone.
void unwrapCast(Expr& predicate);

} // namespace ouzel::optimizer
