#pragma once
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "common/memory/ledger.hpp"
#include "storage/database/background_tasks.hpp"
#include "storage/database/checkpoint_kind.hpp"
#include "storage/database/committer.hpp"
#include "storage/database/replaced_blocks.hpp"
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
   ReplacedBlocks& replacedBlocks;
   Committer& committer;
   BackgroundTasks& background;
   Log& log;
   const MemoryLedger& ledger; ///< the deltas are charged to it
};

/// New blocks of segments. The destructor removes their objects unless `isUsed` is set: then tables list the blocks.
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

/// One attempt to write the state of one moment to the store.
///
///    capture()   in a Committer::Pause   takes the log position, the catalog image, the tables' segments
///    write()     while commits go on     encodes delta segments as blocks under the same ids (dead rows included, in
///                                        the same order), stores headers and deletes, puts the manifest
///    cleanUp()   while commits go on     marks objects that only the manifest before needed as unused
///
/// Putting the manifest makes all of it the state of the database.
///
/// Threads: one, which holds Checkpointer::storedMutex_; pieces of the work run on other threads.
/// Invariant: until the manifest is put, the log has every commit. When write() throws, the database is as before, and
/// the objects that were stored count as referenced: the next manifest makes them unused.
class Checkpoint {
public:
   Checkpoint(const CheckpointParts& parts, StoredState& stored, CheckpointKind kind)
      : parts_(parts), stored_(stored), kind_(kind) {}

   void capture(const std::function<std::string()>& imageSource);
   void write();
   /// The position noted in the manifest: a start does not need the log before it.
   Lsn replayLsn() const { return replayLsn_; }
   void cleanUp();
   /// What write() has made, for the log: "3 blocks with 1200 rows, 2 other objects".
   std::string describe() const;

private:
   /// An object that the next manifest refers to.
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
   std::set<std::string> garbage_; ///< objects of tables that were dropped before replayLsn_
   std::vector<TableRegistry::Captured> captured_;
   std::vector<std::shared_ptr<Block>> replaced_; ///< blocks of segments that compaction has retired
   // Made:
   bool storesTogether_ = false; ///< blocks are stored together with the other objects
   NewBlocks blocks_;            ///< blocks of captured delta segments
   std::set<SegmentId> emptied_; ///< captured delta segments without rows
   uint64_t imageChecksum_ = 0;
   std::vector<NewObject> objects_;
   std::vector<std::pair<StorageId, StoredTable>> changed_;
};

} // namespace ouzel::storage
