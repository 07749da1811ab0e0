#pragma once
#include <cstdint>
#include <functional>

namespace ouzel {

/// Call `body` on so many threads of their own, or fewer when the system has no more; return when all have ended. The
/// first exception is rethrown here. For work that waits for devices, which the workers of a TaskRunner should not.
void runOnThreads(uint32_t threads, const std::function<void()>& body);

} // namespace ouzel
