#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

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

   std::mutex mutex_;
   std::condition_variable changed_;
   std::map<Key, std::function<void()>> alarms_; // under mutex_
   std::map<Id, int64_t> times_;                 // under mutex_
   Id lastId_ = 0;
   bool stopping_ = false;
   std::thread thread_;
};

} // namespace ouzel
