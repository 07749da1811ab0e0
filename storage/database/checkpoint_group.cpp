#include "storage/database/checkpoint_group.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/log/log.hpp"
#include "common/thread/interruption.hpp"
#include "storage/manifest/writer_lease.hpp"

namespace ouzel::storage {

namespace {
/// Without a new waiter for this time, the thread calls Work::tidy.
constexpr std::chrono::milliseconds restAfter(200);
} // namespace

void CheckpointGroup::cover(Lsn lsn) {
   const MutexLock lock(mutex_);
   covered_ = std::max(covered_, lsn);
   progress_.notify_all();
}

void CheckpointGroup::wait(Lsn lsn) {
   UniqueLock lock(mutex_);
   if (lsn <= covered_) return;
   if (!std::exchange(isStarted_, true))
      task_.start(1, [this] {
         run();
         return 0; // 0: run() is called once
      });
   wanted_ = std::max(wanted_, lsn);
   ++waiting_;
   wake_.notify_one();
   try {
      waitInterruptibly(progress_, lock,
                        [&]() REQUIRES(mutex_) { return lsn <= covered_ || isFenced_ || isStopping_; });
   } catch (...) {
      --waiting_;
      throw;
   }
   --waiting_;
   if (lsn > covered_) WriterLease::throwTakenOver();
}

void CheckpointGroup::stop() {
   {
      const MutexLock lock(mutex_);
      isStopping_ = true;
      wake_.notify_one();
      progress_.notify_all();
   }
   task_.stop();
}

bool CheckpointGroup::attempt(bool isFirst) {
   try {
      work_.checkpoint();
      return true;
   } catch (const std::exception& error) {
      if (isFirst)
         logLine(LogLevel::Warning,
                 std::string("checkpoint that commits wait for failed, trying again: ") + error.what());
      return false;
   }
}

void CheckpointGroup::run() {
   UniqueLock lock(mutex_);
   int64_t pauseMs = 0; ///< 0: the last checkpoint succeeded
   bool isTidy = true;
   while (!isStopping_) {
      if (!isWanted()) {
         pauseMs = 0;
         const auto isOver = [&]() REQUIRES(mutex_) { return isStopping_ || isWanted(); };
         if (isTidy) {
            wake_.wait(lock, isOver);
         } else if (!wake_.wait_for(lock, restAfter, isOver)) {
            lock.unlock();
            work_.tidy();
            lock.lock();
            isTidy = true;
         }
         continue;
      }
      lock.unlock();
      const bool isDone = attempt(pauseMs == 0);
      const bool isOurs = isDone || !work_.isFenced();
      lock.lock();
      isTidy = false;
      if (!isOurs) {
         isFenced_ = true;
         progress_.notify_all();
         return;
      }
      pauseMs = isDone ? 0 : std::clamp(pauseMs * 2, pauseMsMin, pauseMsMax);
      if (!isDone)
         wake_.wait_for(lock, std::chrono::milliseconds(pauseMs), [&]() REQUIRES(mutex_) { return isStopping_; });
   }
}

} // namespace ouzel::storage
