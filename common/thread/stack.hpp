#pragma once

#include <cstdint>

// Recursion over what users build (expressions, queries, views) must end before the thread's stack does: a stack that
// overflows ends the process. Each cycle of recursive calls asks checkStack() once.

namespace ouzel {

namespace detail {
/// Lowest address that recursion may use of this thread's stack; UINTPTR_MAX: not asked for yet.
inline constinit thread_local uintptr_t stackFloor = UINTPTR_MAX;
/// Finds the floor when it is not known. Throws 54001 if the address is below it.
void checkStackSlowly(uintptr_t address);
} // namespace detail

/// Throws 54001 "stack depth limit exceeded" when little of the calling thread's stack is left. What is left is enough
/// for functions that do not recurse, for the error, and for the destructors of trees that were being built.
inline void checkStack() {
   const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
   if (here < detail::stackFloor) detail::checkStackSlowly(here);
}

/// Throws that error.
[[noreturn]] void throwStackDepth();

/// Gives threads that start from now on a stack of the size that recursion counts on, whatever the process has
/// inherited.
void setStackOfThreads();

} // namespace ouzel
