#include "server/session_pool.hpp"

#include <chrono>
#include <system_error>
#include <thread>

#include "common/error/check.hpp"

namespace ouzel::server {

void SessionPool::submit(Task task, bool isUrgent) {
   DCHECK(task != nullptr);
   UniqueLock lock(mutex_);
   if (isUrgent)
      queue_.push_front(std::move(task));
   else
      queue_.push_back(std::move(task));
   waiting_ = queue_.size();
   if (idle_ >= queue_.size()) {
      lock.unlock();
      work_.notify_one();
      return;
   }
   if (threads_ >= threadsMax_ && !isUrgent) return;
   ++threads_;
   lock.unlock();
   try {
      std::thread([this] { run(); }).detach(); // threads_ counts it, so that drain() waits for it
   } catch (const std::system_error&) {
      // The system has no more threads: the work waits for one of the pool's.
      lock.lock();
      if (--threads_ > 0) return;
      const Task last = std::move(queue_.back());
      queue_.pop_back();
      waiting_ = queue_.size();
      lock.unlock();
      last(); // the pool has no thread: run the work on this one
   }
}

void SessionPool::run() {
   UniqueLock lock(mutex_);
   while (true) {
      if (queue_.empty()) {
         if (draining_ || threads_ > threadsMax_) break;
         ++idle_;
         const bool gotWork = work_.wait_for(lock, std::chrono::seconds(idleSeconds),
                                             [&]() REQUIRES(mutex_) { return !queue_.empty() || draining_; });
         --idle_;
         if (!gotWork) break;
         continue;
      }
      Task task = std::move(queue_.front());
      queue_.pop_front();
      waiting_ = queue_.size();
      lock.unlock();
      task();
      task = nullptr; // release the task's objects before the next task is taken
      lock.lock();
   }
   DCHECK(threads_ > idle_);
   --threads_;
   // Under the mutex: once it is unlocked, drain() may return and the pool may be destroyed.
   ended_.notify_all();
}

void SessionPool::drain() {
   UniqueLock lock(mutex_);
   draining_ = true;
   work_.notify_all();
   ended_.wait(lock, [&]() REQUIRES(mutex_) { return threads_ == 0 && queue_.empty(); });
   draining_ = false;
}

uint32_t SessionPool::threads() const {
   MutexLock lock(mutex_);
   return threads_;
}

} // namespace ouzel::server
