#pragma once
#include <memory>

#include "executor/operator/sort/external_sort.hpp"
#include "executor/operator/sort/sort_sink.hpp"
#include "executor/operator/window/window_pages.hpp"

namespace ouzel::executor {

/// Takes partitions out of a merge, in order, and marks their rows. Used by one thread at a time.
class WindowReader {
public:
   WindowReader(ExternalSort& sort, const WindowPlan& plan, const std::vector<uint8_t>& hasNulls);
   ~WindowReader();

   /// Begin to read a merge. The first row then starts a partition.
   void open(std::unique_ptr<SortMerge> merge);
   bool isOpen() const { return merge_ != nullptr || !rows_.empty(); }
   /// Move rows of whole partitions to the run, and a mark for each row to `marks`. If the last partition is too large,
   /// its rows go to `large`, and `marks` ends before them. Without rows in `marks` and `large` the merge has ended.
   void collect(QueryContext& context, std::unique_ptr<SortRun>& run, std::vector<uint8_t>& marks,
                std::shared_ptr<const WindowPages>& large);
   /// Move all rows of the merge.
   void collectAll(QueryContext& context, SortRun& run, std::vector<uint8_t>& marks);
   /// Write all rows of the merge to pages.
   std::unique_ptr<PagedRanges::Range> writeAll(QueryContext& context);
   /// Copy rows to the run; their keys are left out.
   void append(SortRun& run, std::span<const RowRef> rows);
   /// After collectAll(): the bytes of the first and the last row's PARTITION BY keys.
   const std::vector<std::byte>& firstPartition() const { return firstPartition_; }
   const std::vector<std::byte>& lastPartition() const { return lastPartition_; }

private:
   struct LastRow;
   std::shared_ptr<const WindowPages> collectLarge(QueryContext& context, std::unique_ptr<SortRun>& run,
                                                   std::vector<uint8_t>& marks);
   bool fetch(QueryContext& context, uint32_t rowsMax);
   std::span<const uint8_t> marksLeft() const { return std::span(marks_).last(rows_.size()); }
   uint8_t markOf(const RowRef& row) const;

   ExternalSort& sort_;
   const WindowPlan& plan_;
   const std::vector<uint8_t>& hasNulls_;
   const bool isHostile_;
   const size_t chunkBytes_;
   const uint32_t partitionBytes_; // of the key
   std::unique_ptr<SortMerge> merge_;
   std::span<const RowRef> rows_; // rows of the last merge_->next() that are not taken yet
   std::vector<uint8_t> marks_;   // marks of all rows of that call
   std::unique_ptr<LastRow> last_;
   std::vector<std::byte> firstPartition_, lastPartition_;
   GatherSpace space_;
   Batch gathered_;
   std::vector<std::byte> keys_;
};

} // namespace ouzel::executor
