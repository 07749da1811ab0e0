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

/// A running query as the scheduler sees it: workers run it in slices of about a millisecond.
class Schedulable {
public:
   virtual ~Schedulable() = default;
   enum class Outcome : uint8_t {
      Ran,    ///< made progress; may have more to do
      Nothing ///< has nothing to do until wake()
   };
   /// Called by any number of workers at once. Must not block and must not throw.
   virtual Outcome runSlice() = 0;

private:
   friend class Scheduler;
   // Under Scheduler::mutex_.
   uint64_t virtualTime_ = 0; // nanoseconds of worker time, each multiplied by the query's weight then
   uint64_t consumed_ = 0;    // nanoseconds of worker time
   uint64_t wakes_ = 0;       // counts wake(): a worker sees whether one came during its slice
   uint32_t running_ = 0;     // workers inside runSlice()
   bool ready_ = false;       // worth a slice
};

/// The workers of the process, one per core. A worker picks the ready query with the least virtual time (stride
/// scheduling). A query's virtual time runs faster the more time the query has consumed, so that short queries stay
/// short. Tasks of submit() go before queries. Thread-safe.
class Scheduler final : public TaskRunner {
public:
   explicit Scheduler(uint32_t workers);
   ~Scheduler() override;

   uint32_t workerCount() const { return static_cast<uint32_t>(threads_.size()); }
   void add(Schedulable& query);
   /// Returns when no worker is inside the query; no worker enters it afterwards.
   void remove(Schedulable& query);
   void wake(Schedulable& query);

   void parallelFor(uint64_t count, const std::function<void(uint64_t)>& body) override;
   void submit(std::function<void()> task) override;
   uint32_t concurrency() const override { return workerCount(); }

private:
   struct Job;
   void work();
   Schedulable* pick() REQUIRES(mutex_);
   /// Run the oldest task of submit(). False: there is no task.
   bool runTask() REQUIRES(mutex_);

   Mutex mutex_;
   CondVar workAvailable_, left_;
   std::vector<Schedulable*> queries_ GUARDED_BY(mutex_);
   std::deque<std::function<void()>> tasks_ GUARDED_BY(mutex_);
   uint64_t now_ GUARDED_BY(mutex_) = 0; // about the virtual time of the query that ran last; new queries begin there
   bool stopping_ GUARDED_BY(mutex_) = false;
   std::vector<std::thread> threads_;
};

} // namespace ouzel::executor
