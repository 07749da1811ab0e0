#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>

#include "common/sync/mutex.hpp"

namespace ouzel::server {

/// The threads that run statements: made when there is work, at most `threadsMax`, and ended after idleSeconds without
/// work. Urgent work is of a session in a transaction, which may hold locks that all other sessions wait for: it goes
/// to the front of the queue and gets a thread beyond the bound. Thread-safe.
class SessionPool {
public:
   using Task = std::function<void()>;

   explicit SessionPool(uint32_t threadsMax) : threadsMax_(threadsMax) {}
   /// Waits for all work: see drain().
   ~SessionPool() { drain(); }

   void submit(Task task, bool isUrgent);
   /// Wait until nothing is queued, nothing runs and all threads have ended. New work is still taken while it waits.
   void drain();
   uint32_t threads() const;
   /// True when work waits for a thread: a session should then not wait for its client's next message.
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
