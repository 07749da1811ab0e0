#pragma once
#include <functional>

#include "optimizer/query/query.hpp"

namespace ouzel::optimizer {

/// Replaces every scan of `cte` below `with`, also in later CTEs, by a copy of the CTE's query.
void replaceCteScans(Rel& with, const sql::Cte& cte, Query& query);
/// Calls `visit` for every scan of `cte` in the tree, also in the CTE's own recursive term. The visitor may replace the
/// scan.
void forEachCteScan(RelPtr& tree, uint32_t cte, const std::function<void(RelPtr&)>& visit);

/// A predicate over the columns of `cte` that is true for every row that some scan of it in `tree` keeps. Null: all
/// rows have to be made. REQUIRES: the predicates of scans stand directly above them.
ExprPtr filterOfReaders(Rel& tree, const sql::Cte& cte, Query& query);

} // namespace ouzel::optimizer
