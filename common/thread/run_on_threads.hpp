#pragma once
#include <cstdint>
#include <functional>

namespace ouzel {

/// Call `body` on `threads` new threads, or on fewer when the system has no more (on the caller's when it has none);
/// return when all have ended. The first exception is rethrown here. For work that waits for devices, which the workers
/// of a TaskRunner should not do.
void runOnThreads(uint32_t threads, const std::function<void()>& body);

} // namespace ouzel
