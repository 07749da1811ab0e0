#pragma once
#include <optional>
#include <vector>

#include "engine/command/explain_document.hpp"
#include "engine/core/session_core.hpp"
#include "executor/pipeline/query_context.hpp"
#include "sql/plan/plan.hpp"

namespace ouzel::engine {

struct ExplainOptions {
   bool analyze = false, costs = true, verbose = false, wal = false, settings = false;
   std::optional<bool> timingGiven, summaryGiven;
   ExplainFormat format = ExplainFormat::Text;

   bool timing() const { return timingGiven.value_or(analyze); }
   bool summary() const { return summaryGiven.value_or(analyze); }
};

/// The operators of a plan as EXPLAIN shows them: with the names and properties that PostgreSQL gives to operators of
/// this kind, so that programs which draw its plans draw these. `profile`: what a run has measured, in the order of
/// QueryExecution::profile(); null: it has not run.
ExplainNode explainPlan(SessionCore& core, const sql::plan::Plan& plan, const ExplainOptions& options,
                        const std::vector<executor::OperatorProfile>* profile);

} // namespace ouzel::engine
