#include "io/cache/disk_readers.hpp"

#include <algorithm>

namespace ouzel::io {

DiskReaders::DiskReaders() {
   for (size_t i = 0; i < threadCount; ++i)
      threads_.emplace_back([this, i] { work(i); });
}

DiskReaders::~DiskReaders() {
   {
      const MutexLock lock(mutex_);
      isStopping_ = true;
   }
   changed_.notify_all();
   for (std::thread& thread : threads_)
      thread.join();
}

void DiskReaders::submit(const void* owner, std::function<void()> job) {
   const MutexLock lock(mutex_);
   jobs_.push_back({owner, std::move(job)});
   changed_.notify_one();
}

void DiskReaders::forget(const void* owner) {
   std::deque<Job> dropped; // destroyed after the mutex is released
   UniqueLock lock(mutex_);
   const auto first =
       std::stable_partition(jobs_.begin(), jobs_.end(), [&](const Job& job) { return job.owner != owner; });
   std::move(first, jobs_.end(), std::back_inserter(dropped));
   jobs_.erase(first, jobs_.end());
   ended_.wait(lock,
               [&]() REQUIRES(mutex_) { return std::find(running_.begin(), running_.end(), owner) == running_.end(); });
   lock.unlock();
}

void DiskReaders::work(size_t number) {
   UniqueLock lock(mutex_);
   while (true) {
      changed_.wait(lock, [&]() REQUIRES(mutex_) { return isStopping_ || !jobs_.empty(); });
      if (isStopping_) return;
      {
         const Job job = std::move(jobs_.front());
         jobs_.pop_front();
         running_[number] = job.owner;
         lock.unlock();
         job.run();
         lock.lock();
         running_[number] = nullptr;
         ended_.notify_all();
         lock.unlock();
      } // destroys the job before the mutex is taken again
      lock.lock();
   }
}

} // namespace ouzel::io
