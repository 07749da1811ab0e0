#pragma once
#include <cstdint>
#include <deque>
#include <functional>

#include "common/sync/mutex.hpp"
#include "storage/manifest/writer_lease.hpp"
#include "storage/wal/log.hpp"

namespace ouzel::storage {

/// Commits between their place in the log and the moment others see them (group commit).
///
///    add() ──> queued ──flush──> durable ──publishReady()──> published
///                 └───────────── fenced: wait() throws 08007, nothing is published any more
///
/// A thread that waits and finds nobody flushing flushes the log for all commits queued by then; meanwhile the next
/// group forms. Each waiter is woken once: when its commit is published, or when it is to flush next.
///
/// Ownership: entries belong to their committers and stay alive until wait() returns.
/// Threads: any; entriesMutex_ guards all state. publish() of an entry runs under it.
/// Invariants:
/// 1. Commits are published in log order, a synchronous one only when the log is durable behind it.
/// 2. After each flush the lease is looked at. Without it the log may not be the database's any more, so nothing that
///    is not published yet ever will be.
class CommitQueue {
public:
   struct Entry {
      Lsn endLsn = 0;
      bool isSynchronous = true;
      std::function<void()> publish;
      bool isPublished = false;
      bool isWaiting = false;
      CondVar wake{};
   };
   CommitQueue(Log& log, WriterLease& lease) : log_(log), lease_(lease) {}

   /// REQUIRES: the caller holds the lock that orders commits, since before it appended the entry's frame.
   void add(Entry& entry);
   /// Return when the entry is published. Throws 08007 when another server has taken over before.
   void wait(Entry& entry);
   /// Return when nothing is queued. Throws 25006. REQUIRES: the caller keeps new entries out.
   void drain();

   /// How many entries have been added.
   uint64_t addedCount();
   /// Return when so many entries are published, or never will be because another server has taken over.
   void waitForPublished(uint64_t count);

private:
   // With entriesMutex_ held:
   void publishReady();
   void wakeLeader();
   void setFenced();
   /// Without the mutex. False: what was written is not ours to acknowledge.
   [[nodiscard]] bool flush(Lsn& durable);

   Log& log_;
   WriterLease& lease_;

   Mutex entriesMutex_; ///< guards what follows
   std::deque<Entry*> entries_;
   uint64_t addedCount_ = 0, publishedCount_ = 0;
   uint64_t observers_ = 0; ///< threads in waitForPublished()
   CondVar published_;
   Lsn durable_ = 0;
   bool isFlushing_ = false;
   bool isFenced_ = false;
};

} // namespace ouzel::storage
