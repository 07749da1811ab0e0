#pragma once
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "storage/database/checkpoint_kind.hpp"
#include "storage/database/committer.hpp"
#include "storage/database/retired_segments.hpp"

namespace ouzel::storage {

/// Rewrites segments. Many small commits and checkpoints leave many small blocks; deletes leave blocks of dead rows.
/// Before a checkpoint captures the tables, neighbouring segments that are small or have many dead rows become new
/// segments:
///
///    choose      in a Committer::Pause   neighbours of each table
///    rewrite     while commits go on     their live rows become blocks of new segments, which no table lists yet
///    move        marking waits           no row of the old segments may be marked (DeleteMarks::beginMove); deletes
///                                        committed since the rewrite are copied to the new segments
///    exchange    as a commit             the new segments take the place of the old ones, which are retired
///
/// A run with a block that is damaged stays as it is, and so does the block from then on: checkpoints do not fail for
/// it.
///
/// Snapshots from that commit on see the new segments, older snapshots the old ones. Row ids change; MovedRows tells
/// writers with older snapshots the new ones. A segment with rows that an open transaction has deleted or locked is
/// left for the next checkpoint.
///
/// Threads: one at a time, which holds Checkpointer::storedMutex_; rewriting runs on other threads as well.
class Compactor {
public:
   Compactor(StorageContext& context, TableRegistry& tables, RetiredSegments& retired, Committer& committer)
      : context_(context), tables_(tables), retired_(retired), committer_(committer) {}

   /// Rewrite small segments and those with many dead rows. For CheckpointKind::Commit, only where there are many.
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
   /// The new segments of a run. The destructor removes their blocks unless the log may name them.
   struct Rewritten {
      Timestamp since = 0; ///< the rewritten rows are those that lived at this time
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
   /// The run could not be read: note its damaged blocks.
   void noteDamage(const Run& run, const std::string& what);
   /// Put the new segments in the place of the run's, unless open transactions keep rows of the run marked.
   void moveRows(const Run& run, Rewritten& rewritten, CheckpointKind kind);

   StorageContext& context_;
   TableRegistry& tables_;
   RetiredSegments& retired_;
   Committer& committer_;
   std::set<SegmentId> damaged_; ///< segments whose blocks cannot be read: they stay as they are
};

} // namespace ouzel::storage
