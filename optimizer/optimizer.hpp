#pragma once
#include <memory>

#include "optimizer/query/context.hpp"

// From bound algebra to a plan. The way: rewrite/ (simplify, unnest, push down, ...), join_order/, lower/.
// A pure function of its arguments: no I/O, no globals, any thread.

namespace ouzel::optimizer {

/// Turn a bound query into a plan. REQUIRES: parameters whose values are known have been replaced by constants; a
/// Parameter that is left is 0A000 unless the plan is made for reuse. Throws SqlError only for what cannot be
/// supported. The plan is valid for the snapshot the statistics are of (Plan::boundToSnapshot) and must not be cached
/// beyond it, unless it is made for reuse.
std::unique_ptr<sql::plan::Plan> optimize(sql::BoundQuery&& query, const OptimizerContext& context);

} // namespace ouzel::optimizer
