#include "common/memory/memory_wait.hpp"

#include <utility>

namespace ouzel {

namespace {
thread_local MemoryWaiter* current = nullptr;
} // namespace

WaitsForMemory::WaitsForMemory(MemoryWaiter& waiter) : outer_(std::exchange(current, &waiter)) {}
WaitsForMemory::~WaitsForMemory() {
   current = outer_;
}

MemoryWaiter* memoryWaiter() {
   return current;
}

} // namespace ouzel
