#pragma once
#include <vector>

#include "executor/pipeline/operator.hpp"
#include "executor/schedule/query_progress.hpp"

namespace ouzel::executor {

/// A plan's nodes by the number of their profile.
std::vector<const sql::plan::Node*> nodesByProfile(const sql::plan::Node& root);

/// What a pipeline's sink collects.
QueryProgress::Collecting expectedRows(const Pipeline& pipeline, const std::vector<const sql::plan::Node*>& nodes);
/// What a pipeline's stages read, and what they cost by the plan's estimates. A node whose operators are in two
/// pipelines, as a join's, divides its cost between them.
std::vector<QueryProgress::Stage> expectedStages(const Pipeline& pipeline,
                                                 const std::vector<const sql::plan::Node*>& nodes);

} // namespace ouzel::executor
