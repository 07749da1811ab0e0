#pragma once
#include <string>

#include "engine/core/session_core.hpp"

namespace ouzel::engine {

/// pg_stat_reset() and its kin, see SessionFunctions::resetStatistics().
void resetStatistics(SessionCore& core, const std::string& part, Oid object);
/// Writes the memory ledger to the server's log. False: there is no session `processId`.
bool logMemory(SessionCore& core, int32_t processId);

} // namespace ouzel::engine
