#pragma once
#include <atomic>

// Named places where a test can end the process or make an operation fail.
//
// OUZEL_TEST_POINTS in the environment lists the points: `<name>=<action>[@<when>]`, separated by ';'. Actions:
//    kill     SIGKILL to this process
//    stop     SIGSTOP to this process, until a test sends SIGCONT
//    enospc   the operation fails with ENOSPC
//    eio      the operation fails with EIO
// `<when>` is `n` (the n-th time the point is reached; without it, the first time) or `/path/to/file` (as long as that
// file exists). The file can hold an order, so that one process is tried at many moments: `<n> <action> <anything>`.
// The action then happens the n-th time the point is reached since the file has had this content. Two more actions are
// only for this form:
//    hold     makes the file /path/to/file.held, and the thread waits until /path/to/file is gone
//    count    writes to /path/to/file.count, every time, how often the point was reached
//
// Without the environment variable a point costs the load of a flag that never changes.

namespace ouzel::test_point {

extern std::atomic<bool> isArmed;

/// Do what OUZEL_TEST_POINTS says for this point. Returns the errno to fail with, or 0. Thread-safe.
[[gnu::cold]] int reached(const char* name);

inline int passed(const char* name) {
   return __builtin_expect(isArmed.load(std::memory_order_relaxed), 0) ? reached(name) : 0;
}

} // namespace ouzel::test_point

/// 0, or the errno with which the operation that follows is to fail. Names are listed in
/// tests/crash/server_fault_test.cpp.
#define TEST_POINT(name) ::ouzel::test_point::passed(name)
