#pragma once
#include <cstdint>
#include <functional>
#include <thread>

#include "common/sync/mutex.hpp"

namespace ouzel {

/// A thread of its own that does something again and again, for work that may wait for devices (an AlarmClock's may
/// not). The destructor waits for what is being done.
class RepeatingTask {
public:
   RepeatingTask() = default;
   ~RepeatingTask() { stop(); }
   RepeatingTask(const RepeatingTask&) = delete;
   RepeatingTask& operator=(const RepeatingTask&) = delete;

   /// Call `body` in `firstMs` milliseconds, and again after as many as it returns; 0: no more. It must not throw.
   /// REQUIRES: not started before.
   void start(int64_t firstMs, std::function<int64_t()> body);
   /// Not from `body`.
   void stop();

private:
   Mutex mutex_; ///< guards isStopping_
   CondVar changed_;
   bool isStopping_ GUARDED_BY(mutex_) = false;
   std::thread thread_;
};

} // namespace ouzel
