#pragma once
#include <string>
#include <string_view>

#include "engine/core/session_core.hpp"

namespace ouzel::engine {

/// See executor::SessionFunctions.
std::string serverDirectory(SessionCore& core, std::string_view kind);
std::string serverFile(SessionCore& core, std::string_view path);

} // namespace ouzel::engine
