#pragma once
#include <cstdint>
#include <functional>

#include "common/sync/mutex.hpp"
#include "common/thread/task_runner.hpp"

namespace ouzel::storage {

/// Tasks of one database among those of a shared TaskRunner, so that the database can wait for its own. Thread-safe.
class BackgroundTasks {
public:
   explicit BackgroundTasks(TaskRunner& runner) : runner_(runner) {}
   ~BackgroundTasks();
   BackgroundTasks(const BackgroundTasks&) = delete;
   BackgroundTasks& operator=(const BackgroundTasks&) = delete;

   /// Run `task` some time later, on another thread; after stop() forget it. It must not throw.
   void run(std::function<void()> task);
   /// Wait for the tasks that were accepted; from now on none is.
   void stop();

private:
   TaskRunner& runner_;
   Mutex runningMutex_; ///< guards what follows
   CondVar idle_;
   uint32_t running_ = 0;
   bool isStopped_ = false;
};

} // namespace ouzel::storage
