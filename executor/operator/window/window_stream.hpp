#pragma once
#include <atomic>
#include <memory>
#include <optional>

#include "common/sync/mutex.hpp"
#include "executor/operator/window/window_carry.hpp"
#include "executor/operator/window/window_reader.hpp"

// Windows over spilled rows, in one of four ways:
//
//    ranges of rows        each lane merges one range after the other into memory (a chunk) and computes it. Ranges may
//                          begin within a partition: CarryChain gives what their first rows need of earlier ranges
//    ranges of partitions  functions that need more than that: ranges are cut where partitions begin
//    pages                 such functions over few large partitions: the lanes write ranges of rows to pages on disk.
//                          When all are there, the lanes compute pieces of them (PagedRanges, window_pages.hpp)
//    one range             the lanes take chunks of whole partitions out of one merge, one lane at a time
//
// In the second and the last way, a partition that does not fit into memory is written to pages, too, and computed by
// one lane.

namespace ouzel::executor {

class WindowStream {
   struct Chunk;

public:
   WindowStream(QueryContext& context, ExternalSort& sort, const WindowPlan& plan);
   ~WindowStream();

   /// How many lanes can read at once.
   uint32_t lanesMax() const;
   void describe(OperatorProfile& profile) const;

   class Lane {
   public:
      Lane(WindowStream& stream, QueryContext& context);
      ~Lane();
      /// The next rows of this lane. Blocked while another lane takes a chunk, or has not yet read an earlier range.
      SourceStatus next(QueryContext& context, Batch& out);

   private:
      bool openRange();
      SourceStatus take(QueryContext& context);
      SourceStatus takePiece(QueryContext& context, SortRun& run, std::vector<uint8_t>& marks);
      bool hasRows() const { return chunk_ || (paged_ && !paged_->hasEnded()); }
      void addToChain(QueryContext& context);
      SourceStatus evaluate(QueryContext& context);
      void giveChunk(QueryContext& context, Batch& out);

      WindowStream& stream_;
      std::unique_ptr<WindowReader> reader_; ///< of a range; null: the stream's is used
      uint32_t range_ = UINT32_MAX;
      std::unique_ptr<Chunk> chunk_; ///< given before the rows of paged_
      std::unique_ptr<PagedWindow> paged_;
      GatherSpace space_;
      Batch passed_;
      WindowOutput output_;
   };
   std::unique_ptr<Lane> makeLane(QueryContext& context) { return std::make_unique<Lane>(*this, context); }

private:
   std::unique_ptr<PagedWindow> makePaged(QueryContext& context, std::shared_ptr<const WindowPages> pages) const;
   bool hasExactPartitions() const;
   bool cutRows();
   bool cutPartitions();
   bool holdsPages() const;
   uint32_t rowsPerPiece() const;
   size_t wholeBytes() const;

   ExternalSort& sort_;
   const WindowPlan& plan_;
   std::unique_ptr<MergeRanges> ranges_; // null: all ranges were read
   std::vector<uint8_t> hasNulls_;       // by stored column
   uint32_t rangeCount_ = 1;
   std::atomic<uint32_t> nextRange_{0}, endedRanges_{0}, lanesUsed_{0};
   std::optional<CarryChain> chain_;  // of ranges of rows
   std::optional<PagedRanges> paged_; // ranges become pages
   Mutex mutex_;
   std::unique_ptr<WindowReader> reader_ GUARDED_BY(mutex_); // of the only range
};

} // namespace ouzel::executor
