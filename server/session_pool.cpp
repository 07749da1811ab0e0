#include "server/session_pool.hpp"

#include <chrono>
#include <system_error>
#include <thread>

#include "common/error/check.hpp"

namespace ouzel::server {

void SessionPool::submit(Task task, bool isUrgent) {
   DCHECK(task != nullptr);
   UniqueLock lock(mutex_);
   if (isUrgent) {
      queue_.push_front(std::move(task));
      ++urgent_;
   } else {
      queue_.push_back(std::move(task));
   }
   waiting_ = queue_.size();
   if (idle_ >= queue_.size()) {
      lock.unlock();
      work_.notify_one();
      return;
   }
   if (working() >= threadsMax_ && !isUrgent) return;
   if (makeThread() || threads_ > 0) return; // without a new thread the work waits for one of the pool's
   const Task next = take();
   lock.unlock();
   next(); // the pool has no thread: run the work on this one
}

/// False: the system has no more threads.
bool SessionPool::makeThread() {
   try {
      std::thread([this] { run(); }).detach(); // threads_ counts it, so that drain() waits for it
   } catch (const std::system_error&) {
      return false;
   }
   ++threads_;
   return true;
}

SessionPool::Task SessionPool::take() {
   DCHECK(!queue_.empty());
   Task task = std::move(queue_.front());
   queue_.pop_front();
   if (urgent_ > 0) --urgent_;
   waiting_ = queue_.size();
   return task;
}

void SessionPool::run() {
   const ObservedWaits observed(*this);
   UniqueLock lock(mutex_);
   while (urgent_ > 0 || working() <= threadsMax_) {
      if (queue_.empty()) {
         if (draining_) break;
         ++idle_;
         const bool gotWork = work_.wait_for(lock, std::chrono::seconds(idleSeconds),
                                             [&]() REQUIRES(mutex_) { return !queue_.empty() || draining_; });
         --idle_;
         if (!gotWork) break;
         continue;
      }
      Task task = take();
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

void SessionPool::waitBegins() noexcept {
   const MutexLock lock(mutex_);
   ++inWait_;
   if (queue_.empty() || working() >= threadsMax_) return;
   if (idle_ >= queue_.size())
      work_.notify_one(); // the thread that was told of the work may have left as one too many
   else
      makeThread();
}

void SessionPool::waitEnds() noexcept {
   const MutexLock lock(mutex_);
   DCHECK(inWait_ > 0);
   --inWait_;
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
