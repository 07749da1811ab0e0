#pragma once
#include <atomic>
#include <functional>
#include <optional>

#include "common/sync/mutex.hpp"
#include "storage/database/background_tasks.hpp"
#include "storage/database/commit_queue.hpp"
#include "storage/database/commit_record.hpp"
#include "storage/database/counters.hpp"
#include "storage/database/database_files.hpp"
#include "storage/database/table_registry.hpp"

namespace ouzel::storage {

/// Brings commits into one order: that of their timestamps, of their frames in the log, of their rows in a segment and
/// of their publication. A commit goes through these steps:
///
///    encode      no lock         rows become bytes of a log record
///    place       orderMutex_     validate reads, give rows their places, assign the timestamp, append, queue
///    wait        no lock         until the log is durable (CommitQueue)
///    publish     in log order    open delete marks become timestamps, rows and tables appear, the timestamp is visible
///
/// Ownership: owned by the Database; owns the queue. In a database opened read-only there is no queue, and only
/// transactions without writes commit.
/// Threads: any; orderMutex_ guards the order.
/// Invariants:
/// 1. An error before the append leaves the transaction aborted and its places free. After the append the commit
///    happens, or the process ends, or another server has taken over.
/// 2. Timestamps in the log increase, and so do those published.
class Committer {
public:
   /// `log`: the log to append to; null: the database is opened read-only.
   Committer(DatabaseFiles& files, StorageContext& context, TableRegistry& tables, Counters& counters,
             BackgroundTasks& background, Log* log, Timestamp lastCommit);
   Committer(const Committer&) = delete;
   Committer& operator=(const Committer&) = delete;

   // See Database.
   Timestamp commit(Transaction& transaction, CommitRequest& request);
   Snapshot beginSerializable(Transaction& transaction);
   void setCounter(Oid id, Counter counter);
   void syncLog();

   /// While a Pause exists, no commit is under way and none begins: every commit in the log is published. It holds
   /// orderMutex_.
   class SCOPED_CAPABILITY Pause {
   public:
      /// Wait for the commits under way. Throws 25006 when another server has taken over.
      explicit Pause(Committer& committer) ACQUIRE(committer.orderMutex_);
      ~Pause() RELEASE() {}
      Timestamp lastCommit() const {
         committer_.orderMutex_.assertHeld();
         return committer_.lastAssigned_;
      }
      /// See Log::rotate().
      Lsn rotateLog(uint64_t fileBytesMin) { return committer_.log_->rotate(fileBytesMin); }

   private:
      Committer& committer_;
      const MutexLock lock_;
   };

   /// A commit that storage makes for itself, not for a transaction (compaction).
   struct OwnCommit {
      CommitRecord record;
      std::function<bool()> isWanted;         ///< called in a Pause; false: there is no commit
      std::function<void()> willBeLogged;     ///< called before the append: from then on the log may have the commit
      std::function<void(Timestamp)> publish; ///< calls TransactionManager::publish()
   };
   /// Return when the commit is published, or not wanted. Throws as commit() does.
   void commitOwn(OwnCommit& commit);

   /// Of a follower: publish the changes that are in place as one commit at `timestamp`.
   void publishFollowed(Timestamp timestamp);

private:
   class Pending;

   Timestamp commitNothing(Transaction& transaction, CommitRequest& request);
   void publish(Pending& pending, const CommitRequest& request, Timestamp timestamp, Timestamp horizon);
   void waitForPublication(Pending& pending, CommitQueue::Entry& entry);
   void flushSoon();
   void requireSerializable(const Transaction& transaction) const REQUIRES(orderMutex_);
   /// Serialize the record, and reserve space in the log for its bytes.
   std::string reserve(CommitRecord& record) REQUIRES(orderMutex_);
   void append(Timestamp timestamp, std::string_view bytes, CommitQueue::Entry& entry) REQUIRES(orderMutex_);

   // PROPERTIES
   DatabaseFiles& files_;
   StorageContext& context_;
   TableRegistry& tables_;
   Counters& counters_;
   BackgroundTasks& background_;
   Log* const log_;                   ///< null: opened read-only
   std::optional<CommitQueue> queue_; ///< none: opened read-only
   // STATE
   Mutex orderMutex_; ///< guards the members below, appends to the log and to the queue, and places in open deltas
   Timestamp lastAssigned_ GUARDED_BY(orderMutex_);
   std::atomic<bool> isFlushScheduled_{false}; ///< a flush for asynchronous commits is scheduled
};

} // namespace ouzel::storage
