#pragma once
#include <span>

#include "engine/core/session_core.hpp"

// DEFERRABLE constraints: checks that wait until COMMIT or SET CONSTRAINTS ... IMMEDIATE.

namespace ouzel::engine {

/// Run all deferred checks of the transaction.
void runDeferredChecks(SessionCore& core);
/// Run the deferred checks of the `chosen` constraints; empty: of all. After an error the checks not yet made stay
/// deferred.
void runDeferredChecks(SessionCore& core, std::span<const Oid> chosen);

} // namespace ouzel::engine
