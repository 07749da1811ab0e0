#include "executor/schedule/scheduler.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <system_error>

#include "common/env/clock.hpp"
#include "common/error/check.hpp"
#include "common/log/crash_report.hpp"

namespace ouzel::executor {

namespace {
/// A query that has consumed less is short, and goes before those that take turns.
constexpr uint64_t shortNanos = 10'000'000;
/// After so many slices of short queries one of another follows, so that a stream of them cannot starve it.
constexpr uint32_t shortSlicesMax = 3;
/// How long a turn is: most queries that are not short need a few turns of worker time at most.
constexpr uint64_t turnNanos = 100'000'000;
/// A slice takes about a millisecond; one of more than this has overrun.
constexpr int64_t overrunNanos = 20'000'000;
constexpr std::chrono::milliseconds watchEvery(10);
constexpr int parkedSeconds = 10;
/// Bounds the memory of stand-ins' stacks.
constexpr uint32_t threadsMax = 1024;
} // namespace

Scheduler::Scheduler(uint32_t workers) : workersMax_(std::max(1u, workers)) {
   {
      const MutexLock lock(mutex_);
      for (uint32_t i = 0; i < workersMax_; ++i)
         addWorker(); // fewer, when the system has no more threads
   }
   watchdog_ = std::thread([this] { watch(); });
}

Scheduler::~Scheduler() {
   UniqueLock lock(mutex_);
   stopping_ = true;
   workAvailable_.notify_all();
   wanted_.notify_all();
   watching_.notify_all();
   ended_.wait(lock, [&]() REQUIRES(mutex_) { return threads_ == 0; });
   lock.unlock();
   watchdog_.join();
}

uint32_t Scheduler::threadCount() const {
   const MutexLock lock(mutex_);
   return threads_;
}

void Scheduler::add(Schedulable& query) {
   {
      const MutexLock lock(mutex_);
      DCHECK(std::find(queries_.begin(), queries_.end(), &query) == queries_.end());
      query.virtualTime_ = now_;
      query.ready_ = true;
      queries_.push_back(&query);
   }
   workAvailable_.notify_all();
}

void Scheduler::remove(Schedulable& query) {
   UniqueLock lock(mutex_);
   queries_.erase(std::remove(queries_.begin(), queries_.end(), &query), queries_.end());
   left_.wait(lock, [&]() REQUIRES(mutex_) { return query.running_ == 0; });
}

void Scheduler::wake(Schedulable& query) {
   {
      const MutexLock lock(mutex_);
      ++query.wakes_;
      if (query.ready_) return;
      query.ready_ = true;
      query.virtualTime_ = std::max(query.virtualTime_, now_); // time in which it wanted no worker is not owed to it
   }
   workAvailable_.notify_all();
}

/// At most workersMax_ threads are in one query, as its operators expect; stand-ins do not add to them.
Schedulable* Scheduler::pick() {
   Schedulable *shortest = nullptr, *inTurn = nullptr, *next = nullptr;
   const auto prefer = [](Schedulable*& best, Schedulable* query, auto Schedulable::*less) {
      if (!best || query->*less < best->*less) best = query;
   };
   for (Schedulable* query : queries_) {
      if (!query->ready_ || query->running_ >= workersMax_) continue;
      if (query->consumed_ < shortNanos) {
         prefer(shortest, query, &Schedulable::virtualTime_);
         continue;
      }
      prefer(next, query, &Schedulable::virtualTime_);
      if (query->consumed_ < query->turnEnd_) prefer(inTurn, query, &Schedulable::turn_);
   }
   if (shortest && (!next || shortSlices_ < shortSlicesMax)) {
      ++shortSlices_;
      return shortest;
   }
   shortSlices_ = 0;
   if (!next) return nullptr;
   now_ = std::max(now_, next->virtualTime_);
   if (inTurn) return inTurn;
   next->turnEnd_ = next->consumed_ + turnNanos;
   next->turn_ = ++turns_;
   return next;
}

void Scheduler::begin(Worker& self, Schedulable* query) {
   self.query = query;
   self.since = steadyNanos();
   if (isWatchdogResting_) watching_.notify_one();
}

void Scheduler::end(Worker& self) {
   self.since = 0;
   if (self.isActive) return;
   self.isActive = true;
   ++active_;
}

void Scheduler::runTask(Worker& self) {
   std::function<void()> task = std::move(tasks_.front());
   tasks_.pop_front();
   begin(self, nullptr);
   {
      const MutexUnlock working(mutex_);
      task();
      task = nullptr;
   }
   end(self);
}

void Scheduler::runSlice(Worker& self, Schedulable& query) {
   const uint64_t wakes = query.wakes_;
   ++query.running_;
   begin(self, &query);
   Schedulable::Outcome outcome;
   int64_t used, computed;
   {
      const MutexUnlock working(mutex_);
      const int64_t computedBefore = threadCpuNanos();
      outcome = query.runSlice();
      used = steadyNanos() - self.since;
      computed = threadCpuNanos() - computedBefore;
   }
   // A thread that was replaced held its core until then; after it, only what it computed counts.
   const auto took = static_cast<uint64_t>(self.isActive ? used : std::max(overrunNanos, computed));
   end(self);
   query.consumed_ += took;
   query.virtualTime_ += took;
   if (outcome == Schedulable::Outcome::Ran) {
      // Another worker may have found nothing to do in this query while this worker did a piece of work that only
      // one can do. The other worker may not have said so yet. Counting a wake makes its answer out of date.
      ++query.wakes_;
      if (!query.ready_) workAvailable_.notify_one();
      query.ready_ = true;
   } else if (query.wakes_ == wakes) {
      query.ready_ = false;
   }
   DCHECK(query.running_ > 0);
   if (--query.running_ == 0) left_.notify_all();
}

void Scheduler::work() {
   prepareThreadForCrash();
   Worker self;
   UniqueLock lock(mutex_);
   workers_.push_back(&self);
   while (active_ <= workersMax_ || park(lock)) {
      if (!tasks_.empty()) {
         runTask(self);
      } else if (Schedulable* query = pick()) {
         runSlice(self, *query);
      } else if (stopping_) {
         break;
      } else {
         workAvailable_.wait(lock);
      }
   }
   workers_.erase(std::find(workers_.begin(), workers_.end(), &self));
   --threads_;
   ended_.notify_all(); // under the mutex: once it is unlocked, the destructor may return
}

bool Scheduler::park(UniqueLock& lock) {
   --active_;
   ++parked_;
   // The query that this thread leaves may have been full when the others looked for work.
   workAvailable_.notify_one();
   wanted_.wait_for(lock, std::chrono::seconds(parkedSeconds),
                    [&]() REQUIRES(mutex_) { return calls_ > 0 || stopping_; });
   --parked_;
   if (calls_ == 0) return false;
   --calls_; // addWorker() has counted this thread in active_
   return true;
}

/// Calls a parked thread, or makes one. False: there are threadsMax, or the system has no more.
bool Scheduler::addWorker() {
   if (parked_ > calls_) {
      ++calls_;
      ++active_;
      wanted_.notify_one();
      return true;
   }
   if (threads_ >= std::max(threadsMax, workersMax_)) return false;
   try {
      std::thread([this] { work(); }).detach(); // threads_ counts it, so that the destructor waits for it
   } catch (const std::system_error&) {
      if (threads_ == 0) throw;
      return false;
   }
   ++threads_;
   ++active_;
   return true;
}

bool Scheduler::hasWorkBesides(const Worker& worker) const {
   if (!tasks_.empty()) return true;
   return std::any_of(queries_.begin(), queries_.end(), [&](const Schedulable* query) REQUIRES(mutex_) {
      return query != worker.query && query->ready_ && query->running_ < workersMax_;
   });
}

/// The watchdog's thread. It rests while no worker works.
void Scheduler::watch() {
   UniqueLock lock(mutex_);
   while (!stopping_) {
      const int64_t now = steadyNanos();
      bool isBusy = false;
      uint32_t replaced = 0; // workers that others stand in for, or should
      for (Worker* worker : workers_) {
         isBusy |= worker->since != 0;
         replaced += worker->since != 0 && !worker->isActive;
         if (worker->since == 0 || !worker->isActive) continue;
         if (now - worker->since < overrunNanos || !hasWorkBesides(*worker)) continue;
         worker->isActive = false;
         --active_;
         ++replaced;
      }
      // Those that could not be replaced before count, too.
      while (replaced > 0 && active_ < workersMax_ && addWorker()) {
      }
      if (isBusy) {
         watching_.wait_for(lock, watchEvery);
      } else {
         isWatchdogResting_ = true;
         watching_.wait(lock);
         isWatchdogResting_ = false;
      }
   }
}

void Scheduler::submit(std::function<void()> task) {
   {
      const MutexLock lock(mutex_);
      tasks_.push_back(std::move(task));
   }
   workAvailable_.notify_one();
}

struct Scheduler::Job {
   std::atomic<uint64_t> next{0}, ended{0};
   uint64_t count = 0;
   const std::function<void(uint64_t)>* body = nullptr;
   Mutex mutex;
   CondVar done;
   std::exception_ptr error GUARDED_BY(mutex);

   void run() {
      for (uint64_t i; (i = next.fetch_add(1)) < count;) {
         try {
            (*body)(i);
         } catch (...) {
            const MutexLock lock(mutex);
            if (!error) error = std::current_exception();
         }
         if (ended.fetch_add(1) + 1 == count) {
            const MutexLock lock(mutex);
            done.notify_all();
         }
      }
   }
};

void Scheduler::parallelFor(uint64_t count, const std::function<void(uint64_t)>& body) {
   if (count == 0) return;
   // A helper may start after the job has ended. It owns the job too, and finds no index left.
   auto job = std::make_shared<Job>();
   job->count = count;
   job->body = &body;
   const uint64_t helpers = std::min<uint64_t>(count - 1, workerCount());
   for (uint64_t i = 0; i < helpers; ++i)
      submit([job] { job->run(); });
   job->run();
   UniqueLock lock(job->mutex);
   job->done.wait(lock, [&]() REQUIRES(job->mutex) { return job->ended.load() == count; });
   if (job->error) std::rethrow_exception(job->error);
}

} // namespace ouzel::executor
