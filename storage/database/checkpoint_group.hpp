#pragma once
#include <cstdint>
#include <functional>

#include "common/sync/mutex.hpp"
#include "common/thread/repeating_task.hpp"
#include "storage/wal/log.hpp"

namespace ouzel::storage {

/// Commits that wait until a checkpoint in the store covers them (ouzel.commit = 'object_store'). They go in groups:
/// one checkpoint, run by a thread of the group's own, serves everybody whose commit was in the log when it began;
/// meanwhile the next group forms. A checkpoint that fails is tried again, with growing pauses, as long as somebody
/// waits for it. The thread is started by the first who waits. Thread-safe.
class CheckpointGroup {
public:
   struct Work {
      std::function<void()> checkpoint; ///< calls cover(); throws when there is none now
      std::function<void()> tidy;       ///< what is put off while one checkpoint follows the other; must not throw
      std::function<bool()> isFenced;   ///< another server writes: no checkpoint will ever be
   };
   explicit CheckpointGroup(Work work) : work_(std::move(work)) {}
   ~CheckpointGroup() { stop(); }
   CheckpointGroup(const CheckpointGroup&) = delete;
   CheckpointGroup& operator=(const CheckpointGroup&) = delete;

   /// Everything in the log before `lsn` is in the store.
   void cover(Lsn lsn);
   /// Return when that is so. Throws what the thread's Interruptible throws (common/thread/interruption.hpp), and 08007
   /// when another server has taken over meanwhile.
   void wait(Lsn lsn);
   /// Wait until no checkpoint runs; there will be no other one. REQUIRES: nobody waits.
   void stop();

   static constexpr int64_t pauseMsMin = 100, pauseMsMax = 5'000; ///< after a checkpoint that failed

private:
   void run();
   bool isWanted() const { return waiting_ > 0 && wanted_ > covered_; }
   /// True: it went well. Without the mutex.
   bool attempt(bool isFirst);

   const Work work_;
   Mutex mutex_;      ///< guards what follows
   CondVar progress_; ///< for those who wait
   CondVar wake_;     ///< for the thread
   Lsn covered_ = 0, wanted_ = 0;
   uint64_t waiting_ = 0;
   bool isStarted_ = false, isFenced_ = false, isStopping_ = false;
   RepeatingTask task_; ///< its thread calls run()
};

} // namespace ouzel::storage
