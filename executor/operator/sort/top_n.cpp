#include "executor/operator/build.hpp"
#include "executor/operator/sort/sort.hpp"

// ORDER BY ... LIMIT: a sort whose runs drop rows that cannot be among the first offset + limit rows.

namespace ouzel::executor {

std::vector<Stage> buildTopN(PlanBuilder& builder, const sql::plan::Node& node) {
   const auto& plan = node.as<sql::plan::TopN>();
   return buildSorted(builder, node, plan.keys, plan.limit.get(), plan.offset.get());
}

} // namespace ouzel::executor
