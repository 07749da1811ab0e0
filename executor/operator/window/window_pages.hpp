#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "common/sync/mutex.hpp"
#include "executor/operator/sort/sort_sink.hpp"
#include "executor/operator/window/window_plan.hpp"

// Windows over rows in pages on disk: WindowPages has the rows, PagedWindow computes some of them, and PagedRanges lets
// many workers write the pages and compute pieces of the rows.

namespace ouzel::executor {

/// Rows in pages, in order, and where partitions and groups of peers begin. Filled by one thread, then sealed, then
/// read by any thread.
struct WindowPages {
   /// `hasNulls`: by stored column.
   WindowPages(const SortRowLayout& layout, std::vector<uint8_t> hasNulls, io::SpillSpace& space, Reservation& memory);
   void seal();

   PagedRows rows;
   RowStarts partitions, peers;
};

/// Rows [from, end) of WindowPages: whole partitions, or a part of one partition.
struct WindowPiece {
   uint32_t from, end;
   bool isWhole;
};

/// Computes pieces of WindowPages for one worker, block by block. The pieces of a partition must come in order, but the
/// worker need not get all of them. What a running aggregate or a RANGE frame needs of the rows between two pieces is
/// computed, too.
class PagedWindow {
public:
   /// Keeps `pagesMax` pages in memory.
   PagedWindow(std::shared_ptr<const WindowPages> pages, const WindowPlan& plan, FunctionContext& functions,
               Reservation& memory, size_t pagesMax);

   /// Begin with a part of a partition. REQUIRES: hasEnded().
   void open(const WindowPiece& piece);
   bool hasEnded() const { return next_ == end_; }
   /// Compute the next rows of the piece, at most `rowsMax`. `out` is valid until the next call.
   void give(uint32_t rowsMax, Batch& out);
   /// Call append(rows) for all rows of the piece, some at a time, and add their marks to `marks`.
   template <typename Append>
   void copy(const WindowPiece& piece, std::vector<uint8_t>& marks, Append&& append) {
      pager_.expect(piece.from, piece.end);
      for (uint32_t row = piece.from; row < piece.end;) {
         const std::span<const RowRef> rows = refs(row, piece.end);
         append(rows);
         row += static_cast<uint32_t>(rows.size());
      }
      for (uint32_t row = piece.from; row < piece.end; ++row)
         marks.push_back(static_cast<uint8_t>((pages_->partitions.isStart(row) ? PartitionStart : 0) |
                                              (pages_->peers.isStart(row) ? PeerStart : 0)));
   }

private:
   std::span<const RowRef> refs(uint32_t from, uint32_t end);

   const std::shared_ptr<const WindowPages> pages_;
   const WindowPlan& plan_;
   WindowPager pager_;
   WindowEvaluation evaluation_;
   RowStarts::Group partition_{0, 0}; // of the piece
   bool isFirstBlock_ = true;         // of the partition
   uint32_t next_ = 0, end_ = 0;
   std::vector<WindowResult> results_; // of the current block
   Arena strings_;
   Batch passed_;
   WindowOutput output_;
   std::vector<RowIndex> selected_;
   ColumnPiece piece_;
   std::vector<RowRef> refs_;
};

/// Ranges of sorted rows that workers write to pages, in any order, and then the pieces of all rows that workers take.
/// A partition may span ranges. Thread-safe.
class PagedRanges {
public:
   /// A piece has at most `pieceRows` rows; pages of whole partitions in one have at most `wholeBytes`.
   PagedRanges(std::unique_ptr<WindowPages> pages, uint32_t ranges, uint32_t pieceRows, size_t wholeBytes)
      : pieceRows_(pieceRows), wholeBytes_(wholeBytes), ranges_(ranges), missing_(ranges), pages_(std::move(pages)) {}

   /// A range's pages. Its first row begins a partition and a group of peers in `partitions` and `peers`.
   struct Range {
      explicit Range(Reservation& memory) : partitions(memory), peers(memory) {}
      std::vector<SpilledColumnPage> pages;
      RowStarts partitions, peers;
      std::vector<std::byte> firstPartition, lastPartition; ///< keys; those of different partitions differ
   };
   /// True: this was the last range, so that all rows are there.
   bool add(uint32_t number, std::unique_ptr<Range> range);
   bool isComplete() const { return isComplete_.load(std::memory_order_acquire); }
   /// REQUIRES: isComplete().
   std::shared_ptr<const WindowPages> pages() const;
   /// The next rows; nothing: all were taken. REQUIRES: isComplete().
   std::optional<WindowPiece> take();

private:
   void unite() REQUIRES(mutex_);

   bool mayBeWhole(uint32_t from, uint32_t end) const REQUIRES(mutex_) {
      return end - from <= pieceRows_ && pages_->rows.bytesOf(from, end) <= wholeBytes_;
   }

   const uint32_t pieceRows_;
   const size_t wholeBytes_;
   std::atomic<bool> isComplete_{false};
   mutable Mutex mutex_;
   std::vector<std::unique_ptr<Range>> ranges_ GUARDED_BY(mutex_);
   uint32_t missing_ GUARDED_BY(mutex_);
   std::shared_ptr<WindowPages> pages_ GUARDED_BY(mutex_);
   uint32_t next_ GUARDED_BY(mutex_) = 0;
   RowStarts::Group partition_ GUARDED_BY(mutex_){0, 0}; // that has the row next_, once it has been asked for
};

} // namespace ouzel::executor
