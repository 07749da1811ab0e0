#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "storage/database/checkpoint_kind.hpp"
#include "storage/database/committer.hpp"
#include "storage/database/retired_segments.hpp"

namespace ouzel::storage {

/// Rewrites segments. Many small commits and checkpoints leave many small blocks, deletes leave blocks of dead rows.
/// Before a checkpoint captures the tables, neighbours that are small or have many dead rows become new segments:
///
///    choose      in a pause      neighbours of each table
///    rewrite     others go on    their living rows become blocks of new segments, which no table lists
///    move        marks wait      no row may be marked (DeleteMarks::beginMove); deletes since the rewrite are carried
///    over exchange    a commit        new segments take the place of the old ones, which are retired
///
/// Snapshots from that commit on see the new segments, older ones the old. Row ids change, so a segment with rows that
/// somebody is about to delete, or has locked, has to wait for the next checkpoint.
///
/// Threads: one at a time, which holds Checkpointer::storedMutex_; rewriting runs on others as well.
class Compactor {
public:
   Compactor(StorageContext& context, TableRegistry& tables, RetiredSegments& retired, Committer& committer)
      : context_(context), tables_(tables), retired_(retired), committer_(committer) {}

   /// Rewrite small segments and those with many dead rows; for a Commit, where there are many.
   void run(CheckpointKind kind);

   /// Neighbours of one table to be rewritten.
   struct Run {
      std::shared_ptr<Table> table;
      std::shared_ptr<const std::vector<ColumnDefinition>> columns; ///< committed ones
      SegmentList segments;
      uint64_t rows = 0;
      bool isWorthAlone = false;
   };

private:
   /// What a run becomes. Blocks that do not come into use are removed.
   struct Rewritten {
      Timestamp since = 0; ///< rows that lived then
      SegmentList segments;
      bool isUsed = false; ///< the log may name the blocks

      Rewritten() = default;
      Rewritten(const Rewritten&) = delete;
      Rewritten& operator=(const Rewritten&) = delete;
      ~Rewritten() {
         for (const SegmentPtr& segment : segments)
            if (!isUsed) segment->block->discard();
      }
   };

   bool hasManySmall() const;
   /// Put what was rewritten in the run's place, unless somebody has rows of it in hand.
   void moveRows(const Run& run, Rewritten& rewritten, CheckpointKind kind);

   StorageContext& context_;
   TableRegistry& tables_;
   RetiredSegments& retired_;
   Committer& committer_;
};

} // namespace ouzel::storage
