#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>

#include "common/sync/mutex.hpp"

namespace ouzel::server {

/// The threads that run statements. Made when there is work for them, at most `threadsMax`, and gone after a while
/// without. Work marked urgent (a session inside a transaction, which may hold what all others wait for) gets a thread
/// beyond the bound rather than wait. Thread-safe.
class SessionPool {
public:
   using Task = std::function<void()>;

   explicit SessionPool(uint32_t threadsMax) : threadsMax_(threadsMax) {}
   /// All work has been finished: see drain().
   ~SessionPool() { drain(); }

   void submit(Task task, bool isUrgent);
   /// Wait until nothing is queued, nothing runs and all threads have ended. New work is still taken while it waits.
   void drain();
   uint32_t threads() const;
   /// Work waits for a thread: those that have one shall not dawdle.
   bool hasWaiting() const { return waiting_.load(std::memory_order_relaxed) > 0; }

   static constexpr int idleSeconds = 10;

private:
   void run();

   const uint32_t threadsMax_;
   mutable Mutex mutex_;
   CondVar work_, ended_;
   std::deque<Task> queue_ GUARDED_BY(mutex_);
   std::atomic<size_t> waiting_{0}; // queue_.size(), for reading without the lock
   uint32_t threads_ GUARDED_BY(mutex_) = 0;
   uint32_t idle_ GUARDED_BY(mutex_) = 0;
   bool draining_ GUARDED_BY(mutex_) = false;
};

} // namespace ouzel::server
