#pragma once
#include "common/type/session_format.hpp"
#include "executor/function/context.hpp"

namespace ouzel::executor {

/// The session's TimeZone; null is UTC.
inline const TimeZone* zoneOf(const FunctionContext& context) {
   return context.format ? context.format->zone : nullptr;
}

} // namespace ouzel::executor
