#pragma once
#include "executor/operator/build.hpp"
#include "executor/operator/sort/sort_sink.hpp"
#include "executor/pipeline/plan_builder.hpp"

namespace ouzel::executor {

/// Adds the pipeline that sorts `node`'s child by `keys`, and returns the stage that reads the rows in order.
/// `offset` and `limit` may be null.
std::vector<Stage> buildSorted(PlanBuilder& builder, const sql::plan::Node& node, const std::vector<sql::SortKey>& keys,
                               const sql::Expr* limit, const sql::Expr* offset);

} // namespace ouzel::executor
