#pragma once

// Threads of a bounded pool tell the pool while they wait: for a lock, a client, a worker, a point in time. The pool
// then lets another thread work. The rooms that wait know no pool: the pool sets an observer for each of its threads.

namespace ouzel {

/// What a pool of threads does when one of its threads begins or ends a wait. Called on the waiting thread, which may
/// hold mutexes: it calls nothing that waits.
class WaitObserver {
public:
   virtual ~WaitObserver() = default;
   virtual void waitBegins() noexcept = 0;
   virtual void waitEnds() noexcept = 0;
};

/// While it lives, `observer` hears of the waits of the thread that made it.
class ObservedWaits {
public:
   explicit ObservedWaits(WaitObserver& observer);
   ~ObservedWaits();
   ObservedWaits(const ObservedWaits&) = delete;
   ObservedWaits& operator=(const ObservedWaits&) = delete;
};

/// Stands around a wait that may last. One inside another counts as one wait. Costs two loads where nobody observes.
class WaitScope {
public:
   WaitScope();
   ~WaitScope();
   WaitScope(const WaitScope&) = delete;
   WaitScope& operator=(const WaitScope&) = delete;

private:
   WaitObserver* const observer_; // null: nobody, or an outer scope has told
};

} // namespace ouzel
