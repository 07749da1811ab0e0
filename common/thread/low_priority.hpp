#pragma once
#include <cstdint>
#include <functional>

namespace ouzel {

/// Call `body` on `threads` new threads of low priority; return when all have ended. The first exception is rethrown
/// here. For long work whose caller waits without hurry. The threads must not hold mutexes that threads of normal
/// priority need.
void runAtLowPriority(uint32_t threads, const std::function<void()>& body);

} // namespace ouzel
