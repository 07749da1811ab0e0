#include "storage/database/committer.hpp"

#include <algorithm>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/error/test_point.hpp"
#include "storage/base/definition_codec.hpp"

namespace ouzel::storage {

namespace {

using Kind = Transaction::StorageChange::Kind;

/// Calls `undo` at the end of its scope, unless dismiss() was called.
class Undo {
public:
   explicit Undo(std::function<void()> undo) : undo_(std::move(undo)) {}
   ~Undo() {
      if (undo_) undo_();
   }
   Undo(const Undo&) = delete;
   Undo& operator=(const Undo&) = delete;
   void dismiss() { undo_ = nullptr; }

private:
   std::function<void()> undo_;
};

bool isDropped(TableCore& core) {
   const MutexLock lock(core.mutex);
   return core.isDropped;
}

} // namespace

/// The writes of one committing transaction. Used by its session's thread; publish() may run on another, which reads
/// them.
class Committer::Pending {
public:
   explicit Pending(Transaction& transaction) : transaction_(transaction) {}

   /// Turn rows into bytes, and changes of tables into entries of the record. Called without locks.
   void encode() {
      encodeWrites();
      encodeStorageChanges();
   }
   /// Give rows their places. When place() throws, the caller calls unplace(). REQUIRES: orderMutex_.
   void place() {
      for (LocalWrites* local : writes_) {
         ++placed_;
         local->place();
         record.writes.push_back({local->table().id(), std::move(local->loggedRows), std::move(local->loggedBlocks),
                                  std::move(local->loggedDeletes)});
      }
   }
   /// Take the places back, before another commit gets places behind them. REQUIRES: orderMutex_.
   void unplace() {
      CHECK(placed_ <= writes_.size());
      while (placed_ > 0)
         writes_[--placed_]->unplace();
   }
   std::vector<ChangeLog::TableChange> changes() const {
      std::vector<ChangeLog::TableChange> changes;
      for (LocalWrites* local : writes_)
         changes.push_back({local->table().id(), local->table().columns(), local->changes()});
      return changes;
   }

   Transaction& transaction() { return transaction_; }
   const std::vector<LocalWrites*>& writes() const { return writes_; }
   const std::vector<Transaction::StorageChange>& storageChanges() const {
      return transaction_.storageChangesAtCommit();
   }

   CommitRecord record;

private:
   void encodeWrites() {
      std::set<StorageId> dropped;
      for (const auto& change : storageChanges())
         if (change.kind == Kind::Drop) dropped.insert(change.table->id());
      for (auto& [id, local] : transaction_.writesAtCommit()) {
         if (isDropped(local->table().core()) || dropped.contains(id)) { // no snapshot will see these rows
            local->rollbackTo(0);
         } else if (!local->isEmpty()) {
            local->encode();
            writes_.push_back(local.get());
         }
      }
   }

   void encodeStorageChanges() {
      for (const auto& change : storageChanges()) {
         const StorageId id = change.table->id();
         switch (change.kind) {
         case Kind::Create: record.created.push_back({id, *change.table->columns()}); break;
         case Kind::Drop: record.dropped.push_back(id); break;
         case Kind::AddColumn:
            // A table made by this transaction is logged with all its columns.
            if (std::none_of(record.created.begin(), record.created.end(),
                             [&](const auto& created) { return created.id == id; }))
               record.added.push_back({id, change.column});
            break;
         }
      }
   }

   Transaction& transaction_;
   std::vector<LocalWrites*> writes_; ///< local writes that are not empty
   size_t placed_ = 0;                ///< number of `writes_` from the front that have places
};

Committer::Committer(DatabaseFiles& files, StorageContext& context, TableRegistry& tables, Counters& counters,
                     BackgroundTasks& background, Log* log, Timestamp lastCommit)
   : files_(files), context_(context), tables_(tables), counters_(counters), background_(background), log_(log),
     lastAssigned_(lastCommit) {
   CHECK((log != nullptr) == (files.lease() != nullptr));
   CHECK(lastCommit == context.transactions.lastCommitted());
   if (log) queue_.emplace(*log, *files.lease());
}

Timestamp Committer::commit(Transaction& transaction, CommitRequest& request) {
   CHECK(transaction.isOpen());
   if (transaction.isReadOnly() && request.catalogChange.empty()) return commitNothing(transaction, request);
   Undo abort([&] { transaction.abort(); });
   files_.writerLease().require();
   Pending pending(transaction);
   pending.record.catalogChange = std::move(request.catalogChange);
   pending.encode();

   CommitQueue::Entry entry;
   Timestamp timestamp;
   {
      const MutexLock lock(orderMutex_);
      requireSerializable(transaction);
      Undo unplace([&] { pending.unplace(); });
      pending.place();
      const std::string bytes = reserve(pending.record);
      const bool isRecording = context_.transactions.changes.isRecording();
      auto changes = isRecording ? pending.changes() : std::vector<ChangeLog::TableChange>();
      unplace.dismiss();
      abort.dismiss(); // from here on the commit happens, or the process ends, or another server has taken over
      timestamp = ++lastAssigned_;
      if (isRecording) context_.transactions.changes.record(timestamp, std::move(changes));
      entry.isSynchronous = request.synchronous;
      entry.publish = [&, horizon = context_.transactions.horizon()] { publish(pending, request, timestamp, horizon); };
      append(timestamp, bytes, entry);
      transaction.commitLsn_ = entry.endLsn;
   }
   TEST_POINT("commit.appended");
   waitForPublication(pending, entry);
   TEST_POINT("commit.published");
   DCHECK(context_.transactions.lastCommitted() >= timestamp);
   transaction.finishCommitted();
   if (!request.synchronous) flushSoon();
   return timestamp;
}

Timestamp Committer::commitNothing(Transaction& transaction, CommitRequest& request) {
   if (request.publish) {
      const MutexLock lock(orderMutex_);
      request.publish(context_.transactions.lastCommitted());
   }
   transaction.abort();
   return context_.transactions.lastCommitted();
}

void Committer::requireSerializable(const Transaction& transaction) const {
   // The check, the timestamp and the entry in the change log belong together: they are made under one hold of
   // orderMutex_, so that each later commit is checked against this one.
   if (transaction.reads_ &&
       context_.transactions.changes.overlaps(*transaction.reads_, transaction.serializableSnapshot_))
      throw SqlError(sqlstate::tRSerializationFailure,
                     "could not serialize access due to read/write dependencies among transactions")
          .detail("Reason code: Canceled on identification as a pivot, during commit attempt.")
          .hint("The transaction might succeed if retried.");
}

std::string Committer::reserve(CommitRecord& record) {
   context_.ids.noteIn(record);
   std::string bytes = record.serialize();
   CHECK(!bytes.empty());
   log_->reserve(bytes.size());
   return bytes;
}

void Committer::append(Timestamp timestamp, std::string_view bytes, CommitQueue::Entry& entry) {
   CHECK(timestamp == lastAssigned_);
   CHECK(timestamp > context_.transactions.lastCommitted());
   entry.endLsn = log_->append(FrameKind::Commit, timestamp, std::span(&bytes, 1));
   queue_->add(entry);
}

void Committer::publish(Pending& pending, const CommitRequest& request, Timestamp timestamp, Timestamp horizon) {
   CHECK(timestamp > context_.transactions.lastCommitted());
   for (LocalWrites* local : pending.writes())
      local->publish(timestamp, horizon);
   for (const auto& change : pending.storageChanges())
      tables_.publish(change);
   if (request.publish) request.publish(timestamp);
   context_.transactions.publish(timestamp);
}

void Committer::waitForPublication(Pending& pending, CommitQueue::Entry& entry) {
   try {
      queue_->wait(entry);
      if (!entry.isSynchronous) files_.writerLease().require(); // published without a check of the lease
   } catch (...) {
      // The server that took over may have recovered these blocks and rows: drop them from memory, but undo nothing.
      pending.transaction().finishCommitted();
      throw;
   }
   CHECK(entry.isPublished);
}

void Committer::flushSoon() {
   if (isFlushScheduled_.exchange(true)) return;
   background_.run([this] {
      isFlushScheduled_ = false;
      log_->flush();
   });
}

Snapshot Committer::beginSerializable(Transaction& transaction) {
   uint64_t notRecorded = 0;
   {
      const MutexLock lock(orderMutex_);
      DCHECK(!transaction.reads_);
      transaction.reads_ = std::make_unique<ReadSet>();
      context_.transactions.changes.open(transaction.id());
      if (queue_) notRecorded = queue_->addedCount();
   }
   // The change log does not have commits that were queued before open(): the snapshot must see them, so wait for them.
   if (queue_) queue_->waitForPublished(notRecorded);
   const Snapshot snapshot = transaction.snapshot();
   transaction.serializableSnapshot_ = snapshot.commitTimestamp;
   context_.transactions.changes.setSnapshot(transaction.id(), snapshot.commitTimestamp);
   return snapshot;
}

void Committer::setCounter(Oid id, Counter counter) {
   files_.writerLease(); // throws when there is none
   std::string bytes;
   writeCounter(id, counter, bytes);
   const std::string_view part = bytes;
   const MutexLock lock(orderMutex_);
   log_->reserve(bytes.size());
   log_->append(FrameKind::Counter, lastAssigned_, std::span(&part, 1));
   counters_.set(id, counter);
}

void Committer::syncLog() {
   if (!log_) return;
   log_->flush();
   files_.writerLease().require();
}

Committer::Pause::Pause(Committer& committer) : committer_(committer), lock_(committer.orderMutex_) {
   committer.queue_->drain();
   CHECK(committer.lastAssigned_ == committer.context_.transactions.lastCommitted());
}

void Committer::commitOwn(OwnCommit& commit) {
   CommitQueue::Entry entry;
   {
      const Pause pause(*this); // a DROP may be queued
      if (!commit.isWanted()) return;
      const std::string bytes = reserve(commit.record);
      commit.willBeLogged();
      const Timestamp timestamp = ++lastAssigned_;
      entry.publish = [&, timestamp] {
         commit.publish(timestamp);
         CHECK(context_.transactions.lastCommitted() == timestamp);
      };
      append(timestamp, bytes, entry);
   }
   queue_->wait(entry);
}

void Committer::publishFollowed(Timestamp timestamp) {
   const MutexLock lock(orderMutex_);
   CHECK(timestamp > lastAssigned_);
   lastAssigned_ = timestamp;
   context_.transactions.publish(timestamp);
}

} // namespace ouzel::storage
