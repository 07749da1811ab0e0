#include "common/thread/stack.hpp"

#include <algorithm>
#include <pthread.h>

#include "common/error/sql_error.hpp"

namespace ouzel {

namespace {

/// Address space of a thread's stack. Memory is only taken for what is touched of it.
constexpr size_t stackSize = 16 << 20;
/// Bytes that recursion leaves. Destructors of trees that deep recursion has built take the most of it.
constexpr size_t stackReserve = 2 << 20;

uintptr_t findFloor() {
   pthread_attr_t attributes;
   if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
   void* lowest = nullptr;
   size_t size = 0;
   pthread_attr_getstack(&attributes, &lowest, &size);
   pthread_attr_destroy(&attributes);
   return reinterpret_cast<uintptr_t>(lowest) + std::min(stackReserve, size / 2);
}

} // namespace

void throwStackDepth() {
   throw SqlError(sqlstate::statementTooComplex, "stack depth limit exceeded")
       .hint("The statement nests expressions or queries too deeply; break it up.");
}

void detail::checkStackSlowly(uintptr_t address) {
   if (stackFloor == UINTPTR_MAX) stackFloor = findFloor();
   if (address < stackFloor) throwStackDepth();
}

void setStackOfThreads() {
   pthread_attr_t attributes;
   if (pthread_attr_init(&attributes) != 0) return;
   if (pthread_attr_setstacksize(&attributes, stackSize) == 0) pthread_setattr_default_np(&attributes);
   pthread_attr_destroy(&attributes);
}

} // namespace ouzel
