#pragma once
#include <chrono>
#include <functional>

// Long waits for a network that end when the statement ends. The rooms that wait (io/, storage/) know no statement: the
// engine sets a check for the thread that runs it (Interruptible), and the waiting code calls the check.

namespace ouzel {

/// While it lives, waitInterruptibly() on this thread calls `check`, which throws to give up. Nested: the inner check
/// replaces the outer one until the inner object ends. Costs two stores. Used by the thread that made it.
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

/// Call the innermost check of this thread, if there is one. Throws what the check throws.
void checkInterrupted();

/// Wait until `isOver` returns true; call the check every 50 ms with the mutex held. Throws what the check throws.
template <typename Changed, typename Lock, typename Predicate>
void waitInterruptibly(Changed& changed, Lock& lock, Predicate isOver) {
   constexpr std::chrono::milliseconds askedEvery(50);
   while (!changed.wait_for(lock, askedEvery, isOver))
      checkInterrupted();
}

} // namespace ouzel
