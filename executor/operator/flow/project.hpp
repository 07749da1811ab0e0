#pragma once
#include "executor/pipeline/plan_builder.hpp"

namespace ouzel::executor {

/// An operator that gives columns `to` of batches with columns `from`.
StreamingOperator* makeColumnPick(PlanBuilder& builder, const std::vector<sql::ColumnId>& from,
                                  const std::vector<sql::ColumnId>& to);

/// An operator that keeps the rows for which all predicates are true.
StreamingOperator* makeFilter(PlanBuilder& builder, const std::vector<sql::ExprPtr>& predicates,
                              const std::vector<sql::ColumnId>& layout);

} // namespace ouzel::executor
