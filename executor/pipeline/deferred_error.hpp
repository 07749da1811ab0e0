#pragma once
#include <atomic>
#include <exception>

#include "common/error/sql_error.hpp"
#include "common/sync/mutex.hpp"

namespace ouzel::executor {

/// The first error of the data in the pipelines that make one side of a join. The join throws it when the other side
/// has a row: PostgreSQL computes a scalar subquery when the first row asks for it, so that one whose value nobody
/// wants does not fail. The pipelines end early and leave incomplete rows, which the join therefore never reads.
/// Thread-safe.
class DeferredError {
public:
   /// Errors of values may wait. Others, as cancels and lack of memory, end the query at once.
   static bool mayWait(const SqlError& error) {
      return error.state().text().starts_with("22") || error.state() == sqlstate::cardinalityViolation;
   }

   void set(std::exception_ptr error) {
      const MutexLock lock(mutex_);
      if (error_) return;
      error_ = std::move(error);
      isSet_.store(true, std::memory_order_release);
   }
   bool isSet() const { return isSet_.load(std::memory_order_acquire); }
   [[noreturn]] void raise() const {
      std::exception_ptr error;
      {
         const MutexLock lock(mutex_);
         error = error_;
      }
      std::rethrow_exception(error);
   }

private:
   mutable Mutex mutex_;
   std::exception_ptr error_ GUARDED_BY(mutex_);
   std::atomic<bool> isSet_{false};
};

} // namespace ouzel::executor
