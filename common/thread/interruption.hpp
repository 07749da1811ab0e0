#pragma once
#include <chrono>
#include <functional>

// Long waits for a network that end when nobody wants their result any more, in rooms that do not know for whom they
// wait: whoever runs a statement says on its threads how to ask, whoever waits asks.

namespace ouzel {

/// While it lives, waitInterruptibly() on this thread calls `check`, which throws to give up. One inside another holds
/// until it ends. Costs two stores.
class Interruptible {
public:
   /// `check` outlives this.
   explicit Interruptible(const std::function<void()>& check);
   ~Interruptible();
   Interruptible(const Interruptible&) = delete;
   Interruptible& operator=(const Interruptible&) = delete;

private:
   const std::function<void()>* const outer_;
};

/// Throws what the innermost check of this thread throws. Without one it does nothing.
void checkInterrupted();

/// Wait until `isOver`, and ask from time to time whether to go on; the check runs with the mutex held. Throws what the
/// check throws.
template <typename Changed, typename Lock, typename Predicate>
void waitInterruptibly(Changed& changed, Lock& lock, Predicate isOver) {
   constexpr std::chrono::milliseconds askedEvery(50);
   while (!changed.wait_for(lock, askedEvery, isOver))
      checkInterrupted();
}

} // namespace ouzel
