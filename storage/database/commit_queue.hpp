#pragma once
#include <cstdint>
#include <deque>
#include <functional>

#include "common/sync/mutex.hpp"
#include "storage/manifest/writer_lease.hpp"
#include "storage/wal/log.hpp"

namespace ouzel::storage {

/// Queue of commits between their append to the log and their publication (group commit).
///
///    add() ──> queued ──flush──> durable ──publishReady()──> published
///                 └───────────── fenced: wait() throws 08007, no entry is published any more
///
/// A waiting thread that finds no flush running flushes the log for all commits queued by then; meanwhile the next
/// group forms. Each waiter is woken once: when its commit is published, or when it is to flush next.
///
/// Ownership: entries belong to their committers and stay alive until wait() returns.
/// Threads: any; entriesMutex_ guards all state. publish() of an entry runs under it.
/// Invariants:
/// 1. Commits are published in log order, a synchronous one only when the log is durable up to its end.
/// 2. After each flush the lease is checked. Without the lease another server may own the log's database, so entries
///    that are not published yet never will be.
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
   /// Flush, and publish all entries. Throws 25006 when another server has taken over. REQUIRES: the caller keeps new
   /// entries out.
   void drain();

   /// How many entries have been added.
   uint64_t addedCount();
   /// Return when `count` entries are published, or never will be because another server has taken over.
   void waitForPublished(uint64_t count);

private:
   void publishReady() REQUIRES(entriesMutex_);
   void wakeLeader() REQUIRES(entriesMutex_);
   void setFenced() REQUIRES(entriesMutex_);
   /// Flush the log and check the lease, without the mutex. False: another server has taken over, so the flushed
   /// commits must not be acknowledged.
   [[nodiscard]] bool flush(Lsn& durable);

   Log& log_;
   WriterLease& lease_;

   Mutex entriesMutex_; ///< guards the members below
   std::deque<Entry*> entries_ GUARDED_BY(entriesMutex_);
   uint64_t addedCount_ GUARDED_BY(entriesMutex_) = 0, publishedCount_ GUARDED_BY(entriesMutex_) = 0;
   uint64_t observers_ GUARDED_BY(entriesMutex_) = 0; ///< threads in waitForPublished()
   CondVar published_;
   Lsn durable_ GUARDED_BY(entriesMutex_) = 0;
   bool isFlushing_ GUARDED_BY(entriesMutex_) = false;
   bool isFenced_ GUARDED_BY(entriesMutex_) = false;
};

} // namespace ouzel::storage
