#pragma once
#include <optional>
#include <span>
#include <string>

#include "engine/core/session_core.hpp"
#include "engine/program/run_routine.hpp"

// When the triggers of a statement fire. The binder has found them (sql/algebra/fired_triggers.hpp); the operator that
// writes has kept the rows (QueryExecution::triggered()). engine/definition/trigger makes them.

namespace ouzel::engine {

class QueryExecution;

/// See SessionServices.
void fireBefore(SessionCore& core, QueryExecution& query, const RunCommand& runCommand);
void fireAfter(SessionCore& core, QueryExecution& query, const RunCommand& runCommand);
void fireDeferred(SessionCore& core, const TransactionContext::DeferredTrigger& deferred, const RunCommand& runCommand);
std::optional<std::string> runRowTrigger(SessionCore& core, const executor::RowTriggerCall& call,
                                         const RunCommand& runCommand);
/// The triggers of TRUNCATE, of each of the tables.
void fireTruncate(SessionCore& core, std::span<const catalog::RelationPtr> tables, bool isBefore,
                  const RunCommand& runCommand);

} // namespace ouzel::engine
