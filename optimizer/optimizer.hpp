#pragma once
#include <memory>

#include "optimizer/query/context.hpp"

// From bound algebra to a plan: rewrite/ (simplify, unnest, push down, ...), join_order/, lower/.

namespace ouzel::optimizer {

/// Turns a bound query into a plan. A pure function of its arguments that any thread may call; no I/O, no globals.
/// REQUIRES: the engine has replaced parameters with known values by constants; any other Parameter is 0A000 unless the
/// plan is made for reuse. Throws SqlError only for unsupported constructs. The plan is valid for the snapshot of the
/// statistics (Plan::boundToSnapshot); only a plan made for reuse may run under later snapshots.
std::unique_ptr<sql::plan::Plan> optimize(sql::BoundQuery&& query, const OptimizerContext& context);

} // namespace ouzel::optimizer
