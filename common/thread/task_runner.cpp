#include "common/thread/task_runner.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <thread>
#include <vector>

#include "common/sync/mutex.hpp"

namespace ouzel {

void InlineTaskRunner::parallelFor(uint64_t count, const std::function<void(uint64_t)>& body) {
   for (uint64_t i = 0; i < count; ++i)
      body(i);
}

struct ThreadTaskRunner::Pool {
   Mutex mutex;
   CondVar wake;
   std::deque<std::function<void()>> queue GUARDED_BY(mutex);
   bool stopping GUARDED_BY(mutex) = false;
   std::vector<std::thread> threads;

   void work() {
      UniqueLock lock(mutex);
      while (true) {
         wake.wait(lock, [&]() REQUIRES(mutex) { return stopping || !queue.empty(); });
         if (queue.empty()) return;
         auto task = std::move(queue.front());
         queue.pop_front();
         lock.unlock();
         task();
         lock.lock();
      }
   }
};

namespace {
/// One parallelFor: a counter hands out the pieces; a helper that starts after the last piece was taken returns at
/// once. The helpers share ownership, since they may start after parallelFor() has returned; `body` is then no longer
/// read.
struct ParallelLoop {
   const std::function<void(uint64_t)>* body;
   uint64_t count;
   std::atomic<uint64_t> next{0};
   Mutex mutex;
   CondVar done;
   uint64_t finished GUARDED_BY(mutex) = 0;
   std::exception_ptr error GUARDED_BY(mutex);

   void run() {
      for (uint64_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
         std::exception_ptr failure;
         try {
            (*body)(i);
         } catch (...) {
            failure = std::current_exception();
         }
         const MutexLock lock(mutex);
         if (failure && !error) error = failure;
         if (++finished == count) done.notify_all();
      }
   }
};
} // namespace

ThreadTaskRunner::ThreadTaskRunner(uint32_t threads) : pool_(std::make_unique<Pool>()) {
   for (uint32_t i = 0; i < std::max(threads, 1u); ++i)
      pool_->threads.emplace_back([pool = pool_.get()] { pool->work(); });
}

ThreadTaskRunner::~ThreadTaskRunner() {
   {
      const MutexLock lock(pool_->mutex);
      pool_->stopping = true;
   }
   pool_->wake.notify_all();
   for (auto& thread : pool_->threads)
      thread.join();
}

void ThreadTaskRunner::parallelFor(uint64_t count, const std::function<void(uint64_t)>& body) {
   if (count == 0) return;
   auto loop = std::make_shared<ParallelLoop>(); // helpers that start late still own it
   loop->body = &body;
   loop->count = count;
   const uint64_t helpers = std::min<uint64_t>(concurrency(), count - 1);
   for (uint64_t i = 0; i < helpers; ++i)
      submit([loop] { loop->run(); });
   loop->run();
   UniqueLock lock(loop->mutex);
   loop->done.wait(lock, [&]() REQUIRES(loop->mutex) { return loop->finished == loop->count; });
   if (loop->error) std::rethrow_exception(loop->error);
}

void ThreadTaskRunner::submit(std::function<void()> task) {
   {
      const MutexLock lock(pool_->mutex);
      pool_->queue.push_back(std::move(task));
   }
   pool_->wake.notify_one();
}

uint32_t ThreadTaskRunner::concurrency() const {
   return static_cast<uint32_t>(pool_->threads.size());
}

} // namespace ouzel
