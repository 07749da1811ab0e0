#pragma once
#include <memory>

#include "executor/function/session_functions.hpp"

namespace ouzel::engine {

class SessionCore;

/// The session's interface for SQL functions. The core outlives it.
std::unique_ptr<executor::SessionFunctions> makeSessionFunctions(SessionCore& core);

} // namespace ouzel::engine
