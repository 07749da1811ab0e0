#pragma once
#include <cstdint>
#include <functional>
#include <thread>

#include "common/sync/mutex.hpp"

namespace ouzel {

/// A thread that calls one function repeatedly, for work that may wait for devices (an AlarmClock's may not). The
/// destructor waits until the running call has returned.
class RepeatingTask {
public:
   RepeatingTask() = default;
   ~RepeatingTask() { stop(); }
   RepeatingTask(const RepeatingTask&) = delete;
   RepeatingTask& operator=(const RepeatingTask&) = delete;

   /// Call `body` after `firstMs` milliseconds, then again after as many milliseconds as it returns; 0: never again.
   /// `body` must not throw. REQUIRES: start() was not called before.
   void start(int64_t firstMs, std::function<int64_t()> body);
   /// End the repetition and wait for a running call. REQUIRES: not called from `body`.
   void stop();

private:
   Mutex mutex_;
   CondVar changed_;
   bool isStopping_ GUARDED_BY(mutex_) = false;
   std::thread thread_;
};

} // namespace ouzel
