#pragma once
#include "optimizer/query.hpp"

namespace ouzel::optimizer {

/// Replace every scan of `cte` below `with` (later CTEs included) by a copy of its query.
void replaceCteScans(Rel& with, const sql::Cte& cte, Query& query);

} // namespace ouzel::optimizer
