#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "engine/core/session_core.hpp"
#include "engine/core/trigger_call.hpp"

namespace ouzel::engine {

/// tsvector_update_trigger() and tsvector_update_trigger_column().
bool isTextSearchTrigger(std::string_view name);
/// The new row, whose tsvector column has the words of its text columns.
std::optional<std::string> runTextSearchTrigger(SessionCore& core, std::string_view name, const TriggerCall& call);

} // namespace ouzel::engine
