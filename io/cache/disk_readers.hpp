#pragma once
#include <array>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "common/sync/mutex.hpp"

namespace ouzel::io {

/// A few threads that wait for a disk so that others need not. Thread-safe.
class DiskReaders {
public:
   DiskReaders();
   /// What has not begun is dropped.
   ~DiskReaders();
   DiskReaders(const DiskReaders&) = delete;
   DiskReaders& operator=(const DiskReaders&) = delete;

   /// Jobs must not throw. `owner` is a name to forget() them by.
   void submit(const void* owner, std::function<void()> job);
   /// When it returns, no job of this owner is running or will. Not from a job of the same owner.
   void forget(const void* owner);

private:
   void work(size_t number);

   static constexpr size_t threadCount = 4; ///< a queue depth that an SSD needs to be fast
   struct Job {
      const void* owner;
      std::function<void()> run;
   };
   Mutex mutex_; ///< guards what follows
   CondVar changed_, ended_;
   std::deque<Job> jobs_ GUARDED_BY(mutex_);
   std::array<const void*, threadCount> running_ GUARDED_BY(mutex_){};
   bool isStopping_ GUARDED_BY(mutex_) = false;
   std::vector<std::thread> threads_;
};

} // namespace ouzel::io
