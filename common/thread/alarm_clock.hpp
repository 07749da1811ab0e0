#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <thread>

#include "common/sync/mutex.hpp"

// Deadlines without a thread for each: statement_timeout uses them.

namespace ouzel {

/// Calls functions back at points in time, from one thread of its own that the first alarm starts. Thread-safe. The
/// destructor drops the alarms that have not rung.
class AlarmClock {
public:
   /// Names an alarm; 0 names none.
   using Id = uint64_t;

   AlarmClock() = default;
   ~AlarmClock();
   AlarmClock(const AlarmClock&) = delete;

   /// Call `ring` at `at` (see steadyNanos()). `ring` runs under the clock's mutex: it must be short, must not throw
   /// and must not use this clock.
   Id set(int64_t at, std::function<void()> ring);
   /// Remove the alarm; after the return it neither rings nor is ringing. No error when it has rung already. REQUIRES:
   /// the caller holds no mutex that `ring` takes.
   void clear(Id id);

private:
   using Key = std::pair<int64_t, Id>; // time and id: the map is in the order of ringing
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
