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
   uint64_t virtualTime_ = 0; // nanoseconds of worker time, from where others were when it began
   uint64_t consumed_ = 0;    // nanoseconds of worker time
   uint64_t turnEnd_ = 0;     // its turn lasts until it has consumed so much
   uint64_t turn_ = 0;        // the number of its turn
   uint64_t wakes_ = 0;       // counts wake(): a worker sees whether one came during its slice
   uint32_t running_ = 0;     // workers inside runSlice()
   bool ready_ = false;       // worth a slice
};

/// The workers of the process, one per core. Tasks of submit() go before queries, and queries that have consumed little
/// go before others, but for every few slices. The others take turns: a turn is long enough for most of them to end in
/// it, so that few of many queries have their tables in memory and in the caches. The next turn is that of the query
/// with the least virtual time. Thread-safe.
///
/// A slice may overrun: pg_sleep(), a lock, a file that blocks, a regular expression over a long text. A watchdog then
/// replaces the worker, if other work waits, by a stand-in thread: nobody's waiting holds a core, and the system shares
/// the cores between long slices. When the overrun ends, a surplus thread parks, and leaves after a while.
class Scheduler final : public TaskRunner {
public:
   explicit Scheduler(uint32_t workers);
   ~Scheduler() override;

   uint32_t workerCount() const { return workersMax_; }
   /// Threads there are now: the workers, and their stand-ins.
   uint32_t threadCount() const;
   void add(Schedulable& query);
   /// Returns when no worker is inside the query; no worker enters it afterwards.
   void remove(Schedulable& query);
   void wake(Schedulable& query);

   void parallelFor(uint64_t count, const std::function<void(uint64_t)>& body) override;
   void submit(std::function<void()> task) override;
   uint32_t concurrency() const override { return workerCount(); }

private:
   struct Job;
   /// What one thread does now.
   struct Worker {
      int64_t since = 0;            // steadyNanos() when its piece of work began; 0: it has none
      Schedulable* query = nullptr; // of that piece; null: a task
      bool isActive = true;         // counted in active_: it has not been replaced
   };
   void work();
   Schedulable* pick() REQUIRES(mutex_);
   void runTask(Worker& self) REQUIRES(mutex_);
   void runSlice(Worker& self, Schedulable& query) REQUIRES(mutex_);
   void begin(Worker& self, Schedulable* query) REQUIRES(mutex_);
   void end(Worker& self) REQUIRES(mutex_);
   /// Wait until another worker has to be replaced. False: nobody had to for parkedSeconds, the thread ends.
   bool park(UniqueLock& lock) REQUIRES(mutex_);
   void watch();
   bool hasWorkBesides(const Worker& worker) const REQUIRES(mutex_);
   bool addWorker() REQUIRES(mutex_);

   const uint32_t workersMax_;
   mutable Mutex mutex_;
   CondVar workAvailable_, left_;
   CondVar wanted_;   ///< a parked thread has to go on
   CondVar watching_; ///< work has begun while the watchdog rested
   CondVar ended_;    ///< a thread has ended
   std::vector<Schedulable*> queries_ GUARDED_BY(mutex_);
   std::deque<std::function<void()>> tasks_ GUARDED_BY(mutex_);
   uint64_t now_ GUARDED_BY(mutex_) = 0;   // the least virtual time of those that take turns; new queries begin there
   uint64_t turns_ GUARDED_BY(mutex_) = 0; // how many there were
   uint32_t shortSlices_ GUARDED_BY(mutex_) = 0; // of short queries since the last of another
   bool stopping_ GUARDED_BY(mutex_) = false;
   std::vector<Worker*> workers_ GUARDED_BY(mutex_);
   uint32_t threads_ GUARDED_BY(mutex_) = 0; // parked ones included
   uint32_t active_ GUARDED_BY(mutex_) = 0;  // threads neither parked nor replaced; above workersMax_ one of them parks
   uint32_t parked_ GUARDED_BY(mutex_) = 0;
   uint32_t calls_ GUARDED_BY(mutex_) = 0; // parked threads that wanted_ has called and that have not woken yet
   bool isWatchdogResting_ GUARDED_BY(mutex_) = false;
   std::thread watchdog_;
};

} // namespace ouzel::executor
