#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>

#include "common/sync/mutex.hpp"
#include "common/thread/wait_scope.hpp"

namespace ouzel::server {

/// The threads that run statements: made when there is work, and ended after idleSeconds without work. At most
/// `threadsMax` of them work at a time. A thread that waits (WaitScope: for a client, a lock, the workers) does not
/// count: sessions that wait keep nobody out. Urgent work is of a session in a transaction, which may hold locks that
/// all other sessions wait for: it goes to the front of the queue and gets a thread beyond the bound. Thread-safe.
class SessionPool final : private WaitObserver {
public:
   using Task = std::function<void()>;

   explicit SessionPool(uint32_t threadsMax) : threadsMax_(threadsMax) {}
   /// Waits for all work: see drain().
   ~SessionPool() override { drain(); }

   void submit(Task task, bool isUrgent);
   /// Wait until nothing is queued, nothing runs and all threads have ended. New work is still taken while it waits.
   void drain();
   uint32_t threads() const;
   /// True when work waits for a thread: a session should then not wait for its client's next message.
   bool hasWaiting() const { return waiting_.load(std::memory_order_relaxed) > 0; }

   static constexpr int idleSeconds = 10;

private:
   void run();
   void waitBegins() noexcept override;
   void waitEnds() noexcept override;
   uint32_t working() const REQUIRES(mutex_) { return threads_ - idle_ - inWait_; }
   bool makeThread() REQUIRES(mutex_);
   Task take() REQUIRES(mutex_);

   const uint32_t threadsMax_;
   mutable Mutex mutex_;
   CondVar work_, ended_;
   std::deque<Task> queue_ GUARDED_BY(mutex_);
   size_t urgent_ GUARDED_BY(mutex_) = 0; // how many of the queue's first are urgent
   std::atomic<size_t> waiting_{0};       // queue_.size(), for reading without the lock
   uint32_t threads_ GUARDED_BY(mutex_) = 0;
   uint32_t idle_ GUARDED_BY(mutex_) = 0;
   uint32_t inWait_ GUARDED_BY(mutex_) = 0; // threads inside a WaitScope
   bool draining_ GUARDED_BY(mutex_) = false;
};

} // namespace ouzel::server
