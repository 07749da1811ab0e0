#pragma once
#include <cstdint>
#include <functional>
#include <memory>

// Background work for rooms that may not see the scheduler. executor/schedule implements TaskRunner over its workers;
// the two implementations here serve tests and start-up, before there is a scheduler.

namespace ouzel {

/// Runs pieces of work that belong together and waits for all of them. Thread-safe.
class TaskRunner {
public:
   virtual ~TaskRunner() = default;

   /// Run body(0) … body(count - 1), on any threads (the caller's too) and in any order; return when all have ended.
   /// The first exception is rethrown here after the others have finished.
   virtual void parallelFor(uint64_t count, const std::function<void(uint64_t)>& body) = 0;
   /// Run `task` some time later on another thread. It must not throw and must not wait for another task.
   virtual void submit(std::function<void()> task) = 0;
   /// How many pieces can make progress at once.
   virtual uint32_t concurrency() const = 0;
};

/// Runs everything on the calling thread, at once.
class InlineTaskRunner final : public TaskRunner {
public:
   void parallelFor(uint64_t count, const std::function<void(uint64_t)>& body) override;
   void submit(std::function<void()> task) override { task(); }
   uint32_t concurrency() const override { return 1; }
};

/// A pool of threads of its own. The destructor runs all submitted tasks, then joins the threads.
class ThreadTaskRunner final : public TaskRunner {
public:
   explicit ThreadTaskRunner(uint32_t threads);
   ~ThreadTaskRunner() override;

   void parallelFor(uint64_t count, const std::function<void(uint64_t)>& body) override;
   void submit(std::function<void()> task) override;
   uint32_t concurrency() const override;

private:
   struct Pool;
   std::unique_ptr<Pool> pool_;
};

} // namespace ouzel
