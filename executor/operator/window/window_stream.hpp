#pragma once
#include <memory>

#include "common/sync/mutex.hpp"
#include "executor/operator/sort/external_sort.hpp"
#include "executor/operator/sort/sort_sink.hpp"
#include "executor/operator/window/window_plan.hpp"

// Windows over spilled rows. Partitions come out of the merge one after the other. A lane takes some whole partitions
// (a chunk), computes them in memory, gives their rows, and takes the next chunk. Only taking is serial, under mutex_.
// A partition that does not fit into memory (Large) is written to pages on disk and computed block by block
// (window_pager.hpp).

namespace ouzel::executor {

class WindowStream {
   struct Chunk;
   struct Large;

public:
   WindowStream(ExternalSort& sort, const WindowPlan& plan);
   ~WindowStream();

   class Lane {
   public:
      Lane(WindowStream& stream, QueryContext& context);
      ~Lane();
      /// The next rows of this lane. Blocked while another lane takes a chunk.
      SourceStatus next(QueryContext& context, Batch& out);

   private:
      SourceStatus take(QueryContext& context);
      void giveChunk(QueryContext& context, Batch& out);
      void giveBlock(QueryContext& context, Batch& out);

      WindowStream& stream_;
      std::unique_ptr<Chunk> chunk_; ///< given before large_
      std::unique_ptr<Large> large_;
      GatherSpace space_;
      Batch passed_;
      WindowOutput output_;
      std::vector<RowIndex> rows_;
   };
   std::unique_ptr<Lane> makeLane(QueryContext& context) { return std::make_unique<Lane>(*this, context); }

private:
   struct LastRow;
   /// Move rows of whole partitions to the run, and a mark for each row to `marks`. If the last partition is too large,
   /// its rows go to `large`, and `marks` ends before them. Without rows in `marks` and `large` the merge has ended.
   void collect(QueryContext& context, std::unique_ptr<SortRun>& run, std::vector<uint8_t>& marks,
                std::unique_ptr<Large>& large) REQUIRES(mutex_);
   std::unique_ptr<Large> collectLarge(QueryContext& context, std::unique_ptr<SortRun>& run,
                                       std::vector<uint8_t>& marks) REQUIRES(mutex_);
   bool fetch(QueryContext& context, uint32_t rowsMax) REQUIRES(mutex_);
   std::span<const uint8_t> marksLeft() const REQUIRES(mutex_) { return std::span(marks_).last(rows_.size()); }
   uint8_t markOf(const RowRef& row) const REQUIRES(mutex_);
   void append(SortRun& run, std::span<const RowRef> rows) REQUIRES(mutex_);

   ExternalSort& sort_;
   const WindowPlan& plan_;
   const bool isHostile_;
   const size_t chunkBytes_;
   Mutex mutex_;
   std::unique_ptr<MergeRanges> ranges_ GUARDED_BY(mutex_);
   std::unique_ptr<SortMerge> merge_ GUARDED_BY(mutex_);
   bool hasEnded_ GUARDED_BY(mutex_) = false;
   std::span<const RowRef> rows_ GUARDED_BY(mutex_); ///< rows of the last merge_->next() that are not taken yet
   std::vector<uint8_t> marks_ GUARDED_BY(mutex_);   ///< marks of all rows of that call
   std::unique_ptr<LastRow> last_ GUARDED_BY(mutex_);
   std::unique_ptr<GatherSpace> space_ GUARDED_BY(mutex_);
   Batch gathered_ GUARDED_BY(mutex_);
   std::vector<std::byte> keys_ GUARDED_BY(mutex_);
};

} // namespace ouzel::executor
