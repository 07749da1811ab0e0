#pragma once
#include <cstdint>
#include <functional>

#include "common/sync/mutex.hpp"
#include "common/thread/task_runner.hpp"

namespace ouzel::storage {

/// The background tasks of one database. They run on a TaskRunner that the process shares; this class counts them, so
/// that the database can wait for its own. Thread-safe.
class BackgroundTasks {
public:
   explicit BackgroundTasks(TaskRunner& runner) : runner_(runner) {}
   ~BackgroundTasks();
   BackgroundTasks(const BackgroundTasks&) = delete;
   BackgroundTasks& operator=(const BackgroundTasks&) = delete;

   /// Run `task` later, on another thread; after stop() the task is dropped. It must not throw.
   void run(std::function<void()> task);
   /// Wait until all accepted tasks have ended; accept none from now on.
   void stop();

private:
   TaskRunner& runner_;
   Mutex runningMutex_; ///< guards the members below
   CondVar idle_;
   uint32_t running_ GUARDED_BY(runningMutex_) = 0;
   bool isStopped_ GUARDED_BY(runningMutex_) = false;
};

} // namespace ouzel::storage
