#pragma once
#include <cstdint>
#include <functional>

namespace ouzel {

/// Call `body` on so many threads of their own, to which the system gives little time while others want it; return when
/// all have ended. The first exception is rethrown here. For long work that somebody waits for, but not urgently: the
/// threads must not hold locks that others need.
void runAtLowPriority(uint32_t threads, const std::function<void()>& body);

} // namespace ouzel
