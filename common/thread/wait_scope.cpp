#include "common/thread/wait_scope.hpp"

#include <utility>

#include "common/error/check.hpp"

namespace ouzel {

namespace {
thread_local WaitObserver* current = nullptr; // null inside a WaitScope
} // namespace

ObservedWaits::ObservedWaits(WaitObserver& observer) {
   DCHECK(!current);
   current = &observer;
}

ObservedWaits::~ObservedWaits() {
   current = nullptr;
}

WaitScope::WaitScope() : observer_(std::exchange(current, nullptr)) {
   if (observer_) observer_->waitBegins();
}

WaitScope::~WaitScope() {
   if (!observer_) return;
   observer_->waitEnds();
   current = observer_;
}

} // namespace ouzel
