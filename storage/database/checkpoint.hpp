#pragma once
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "common/memory/ledger.hpp"
#include "storage/database/background_tasks.hpp"
#include "storage/database/checkpoint_kind.hpp"
#include "storage/database/committer.hpp"
#include "storage/database/retired_segments.hpp"
#include "storage/database/stored_state.hpp"

namespace ouzel::storage {

/// The parts of a database that checkpoints work with.
struct CheckpointParts {
   DatabaseFiles& files;
   StorageContext& context;
   TableRegistry& tables;
   Counters& counters;
   RetiredSegments& retired;
   Committer& committer;
   BackgroundTasks& background;
   Log& log;
   const MemoryLedger& ledger; ///< that the deltas are charged to
};

/// Blocks that are discarded unless they come into use.
struct NewBlocks {
   std::vector<SegmentPtr> segments; ///< null: not made yet
   bool isUsed = false;

   NewBlocks() = default;
   NewBlocks(const NewBlocks&) = delete;
   NewBlocks& operator=(const NewBlocks&) = delete;
   ~NewBlocks() {
      for (const SegmentPtr& segment : segments)
         if (segment && !isUsed) segment->block->discard();
   }
};

/// One attempt to make the database of one moment the state in the store.
///
///    capture()   between two commits  log position, catalog image, tables' segments
///    write()     others go on         delta segments become blocks under the same ids (rows keep their order, dead
///                                     ones included), headers and deletes are stored, one put of a manifest makes all
///                                     of it the state of the database
///    cleanUp()   others go on         what the manifest before needed becomes unused
///
/// Threads: one, which holds Checkpointer::storedMutex_; pieces of the work run on others.
/// Invariant: until the manifest is put, the log has everything. When write() throws, the database is as before;
/// objects that were stored count as referenced, so that the next manifest makes them unused.
class Checkpoint {
public:
   Checkpoint(const CheckpointParts& parts, StoredState& stored, CheckpointKind kind)
      : parts_(parts), stored_(stored), kind_(kind) {}

   void capture(const std::function<std::string()>& imageSource);
   void write();
   /// Of the manifest that was put: the log before this is not needed.
   Lsn replayLsn() const { return replayLsn_; }
   void cleanUp();

private:
   /// An object that the manifest is going to need.
   struct NewObject {
      std::string name, bytes;
      bool isSealed = true;
   };
   void encodeDeltas();
   SegmentPtr encodeSegment(StorageId table, const Segment& segment, NewObject* later);
   void useBlocks();
   void addCatalog();
   void addTable(const TableRegistry::Captured& captured);
   std::vector<ListOfHeaders::Entry> listEntries(const TableRegistry::Captured& captured, const ListOfHeaders& before);
   void storeObjects();
   void publish();
   void discardBlock(std::shared_ptr<Block> block);
   std::string uniqueName() const;
   std::string tableObject(StorageId id, const char* kind) const;

   const CheckpointParts& parts_;
   StoredState& stored_;
   const CheckpointKind kind_;

   // Captured:
   Manifest next_;
   Lsn replayLsn_ = 0;
   std::string image_;
   std::set<std::string> garbage_; ///< of tables that the log before replayLsn_ has dropped
   std::vector<TableRegistry::Captured> captured_;
   std::vector<std::shared_ptr<Block>> replaced_; ///< blocks of segments that compaction has retired
   // Made:
   bool storesTogether_ = false; ///< blocks too are stored when all objects are known
   NewBlocks blocks_;            ///< of captured delta segments
   std::set<SegmentId> emptied_; ///< captured delta segments without rows
   uint64_t imageChecksum_ = 0;
   std::vector<NewObject> objects_;
   std::vector<std::pair<StorageId, StoredTable>> changed_;
};

} // namespace ouzel::storage
