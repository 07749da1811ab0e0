#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "engine/core/session_core.hpp"
#include "engine/core/trigger_call.hpp"

// Trigger functions that need no program.

namespace ouzel::engine {

/// Whether triggers may call the built-in function.
bool isBuiltinTrigger(std::string_view name);
/// The row that the function gives; none: the row is left out. `name`: isBuiltinTrigger(). Throws 39P01 if the trigger
/// fires at another time than the function expects.
std::optional<std::string> runBuiltinTrigger(SessionCore& core, std::string_view name, const TriggerCall& call);

} // namespace ouzel::engine
