#include "common/thread/alarm_clock.hpp"

#include <chrono>

#include "common/env/clock.hpp"
#include "common/error/check.hpp"

namespace ouzel {

AlarmClock::~AlarmClock() {
   {
      const MutexLock lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
   }
   if (thread_.joinable()) thread_.join();
}

AlarmClock::Id AlarmClock::set(int64_t at, std::function<void()> ring) {
   DCHECK(ring != nullptr);
   const MutexLock lock(mutex_);
   DCHECK(!stopping_);
   const Id id = ++lastId_;
   const auto added = alarms_.emplace(Key{at, id}, std::move(ring)).first;
   times_.emplace(id, at);
   if (!thread_.joinable())
      thread_ = std::thread([this] { run(); });
   else if (added == alarms_.begin())
      changed_.notify_all();
   return id;
}

void AlarmClock::clear(Id id) {
   const MutexLock lock(mutex_);
   const auto time = times_.find(id);
   if (time == times_.end()) return;
   [[maybe_unused]] const size_t erased = alarms_.erase({time->second, id});
   DCHECK(erased == 1);
   times_.erase(time);
   DCHECK(times_.size() == alarms_.size());
}

void AlarmClock::run() {
   UniqueLock lock(mutex_);
   while (!stopping_) {
      if (alarms_.empty()) {
         changed_.wait(lock);
         continue;
      }
      const auto first = alarms_.begin();
      const int64_t left = first->first.first - steadyNanos();
      if (left > 0) {
         changed_.wait_for(lock, std::chrono::nanoseconds(left));
         continue;
      }
      first->second(); // under the mutex, so that clear() waits until it has rung
      times_.erase(first->first.second);
      alarms_.erase(first);
   }
}

} // namespace ouzel
