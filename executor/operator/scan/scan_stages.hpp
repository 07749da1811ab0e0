#pragma once
#include "executor/pipeline/plan_builder.hpp"

namespace ouzel::executor {

/// The table columns that a scan reads, in the order of scan.columns.
std::vector<sql::ColumnId> scanLayout(const sql::plan::Scan& scan);
/// The stages of a scan whose source gives scanLayout(): the source, a filter for the node's predicates, and a pick of
/// the output columns.
std::vector<Stage> stagesOfScan(PlanBuilder& builder, const sql::plan::Node& node, Source* source);

} // namespace ouzel::executor
