#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <thread>

#include "common/sync/mutex.hpp"

// Deadlines for whoever has no thread to wait with: statements that may take only so long.

namespace ouzel {

/// Calls back at points in time, from one thread of its own that is started by the first alarm. Thread-safe.
class AlarmClock {
public:
   /// Names an alarm; 0 names none.
   using Id = uint64_t;

   AlarmClock() = default;
   ~AlarmClock();
   AlarmClock(const AlarmClock&) = delete;

   /// Call `ring` at `at` (see steadyNanos()). It must be short, must not throw and must not use this clock.
   Id set(int64_t at, std::function<void()> ring);
   /// Once it returns, the alarm does not ring any more. One that has rung is no error.
   /// REQUIRES: no lock is held that `ring` takes.
   void clear(Id id);

private:
   using Key = std::pair<int64_t, Id>; // by time
   void run();

   Mutex mutex_;
   CondVar changed_;
   std::map<Key, std::function<void()>> alarms_ GUARDED_BY(mutex_); // under mutex_
   std::map<Id, int64_t> times_ GUARDED_BY(mutex_);                 // under mutex_
   Id lastId_ GUARDED_BY(mutex_) = 0;
   bool stopping_ GUARDED_BY(mutex_) = false;
   std::thread thread_;
};

} // namespace ouzel
