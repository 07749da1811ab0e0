#pragma once
#include <string>
#include <vector>

#include "engine/core/session_core.hpp"

// SQL of the server's own, which runs inside the session's transaction: checks and actions of constraints, ALTER TABLE.

namespace ouzel::engine {

/// Runs a query and returns its rows.
std::vector<std::vector<Value>> runInternal(SessionCore& core, const std::string& sql);
/// The same into a sink, which also learns the columns.
void runInternal(SessionCore& core, const std::string& sql, ResultSink& sink);
/// As runInternal(), over the newest committed rows in every isolation level: for checks of all rows of a table that
/// this transaction has locked.
std::vector<std::vector<Value>> runOnNewest(SessionCore& core, const std::string& text);
/// Runs an INSERT, UPDATE or DELETE with its constraints and referential actions.
void runModification(SessionCore& core, const std::string& sql);

} // namespace ouzel::engine
