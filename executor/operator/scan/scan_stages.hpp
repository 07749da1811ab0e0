#pragma once
#include "executor/pipeline/plan_builder.hpp"

namespace ouzel::executor {

/// The columns of a scan's table that it reads, in the order of node.scanColumns.
std::vector<sql::ColumnId> scanLayout(const sql::plan::Node& node);
/// Stages of a scan whose source gives scanLayout(): the source, the node's predicates, and the columns of its output.
std::vector<Stage> stagesOfScan(PlanBuilder& builder, const sql::plan::Node& node, Source* source);

} // namespace ouzel::executor
