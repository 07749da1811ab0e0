#pragma once
#include <exception>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/sync/mutex.hpp"
#include "storage/database/commit_record.hpp"
#include "storage/database/counters.hpp"
#include "storage/database/retired_segments.hpp"
#include "storage/wal/log.hpp"

namespace ouzel::storage {

/// Applies log records at a start. The caller's thread reads records, makes and drops tables and segments, and collects
/// rows and deletes by segment into lots. Other threads apply one lot, in order within each segment, while the caller
/// collects the next. Call finish() at the end.
///
/// Threads: apply() and finish() are called by one thread. No other thread uses the tables yet, so their mutexes are
/// not taken. applyingMutex_ guards the state shared between the caller and the task that applies a lot.
class Replay {
public:
   /// `lastCommit`: from the manifest. `discardsDropped`: blocks of dropped tables become garbage. `skipsDamaged`:
   /// changes of damaged tables are lost; else they end the replay with XX001.
   Replay(StorageContext& context, TableRegistry& tables, Counters& counters, RetiredSegments& retired,
          Timestamp lastCommit, bool discardsDropped, bool skipsDamaged)
      : context_(context), tables_(tables), counters_(counters), retired_(retired), lastCommit_(lastCommit),
        discardsDropped_(discardsDropped), skipsDamaged_(skipsDamaged) {}
   ~Replay();

   /// Apply one frame. Throws XX001 when the record contradicts the state so far.
   void apply(Log::Frame&& frame);
   /// Apply the last lot, and wait until all lots are applied.
   void finish();
   /// Objects of the blocks that the log names.
   const std::set<std::string>& namedObjects() const { return namedObjects_; }
   Timestamp lastCommit() const { return lastCommit_; }
   /// The commits' changes of the catalog, in order; moved out.
   std::vector<std::string> takeCatalogChanges() { return std::move(catalogChanges_); }

private:
   struct Work {
      Timestamp timestamp;
      LocalWrites::LoggedRows rows; ///< none when its rowCount is 0
      std::vector<uint32_t> deletes;
   };
   /// A segment that the log has named.
   struct Target {
      SegmentPtr segment;
      StorageId table;
      std::vector<Value> missing;
      std::vector<Work> collected, applying;
   };

   void addTable(StorageId id, std::vector<ColumnDefinition> columns);
   std::shared_ptr<Table> tableOf(StorageId id);
   void addColumn(const CommitRecord::AddedColumn& added);
   bool skips(const TableCore& core);
   void dropTable(StorageId id);
   SegmentPtr openBlock(const LocalWrites::LoggedBlock& logged, Timestamp timestamp);
   void addBlock(TableCore& core, const LocalWrites::LoggedBlock& logged, Timestamp timestamp);
   void rewrite(TableCore& core, const CommitRecord::Rewrite& logged, Timestamp timestamp);
   Target& targetOf(TableCore& core, SegmentId id, bool mayMake);
   void collect(Target& target, Work work, size_t bytes);
   void startApplying();
   void waitForApplying();
   static void applyTo(Target& target);

   StorageContext& context_;
   TableRegistry& tables_;
   Counters& counters_;
   RetiredSegments& retired_;
   Timestamp lastCommit_; ///< the newest commit applied
   const bool discardsDropped_, skipsDamaged_;
   std::set<StorageId> skipped_; ///< damaged tables whose changes are lost
   std::vector<std::string> catalogChanges_;
   std::set<std::string> namedObjects_;
   std::unordered_map<SegmentId, std::unique_ptr<Target>> targets_;
   std::vector<Target*> collected_, applying_;
   size_t collectedBytes_ = 0;

   Mutex applyingMutex_; ///< guards the members below
   CondVar idle_;
   bool isApplying_ GUARDED_BY(applyingMutex_) = false;
   std::exception_ptr error_ GUARDED_BY(applyingMutex_);
};

} // namespace ouzel::storage
