#pragma once
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>

#include "io/file/file.hpp"
#include "io/object_store/object_store.hpp"
#include "storage/database/checkpoint_group.hpp"
#include "storage/database/commit_queue.hpp"
#include "storage/database/commit_record.hpp"
#include "storage/database/database.hpp"
#include "storage/manifest/manifest.hpp"
#include "storage/manifest/writer_lease.hpp"
#include "storage/table/table_core.hpp"
#include "storage/wal/log.hpp"
#include "storage/wal/temporary_log.hpp"

namespace ouzel::storage {

/// Why there is a checkpoint.
enum class CheckpointKind : uint8_t {
   Background, ///< somebody asked, or the log has grown
   Commit,     ///< commits wait for it: no more than they need, at once
   Clean,      ///< the last one; nobody works beside it
};

/// The members of a Database, open to its files: database.cpp (life, tables), commit.cpp, recovery.cpp, checkpoint.cpp.
///
/// Locks, in the order they are taken: checkpointMutex, commitMutex, the queue's, tablesMutex, a table's.
struct Database::State {
   State(const DatabaseOptions& o, MemoryGovernor& g, TaskRunner& t);
   ~State();

   // PROPERTIES
   const DatabaseOptions options;
   MemoryGovernor& governor;
   TaskRunner& tasks;
   std::unique_ptr<TemporaryLog> temporaryLog; ///< null: the log is kept
   std::string walDirectory;
   io::File lockFile;
   std::unique_ptr<io::ObjectStore> store;
   std::unique_ptr<WriterLease> lease;    ///< null: opened read-only
   std::atomic<bool> hasLostBlock{false}; ///< of a follower: the writer has removed one that was read
   Reservation deltaMemory;
   TransactionManager transactions;
   KeyIndexPool keyIndexes;
   std::unique_ptr<StorageContext> context;
   std::unique_ptr<Log> log;               ///< null: follows
   std::unique_ptr<CommitQueue> queue;     ///< null: opened read-only
   std::unique_ptr<CheckpointGroup> group; ///< null: opened read-only
   std::function<std::string()> catalogImage;

   // STATE
   struct Entry {
      std::shared_ptr<Table> table;
      bool isCommitted = false;
      uint32_t committedColumns = 0;
   };
   mutable std::mutex tablesMutex; ///< guards tables
   std::map<StorageId, Entry> tables;

   std::mutex commitMutex; ///< order of commits: guards lastAssigned, counters and the log's append
   Timestamp lastAssigned = 1;
   std::map<Oid, Counter> counters;

   std::mutex checkpointMutex; ///< guards what follows
   Manifest manifest;          ///< the newest one published
   struct Persisted {
      std::vector<SegmentId> segments;
      uint64_t deleteChecksum = 0; ///< of the serialized DeletedRows; 0: none
      std::string listName;
      ListOfHeaders list;
      /// Of the objects that say this, blocks excepted.
      void addNames(std::set<std::string>& names) const;
   };
   std::map<StorageId, Persisted> persisted;
   std::set<std::string> referencedObjects; ///< by that manifest, blocks excepted
   uint64_t catalogChecksum = 0;            ///< of the image in its catalogObject
   std::set<std::string> unusedObjects;     ///< to be removed
   /// Of a follower: tables that the manifest does not name any more, and since when.
   std::vector<std::pair<Timestamp, StorageId>> droppedTables;

   std::mutex replacedMutex; ///< guards what follows
   /// Blocks of segments that compaction has retired: the next manifest does not name them.
   std::vector<std::shared_ptr<Block>> replacedBlocks;
   /// No segment that is retired and still listed was so before; 0: there is none.
   std::atomic<Timestamp> oldestRetired{0};

   std::atomic<Oid> nextOid{16384};
   std::atomic<uint64_t> nextStorage{1};
   RecoveredCatalog recovered;
   bool isClosed = false;

   std::atomic<bool> isFlushScheduled{false}; ///< for commits that did not wait

   std::mutex backgroundMutex; ///< guards what follows
   std::condition_variable backgroundIdle;
   uint32_t backgroundTasks = 0;
   bool isCheckpointScheduled = false;
   uint64_t retryAtLogBytes = 0; ///< after a failed checkpoint, how long the log is to be before the next one
   bool isClosing = false;

   // recovery.cpp
   void claim();
   void recover();
   /// What cannot be released expires.
   void releaseLease();
   /// What others, or lost answers, have left unfinished in the store; what cannot be removed stays until the next
   /// start. REQUIRES: the lease is held, no predecessor may live and nobody is putting.
   void removeLeftovers();
   // checkpoint.cpp
   void checkpoint(CheckpointKind kind);
   /// Run body(0) ... body(count - 1) in parallel. Background: in half as many threads as there are workers, which wait
   /// for others. Commit: what waits for a network waits at the same time.
   void forEachPiece(uint64_t count, CheckpointKind kind, const std::function<void(uint64_t)>& body);
   /// What the manifest before needed, and this one does not, becomes unused.
   void publishManifest(Manifest next, std::set<std::string> referenced);
   void removeUnused();
   /// No manifest names it any more. Removed with what is unused, or when its last user is gone.
   void discardBlock(std::shared_ptr<Block> block, CheckpointKind kind);
   /// What cannot be removed stays until the next start.
   void removeObjects(const std::set<std::string>& names);
   void removeOrphans(const std::set<std::string>& namedByLog);
   // compaction.cpp
   /// Rewrite small segments and those with many dead rows; for a Commit, where there are many.
   void compact(CheckpointKind kind);
   bool hasManySmall();
   /// Put `after`, the rows of `before` that lived at `since`, in its place, unless somebody has rows of it in hand.
   /// `isUsed`: the log may name the blocks of `after`.
   /// `isPatient`: it may wait for those who have.
   void moveRows(Table& table, const SegmentList& before, const SegmentList& after, Timestamp since, bool isPatient,
                 bool& isUsed);
   void noteRetired(Timestamp timestamp);
   /// Forget segments that nobody can read any more.
   void releaseRetired();
   // follower.cpp
   void startFollowing();
   bool follow(const FollowCallback& publish);
   /// Load that manifest and publish it. checkpointMutex is held.
   bool followTo(const std::string& name, const FollowCallback& publish);
   void forgetDropped();
   // commit.cpp
   void startGroup();
   Timestamp commit(Transaction& transaction, CommitRequest& request);
   Snapshot beginSerializable(Transaction& transaction);
   void scheduleCheckpointIfDue();
   void runInBackground(std::function<void()> task);
   void waitForBackground();
};

} // namespace ouzel::storage
