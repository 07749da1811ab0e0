#pragma once
#include <cstddef>
#include <string>

namespace ouzel {

/// Bytes of memory that the process may use: the machine's, or less when a control group around it has a lower limit,
/// as those of containers and of systemd's MemoryMax have (cgroup v2). `root` stands before /proc and /sys, for tests.
size_t machineMemory(const std::string& root = "");

} // namespace ouzel
