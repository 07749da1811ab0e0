#pragma once
#include <memory>

#include "common/sync/mutex.hpp"
#include "executor/operator/sort/external_sort.hpp"
#include "executor/operator/sort/sort_sink.hpp"
#include "executor/operator/window/window_plan.hpp"

// Windows over rows that were spilled: partitions come out of the merge one after the other; a lane takes some whole
// ones, computes them in memory and gives their rows before it takes the next. Only the merge is serial. A partition
// that does not fit is written to pages on disk and computed block by block (window_pages.hpp).

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
      /// The next rows of this lane.
      SourceStatus next(QueryContext& context, Batch& out);

   private:
      SourceStatus take(QueryContext& context);
      void giveChunk(QueryContext& context, Batch& out);
      void giveBlock(QueryContext& context, Batch& out);

      WindowStream& stream_;
      std::unique_ptr<Chunk> chunk_; ///< given first
      std::unique_ptr<Large> large_;
      GatherSpace space_;
      Batch passed_;
      WindowOutput output_;
      std::vector<RowIndex> rows_;
   };
   std::unique_ptr<Lane> makeLane(QueryContext& context) { return std::make_unique<Lane>(*this, context); }

private:
   struct LastRow;
   /// Move rows of whole partitions to the run; `marks` gets a mark for each. The last one may be too large for that:
   /// its rows go to `large` then, and `marks` ends before them. No rows at all: there are none left.
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
   Mutex mutex_; // guards what follows
   std::unique_ptr<SortMerge> merge_ GUARDED_BY(mutex_);
   bool hasEnded_ GUARDED_BY(mutex_) = false;
   std::span<const RowRef> rows_ GUARDED_BY(mutex_); ///< of the merge, not yet taken
   std::vector<uint8_t> marks_ GUARDED_BY(mutex_);   ///< of all rows of that call
   std::unique_ptr<LastRow> last_ GUARDED_BY(mutex_);
   std::unique_ptr<GatherSpace> space_ GUARDED_BY(mutex_);
   Batch gathered_ GUARDED_BY(mutex_);
   std::vector<std::byte> keys_ GUARDED_BY(mutex_);
};

} // namespace ouzel::executor
