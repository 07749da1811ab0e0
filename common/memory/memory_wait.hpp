#pragma once
#include <cstdint>

// Threads of queries wait for memory before they fail for lack of it: others may be about to release some. The room
// that allocates knows no query, so whoever runs one sets a waiter for the thread, as with
// common/thread/wait_scope.hpp.

namespace ouzel {

/// What a thread does when Reservation::grow() was refused.
class MemoryWaiter {
public:
   virtual ~MemoryWaiter() = default;
   /// Memory was refused for the (times + 1)th time in a row. True: a while has passed, try again. False: fail with
   /// 53200. Called on the refused thread, which may hold mutexes. May throw to give up.
   virtual bool waitForMemory(uint32_t times) = 0;
};

/// While it lives, Reservation::grow() on this thread asks `waiter`. Nested: the inner waiter replaces the outer one.
class WaitsForMemory {
public:
   explicit WaitsForMemory(MemoryWaiter& waiter);
   ~WaitsForMemory();
   WaitsForMemory(const WaitsForMemory&) = delete;
   WaitsForMemory& operator=(const WaitsForMemory&) = delete;

private:
   MemoryWaiter* const outer_;
};

/// The innermost waiter of this thread, or null.
MemoryWaiter* memoryWaiter();

} // namespace ouzel
