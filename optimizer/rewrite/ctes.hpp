#pragma once
#include <functional>

#include "optimizer/query/query.hpp"

namespace ouzel::optimizer {

/// Replace every scan of `cte` below `with` (later CTEs included) by a copy of its query.
void replaceCteScans(Rel& with, const sql::Cte& cte, Query& query);
/// Every scan of `cte` in the tree, those of its own recursive term included.
void forEachCteScan(RelPtr& tree, uint32_t cte, const std::function<void(RelPtr&)>& visit);

} // namespace ouzel::optimizer
