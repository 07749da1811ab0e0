#pragma once
#include <array>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "common/sync/mutex.hpp"

namespace ouzel::io {

/// Threads that run blocking disk reads, so that workers and the store's threads do not wait for a disk. Thread-safe.
class DiskReaders {
public:
   DiskReaders();
   /// Drops the jobs that have not begun and waits for the running ones.
   ~DiskReaders();
   DiskReaders(const DiskReaders&) = delete;
   DiskReaders& operator=(const DiskReaders&) = delete;

   /// Queues a job, which must not throw. `owner` identifies the job for forget().
   void submit(const void* owner, std::function<void()> job);
   /// Drops the owner's queued jobs and waits for its running ones. Must not be called by a job of the same owner.
   void forget(const void* owner);

private:
   void work(size_t number);

   static constexpr size_t threadCount = 4; ///< reads in flight at once: an SSD needs some queue depth
   struct Job {
      const void* owner;
      std::function<void()> run;
   };
   Mutex mutex_; ///< guards the members below
   CondVar changed_, ended_;
   std::deque<Job> jobs_ GUARDED_BY(mutex_);
   std::array<const void*, threadCount> running_ GUARDED_BY(mutex_){};
   bool isStopping_ GUARDED_BY(mutex_) = false;
   std::vector<std::thread> threads_;
};

} // namespace ouzel::io
