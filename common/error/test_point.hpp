#pragma once
#include <atomic>

// Named places where a test can end the process or make an operation fail: `OUZEL_TEST_POINTS` in the environment lists
// them as `<name>=<action>[@<when>]`, separated by ';'. Actions: `kill` (SIGKILL to this process), `stop` (SIGSTOP),
// `enospc`, `eio`.
// When: the n-th time it is reached (`@3`; the first if nothing is said), or as long as a file exists
// (`@/path/to/file`). The file may say more, so that one process can be tried at many moments: `<n>
// <action> <anything>` acts the n-th time the point is reached since the file says so. Two more actions are for this
// form: `hold` makes the file `/path/to/file.held` and lets the thread wait until the first file is gone; `count`
// writes to
// `/path/to/file.count`, every time, how often that was.
//
// Off, a point costs the load of a flag that never changes.

namespace ouzel::test_point {

extern std::atomic<bool> isArmed;

/// Slow path: what the test wants at this point, 0 or an errno.
[[gnu::cold]] int reached(const char* name);

inline int passed(const char* name) {
   return __builtin_expect(isArmed.load(std::memory_order_relaxed), 0) ? reached(name) : 0;
}

} // namespace ouzel::test_point

/// 0, or the errno with which the operation that follows is to fail. Names are listed in
/// tests/crash/server_fault_test.cpp.
#define TEST_POINT(name) ::ouzel::test_point::passed(name)
