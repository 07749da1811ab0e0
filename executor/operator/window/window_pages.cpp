#include "executor/operator/window/window_pages.hpp"

#include <algorithm>
#include <cstring>

namespace ouzel::executor {

namespace {

std::vector<PhysicalType> typesOf(const SortRowLayout& layout) {
   std::vector<PhysicalType> types;
   for (const Representation& column : layout.columns)
      types.push_back(column.physical);
   return types;
}

} // namespace

WindowPages::WindowPages(const SortRowLayout& layout, std::vector<uint8_t> hasNulls, io::SpillSpace& space,
                         Reservation& memory)
   : rows(typesOf(layout), std::move(hasNulls), space), partitions(memory), peers(memory) {}

void WindowPages::seal() {
   DCHECK(rows.rowCount() == partitions.rowCount() && rows.rowCount() == peers.rowCount());
   partitions.seal();
   peers.seal();
}

// ---- PagedWindow ----

PagedWindow::PagedWindow(std::shared_ptr<const WindowPages> pages, const WindowPlan& plan, FunctionContext& functions,
                         Reservation& memory, size_t pagesMax)
   : pages_(std::move(pages)), plan_(plan), pager_(pages_->rows, memory, pagesMax),
     evaluation_(plan, WindowPartition(pager_, pages_->peers, memory), functions, memory), results_(plan.calls.size()),
     strings_(&memory), output_(plan) {
   for (size_t i = 0; i < results_.size(); ++i) {
      results_[i].type = plan.calls[i].type;
      results_[i].allocate(batchRowsMax, memory);
   }
}

void PagedWindow::open(const WindowPiece& piece) {
   DCHECK(hasEnded());
   const RowStarts::Group partition = pages_->partitions.groupAround(piece.from);
   DCHECK(piece.end <= partition.end);
   if (partition.end != partition_.end) {
      evaluation_.openPaged(partition.from, partition.end - partition.from);
      isFirstBlock_ = true;
   }
   partition_ = partition;
   next_ = piece.from;
   end_ = piece.end;
   pager_.expect(piece.from, piece.end);
}

/// The block is of one page. The output uses the page's vectors, from a row on at which a validity word begins.
void PagedWindow::give(uint32_t rowsMax, Batch& out) {
   const WindowPager::Page& first = pager_.pageOf(next_);
   const uint32_t base = first.first + (next_ - first.first) / 64 * 64, lead = next_ - base;
   const uint32_t count = std::min({rowsMax, first.first + first.count - next_, end_ - next_, batchRowsMax - lead});
   strings_.reset();
   for (WindowResult& result : results_) {
      std::memset(result.nulls.data(), 0, result.nulls.bytes());
      result.hasNulls.store(false, std::memory_order_relaxed);
   }
   const uint32_t from = next_ - partition_.from;
   evaluation_.evaluate({from, from + count, lead, isFirstBlock_}, results_, strings_);
   isFirstBlock_ = false;
   const WindowPager::Page& page = pager_.pageOf(next_); // evaluate() may have evicted the page
   passed_.columns.clear();
   for (uint32_t i = 0; i < plan_.passedCount; ++i) {
      Vector column = page.rows.column(i);
      column.data = static_cast<const std::byte*>(column.data) + size_t{base - page.first} * physicalSize(column.type);
      if (column.validity) column.validity += (base - page.first) / 64;
      passed_.columns.push_back(column);
   }
   output_.assemble(passed_, results_, 0, lead + count, out);
   if (lead > 0) {
      selected_.clear();
      for (uint32_t row = lead; row < lead + count; ++row)
         selected_.push_back(static_cast<RowIndex>(row));
      out.selection = Selection::list(selected_);
   }
   next_ += count;
}

/// Rows [from, end) that are on the page of row `from`, until the next call.
std::span<const RowRef> PagedWindow::refs(uint32_t from, uint32_t end) {
   const WindowPager::Page& page = pager_.pageOf(from);
   piece_.values.clear();
   piece_.validity.clear();
   for (size_t column = 0; column < pages_->rows.types().size(); ++column) {
      piece_.values.push_back(page.rows.values(column));
      piece_.validity.push_back(page.rows.validity(column));
   }
   refs_.clear();
   for (uint32_t row = from; row < std::min(end, page.first + page.count); ++row)
      refs_.push_back({&piece_, row - page.first});
   return refs_;
}

// ---- PagedRanges ----

bool PagedRanges::add(uint32_t number, std::unique_ptr<Range> range) {
   const MutexLock lock(mutex_);
   DCHECK(!ranges_[number]);
   ranges_[number] = std::move(range);
   if (--missing_ > 0) return false;
   unite();
   isComplete_.store(true, std::memory_order_release);
   return true;
}

void PagedRanges::unite() {
   const std::vector<std::byte>* before = nullptr; // partition of the last row
   for (const std::unique_ptr<Range>& range : ranges_) {
      if (range->peers.rowCount() == 0) continue;
      pages_->rows.append(std::move(range->pages));
      pages_->partitions.append(range->partitions, !before || *before != range->firstPartition);
      pages_->peers.append(range->peers, true); // peers are in one range
      before = &range->lastPartition;
   }
   pages_->seal();
   ranges_.clear();
}

std::shared_ptr<const WindowPages> PagedRanges::pages() const {
   const MutexLock lock(mutex_);
   return pages_;
}

std::optional<WindowPiece> PagedRanges::take() {
   const MutexLock lock(mutex_);
   const RowStarts& partitions = pages_->partitions;
   const uint32_t rows = partitions.rowCount(), from = next_;
   if (from == rows) return std::nullopt;
   if (from >= partition_.end) partition_ = partitions.groupAround(from);
   if (partition_.from < from || !mayBeWhole(from, partition_.end)) {
      next_ = std::min(partition_.end, from + std::min(pieceRows_, rows - from));
      return WindowPiece{from, next_, false};
   }
   next_ = partition_.end;
   while (next_ < rows) {
      const RowStarts::Group next = partitions.groupAround(next_);
      if (!mayBeWhole(from, next.end)) break;
      next_ = next.end;
   }
   return WindowPiece{from, next_, true};
}

} // namespace ouzel::executor
