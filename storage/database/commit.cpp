#include <algorithm>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/error/test_point.hpp"
#include "common/log/log.hpp"
#include "storage/database/database_state.hpp"

// The commit path. Encode without locks; under the commit lock assign the timestamp, give rows their places and append
// the record; wait for the group's sync; publish in order.

namespace ouzel::storage {

namespace {

/// Aborts unless told that all went well.
class AbortGuard {
public:
   explicit AbortGuard(std::function<void()> undo) : undo_(std::move(undo)) {}
   ~AbortGuard() {
      if (undo_) undo_();
   }
   void dismiss() { undo_ = nullptr; }

private:
   std::function<void()> undo_;
};

} // namespace

Timestamp Database::State::commit(Transaction& transaction, CommitRequest& request) {
   CHECK(transaction.isOpen());
   if (transaction.isReadOnly() && request.catalogChange.empty()) {
      if (request.publish) {
         const std::lock_guard lock(commitMutex);
         request.publish(transactions.lastCommitted());
      }
      transaction.undoAll();
      return transactions.lastCommitted();
   }
   AbortGuard abort([&] { transaction.undoAll(); });
   if (!lease) throw SqlError(sqlstate::readOnlySqlTransaction, "cannot write to a database opened read-only");
   lease->require();

   CommitRecord record;
   record.catalogChange = std::move(request.catalogChange);
   std::set<StorageId> dropped;
   for (const auto& change : transaction.storageChanges_)
      if (change.kind == Transaction::StorageChange::Kind::Drop) dropped.insert(change.table->id());
   std::vector<LocalWrites*> writes;
   for (auto& [id, local] : transaction.writes_) {
      const bool isGone = [&] {
         const std::lock_guard lock(local->table().core().mutex);
         return local->table().core().isDropped;
      }();
      if (isGone || dropped.contains(id)) { // nobody will see these rows
         local->rollbackTo(0);
         continue;
      }
      if (local->isEmpty()) continue;
      local->encode();
      writes.push_back(local.get());
   }
   for (const auto& change : transaction.storageChanges_) {
      const StorageId id = change.table->id();
      switch (change.kind) {
      case Transaction::StorageChange::Kind::Create:
         record.created.push_back({id, *change.table->columns()});
         break;
      case Transaction::StorageChange::Kind::Drop:
         record.dropped.push_back(id);
         break;
      case Transaction::StorageChange::Kind::AddColumn:
         // A table made by this transaction is logged with all its columns.
         if (std::none_of(record.created.begin(), record.created.end(),
                          [&](const auto& created) { return created.id == id; }))
            record.added.push_back({id, change.column});
         break;
      }
   }

   CommitQueue::Entry entry;
   Timestamp timestamp;
   {
      const std::lock_guard lock(commitMutex);
      // Whoever commits after this one is validated against it, so all of this transaction happens here.
      if (transaction.reads_ && transactions.changes.overlaps(*transaction.reads_, transaction.serializableSnapshot_))
         throw SqlError(sqlstate::tRSerializationFailure,
                        "could not serialize access due to read/write dependencies among transactions")
             .detail("Reason code: Canceled on identification as a pivot, during commit attempt.")
             .hint("The transaction might succeed if retried.");
      size_t placed = 0;
      AbortGuard unplace([&] {
         while (placed > 0)
            writes[--placed]->unplace();
      });
      for (LocalWrites* local : writes) {
         ++placed;
         local->place();
         record.writes.push_back({local->table().id(), std::move(local->loggedRows), std::move(local->loggedBlocks),
                                  std::move(local->loggedDeletes)});
      }
      record.nextOid = nextOid.load();
      record.nextStorage = nextStorage.load();
      record.nextSegment = context->nextSegment.load();
      const std::string bytes = record.serialize();
      log->reserve(bytes.size());
      unplace.dismiss();
      abort.dismiss(); // from here on the commit happens, or the process ends, or is no writer any more
      timestamp = ++lastAssigned;
      if (transactions.changes.isRecording()) {
         std::vector<ChangeLog::TableChange> changes;
         for (LocalWrites* local : writes)
            changes.push_back({local->table().id(), local->table().columns(), local->changes()});
         transactions.changes.record(timestamp, std::move(changes));
      }
      const std::string_view part = bytes;
      entry.endLsn = log->append(FrameKind::Commit, timestamp, std::span(&part, 1));
      entry.isSynchronous = request.synchronous;
      transaction.commitLsn_ = entry.endLsn;
      entry.publish = [&, horizon = transactions.horizon()] {
         for (LocalWrites* local : writes)
            local->publish(timestamp, horizon);
         for (const auto& change : transaction.storageChanges_) {
            const StorageId id = change.table->id();
            const std::lock_guard tablesLock(tablesMutex);
            switch (change.kind) {
            case Transaction::StorageChange::Kind::Create:
            case Transaction::StorageChange::Kind::AddColumn:
               if (const auto it = tables.find(id); it != tables.end()) {
                  it->second.isCommitted = true;
                  it->second.committedColumns = static_cast<uint32_t>(change.table->columns()->size());
               }
               break;
            case Transaction::StorageChange::Kind::Drop:
               tables.erase(id);
               const std::lock_guard coreLock(change.table->core().mutex);
               change.table->core().isDropped = true;
               break;
            }
         }
         if (request.publish) request.publish(timestamp);
         transactions.publish(timestamp);
      };
      queue->add(entry);
   }
   TEST_POINT("commit.appended");
   try {
      queue->wait(entry);
      if (!request.synchronous) lease->require(); // nobody has looked after it was published
   } catch (...) {
      // Its blocks and rows may be part of what the other server has recovered: nothing is undone, only forgotten.
      transaction.finishCommitted();
      throw;
   }
   TEST_POINT("commit.published");
   transaction.finishCommitted();
   if (!request.synchronous && !isFlushScheduled.exchange(true))
      runInBackground([this] {
         isFlushScheduled = false;
         log->flush();
      });
   scheduleCheckpointIfDue();
   return timestamp;
}

Snapshot Database::State::beginSerializable(Transaction& transaction) {
   uint64_t notRecorded = 0;
   {
      const std::lock_guard lock(commitMutex);
      transaction.reads_ = std::make_unique<ReadSet>();
      transactions.changes.open(transaction.id());
      if (queue) notRecorded = queue->addedCount();
   }
   // The snapshot has to see the commits that are on their way to the disk, as the change log does not have them.
   if (queue) queue->waitForPublished(notRecorded);
   const Snapshot snapshot = transaction.snapshot();
   transaction.serializableSnapshot_ = snapshot.commitTimestamp;
   transactions.changes.setSnapshot(transaction.id(), snapshot.commitTimestamp);
   return snapshot;
}

void Database::State::startGroup() {
   CheckpointGroup::Work work;
   work.checkpoint = [this] {
      const std::lock_guard lock(checkpointMutex);
      checkpoint(CheckpointKind::Commit);
   };
   work.tidy = [this] {
      const std::lock_guard lock(checkpointMutex);
      removeUnused();
   };
   work.isFenced = [this] { return lease->isFenced(); };
   group = std::make_unique<CheckpointGroup>(std::move(work));
   group->cover(manifest.replayLsn);
}

void Database::State::runInBackground(std::function<void()> task) {
   {
      const std::lock_guard lock(backgroundMutex);
      if (isClosing) return;
      ++backgroundTasks;
   }
   tasks.submit([this, task = std::move(task)] {
      task();
      const std::lock_guard lock(backgroundMutex);
      --backgroundTasks;
      backgroundIdle.notify_all();
   });
}

void Database::State::waitForBackground() {
   std::unique_lock lock(backgroundMutex);
   isClosing = true;
   backgroundIdle.wait(lock, [&] { return backgroundTasks == 0; });
}

void Database::State::scheduleCheckpointIfDue() {
   if (const Timestamp retired = oldestRetired.load(); retired != 0 && retired <= transactions.horizon())
      releaseRetired();
   // The delta shares the memory limit with everything else: past a quarter of it, it becomes blocks.
   // What was dropped takes space until a checkpoint leaves it behind.
   constexpr size_t garbageMax = 16;
   const bool isDue = log->keptBytes() > options.checkpointWalBytes || context->garbage.count() > garbageMax ||
                      deltaMemory.used() > context->retiredDeltaBytes +
                                               std::max<size_t>(governor.ledger().limit() / 4, size_t{64} << 20);
   if (!isDue || !catalogImage) return;
   {
      const std::lock_guard lock(backgroundMutex);
      if (isCheckpointScheduled || isClosing || log->keptBytes() < retryAtLogBytes) return;
      isCheckpointScheduled = true;
   }
   runInBackground([this] {
      try {
         const std::lock_guard lock(checkpointMutex);
         checkpoint(CheckpointKind::Background);
         const std::lock_guard backgroundLock(backgroundMutex);
         retryAtLogBytes = 0;
      } catch (const std::exception& error) {
         // The log keeps everything. Not again at once: that would only fill the disk with attempts.
         logLine(LogLevel::Error, std::string("checkpoint failed: ") + error.what());
         const std::lock_guard lock(backgroundMutex);
         retryAtLogBytes = log->keptBytes() + (options.checkpointWalBytes >> 4);
      }
      const std::lock_guard lock(backgroundMutex);
      isCheckpointScheduled = false;
   });
}

} // namespace ouzel::storage
