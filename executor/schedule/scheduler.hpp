#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "common/sync/mutex.hpp"
#include "common/thread/task_runner.hpp"

namespace ouzel::executor {

/// Something workers give their time to, in slices of about a millisecond: a running query.
class Schedulable {
public:
   virtual ~Schedulable() = default;
   enum class Outcome : uint8_t {
      Ran,    ///< did something; may have more
      Nothing ///< nothing to do until wake()
   };
   /// Called by any number of workers at once. Must not block and must not throw.
   virtual Outcome runSlice() = 0;

private:
   friend class Scheduler;
   // Under Scheduler::mutex_.
   uint64_t virtualTime_ = 0; // nanoseconds consumed, scaled by the falling priority
   uint64_t consumed_ = 0;
   uint64_t wakes_ = 0;
   uint32_t running_ = 0;
   bool ready_ = false;
};

/// The workers of the process, one per core. Each picks the active query that has had least time so far, with a
/// priority that falls as a query consumes time, so that short queries stay short (stride scheduling). Thread-safe.
class Scheduler final : public TaskRunner {
public:
   explicit Scheduler(uint32_t workers);
   ~Scheduler() override;

   uint32_t workerCount() const { return static_cast<uint32_t>(threads_.size()); }
   void add(Schedulable& query);
   /// Returns when no worker is inside the query; it is not called any more.
   void remove(Schedulable& query);
   void wake(Schedulable& query);

   void parallelFor(uint64_t count, const std::function<void(uint64_t)>& body) override;
   void submit(std::function<void()> task) override;
   uint32_t concurrency() const override { return workerCount(); }

private:
   struct Job;
   void work();
   Schedulable* pick() REQUIRES(mutex_);
   /// False: there was none.
   bool runTask() REQUIRES(mutex_);

   Mutex mutex_;
   CondVar workAvailable_, left_;
   std::vector<Schedulable*> queries_ GUARDED_BY(mutex_);
   std::deque<std::function<void()>> tasks_ GUARDED_BY(mutex_);
   uint64_t now_ GUARDED_BY(mutex_) = 0; // virtual time of the query that ran last
   bool stopping_ GUARDED_BY(mutex_) = false;
   std::vector<std::thread> threads_;
};

} // namespace ouzel::executor
