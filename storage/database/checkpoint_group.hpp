#pragma once
#include <cstdint>
#include <functional>

#include "common/sync/mutex.hpp"
#include "common/thread/repeating_task.hpp"
#include "storage/wal/log.hpp"

namespace ouzel::storage {

/// Commits that wait until a checkpoint in the store covers them (ouzel.commit = 'object_store'). They wait in groups:
/// one checkpoint serves all commits that were in the log when it began; meanwhile the next group forms. A failed
/// checkpoint is tried again, with growing pauses, as long as a commit waits for it.
///
/// Threads: any thread waits; a thread of the group, started by the first wait(), runs the checkpoints.
class CheckpointGroup {
public:
   struct Work {
      std::function<void()> checkpoint; ///< calls cover(); throws when the checkpoint fails
      std::function<void()> tidy;       ///< removals put off while checkpoints follow each other; must not throw
      std::function<bool()> isFenced;   ///< another server writes: no checkpoint will ever succeed
   };
   explicit CheckpointGroup(Work work) : work_(std::move(work)) {}
   ~CheckpointGroup() { stop(); }
   CheckpointGroup(const CheckpointGroup&) = delete;
   CheckpointGroup& operator=(const CheckpointGroup&) = delete;

   /// A checkpoint in the store has every commit in the log before `lsn`.
   void cover(Lsn lsn);
   /// Return when the store has the log up to `lsn`. Throws what the thread's Interruptible throws
   /// (common/thread/interruption.hpp), and 08007 when another server has taken over meanwhile.
   void wait(Lsn lsn);
   /// Wait until no checkpoint runs, and start none from now on. REQUIRES: no thread is in wait().
   void stop();

   static constexpr int64_t pauseMsMin = 100, pauseMsMax = 5'000; ///< after a checkpoint that failed

private:
   void run();
   bool isWanted() const REQUIRES(mutex_) { return waiting_ > 0 && wanted_ > covered_; }
   /// Run one checkpoint, without the mutex. False: the checkpoint threw.
   bool attempt(bool isFirst);

   const Work work_;
   Mutex mutex_;      ///< guards the members below
   CondVar progress_; ///< for threads in wait()
   CondVar wake_;     ///< for the group's thread
   Lsn covered_ GUARDED_BY(mutex_) = 0, wanted_ GUARDED_BY(mutex_) = 0;
   uint64_t waiting_ GUARDED_BY(mutex_) = 0;
   bool isStarted_ GUARDED_BY(mutex_) = false;
   bool isFenced_ GUARDED_BY(mutex_) = false;
   bool isStopping_ GUARDED_BY(mutex_) = false;
   RepeatingTask task_; ///< the group's thread, which calls run()
};

} // namespace ouzel::storage
