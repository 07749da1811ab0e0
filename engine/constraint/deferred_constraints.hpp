#pragma once
#include <span>

#include "engine/core/session_core.hpp"

// DEFERRABLE constraints: checks that wait until COMMIT or SET CONSTRAINTS ... IMMEDIATE.

namespace ouzel::engine {

/// Checks what statements have left to the end of the transaction.
void runDeferredChecks(SessionCore& core);
/// The same of the `chosen` constraints only; none chosen: of all. Checks that were not reached stay deferred.
void runDeferredChecks(SessionCore& core, std::span<const Oid> chosen);

} // namespace ouzel::engine
