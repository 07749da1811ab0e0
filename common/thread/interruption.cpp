#include "common/thread/interruption.hpp"

#include <utility>

namespace ouzel {

namespace {
thread_local const std::function<void()>* innermost = nullptr;
} // namespace

Interruptible::Interruptible(const std::function<void()>& check) : outer_(std::exchange(innermost, &check)) {}

Interruptible::~Interruptible() {
   innermost = outer_;
}

void checkInterrupted() {
   if (innermost) (*innermost)();
}

} // namespace ouzel
