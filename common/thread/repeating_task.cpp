#include "common/thread/repeating_task.hpp"

#include <chrono>

namespace ouzel {

void RepeatingTask::start(int64_t firstMs, std::function<int64_t()> body) {
   thread_ = std::thread([this, firstMs, body = std::move(body)] {
      UniqueLock lock(mutex_);
      for (int64_t waitMs = firstMs; waitMs > 0;) {
         if (changed_.wait_for(lock, std::chrono::milliseconds(waitMs),
                               [this]() REQUIRES(mutex_) { return isStopping_; }))
            return;
         lock.unlock();
         waitMs = body();
         lock.lock();
      }
   });
}

void RepeatingTask::stop() {
   {
      const MutexLock lock(mutex_);
      isStopping_ = true;
   }
   changed_.notify_all();
   if (thread_.joinable()) thread_.join();
}

} // namespace ouzel
