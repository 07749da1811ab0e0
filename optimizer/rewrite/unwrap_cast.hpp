#pragma once
#include "optimizer/query/query.hpp"

namespace ouzel::optimizer {

/// Removes the cast from `cast(x) op constant` if the cast widens x: int4 -> int8, int -> numeric, date -> timestamp.
/// Zone maps, encoded predicates and statistics then apply to the plain column. Handles Compare and InList; any other
/// expression stays the same.
void unwrapCast(Expr& predicate);

} // namespace ouzel::optimizer
