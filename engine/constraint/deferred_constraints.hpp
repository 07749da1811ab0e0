#pragma once
#include <string>

#include "engine/command/command.hpp"

// DEFERRABLE constraints: checks that wait until COMMIT or SET CONSTRAINTS ... IMMEDIATE.

struct ConstraintsSetStmt;

namespace ouzel::engine {

/// Check what statements have left to the end of the transaction.
void runDeferredChecks(SessionCore& core);
std::string setConstraints(CommandContext& context, const ::ConstraintsSetStmt& statement);

} // namespace ouzel::engine
