#include "storage/database/background_tasks.hpp"

#include <utility>

#include "common/error/check.hpp"

namespace ouzel::storage {

BackgroundTasks::~BackgroundTasks() {
   CHECK(running_ == 0); // a task would use the database's destroyed parts
}

void BackgroundTasks::run(std::function<void()> task) {
   {
      const MutexLock lock(runningMutex_);
      if (isStopped_) return;
      ++running_;
   }
   runner_.submit([this, task = std::move(task)] {
      task();
      const MutexLock lock(runningMutex_);
      CHECK(running_ > 0);
      --running_;
      idle_.notify_all();
   });
}

void BackgroundTasks::stop() {
   UniqueLock lock(runningMutex_);
   isStopped_ = true;
   idle_.wait(lock, [&]() REQUIRES(runningMutex_) { return running_ == 0; });
}

} // namespace ouzel::storage
