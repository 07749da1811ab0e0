#include "executor/schedule/scheduler.hpp"

#include <algorithm>
#include <exception>

#include "common/env/clock.hpp"
#include "common/error/check.hpp"

namespace ouzel::executor {

namespace {
/// A long query keeps at least 1/weightMax of a new query's share, so that a stream of short queries cannot starve it.
constexpr uint64_t weightMax = 8;
} // namespace

Scheduler::Scheduler(uint32_t workers) {
   for (uint32_t i = 0; i < std::max(1u, workers); ++i)
      threads_.emplace_back([this] { work(); });
}

Scheduler::~Scheduler() {
   {
      const MutexLock lock(mutex_);
      stopping_ = true;
   }
   workAvailable_.notify_all();
   for (std::thread& thread : threads_)
      thread.join();
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
   }
   workAvailable_.notify_all();
}

Schedulable* Scheduler::pick() {
   Schedulable* best = nullptr;
   for (Schedulable* query : queries_)
      if (query->ready_ && (!best || query->virtualTime_ < best->virtualTime_)) best = query;
   return best;
}

bool Scheduler::runTask() {
   if (tasks_.empty()) return false;
   std::function<void()> task = std::move(tasks_.front());
   tasks_.pop_front();
   const MutexUnlock working(mutex_);
   task();
   return true;
}

void Scheduler::work() {
   UniqueLock lock(mutex_);
   while (true) {
      if (runTask()) continue;
      Schedulable* query = pick();
      if (!query) {
         if (stopping_) return;
         workAvailable_.wait(lock);
         continue;
      }
      const uint64_t wakes = query->wakes_;
      ++query->running_;
      lock.unlock();
      const int64_t start = steadyNanos();
      const Schedulable::Outcome outcome = query->runSlice();
      const uint64_t took = static_cast<uint64_t>(steadyNanos() - start);
      lock.lock();
      // With each 100 ms of work a query's weight grows by one: newer queries overtake it.
      query->consumed_ += took;
      query->virtualTime_ += took * std::min(weightMax, 1 + query->consumed_ / 100'000'000);
      now_ = std::max(now_, query->virtualTime_ - took);
      if (outcome == Schedulable::Outcome::Ran) {
         // Another worker may have found nothing to do in this query while this worker did a piece of work that only
         // one can do. The other worker may not have said so yet. Counting a wake makes its answer out of date.
         ++query->wakes_;
         if (!query->ready_) workAvailable_.notify_one();
         query->ready_ = true;
      } else if (query->wakes_ == wakes) {
         query->ready_ = false;
      }
      DCHECK(query->running_ > 0);
      if (--query->running_ == 0) left_.notify_all();
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
