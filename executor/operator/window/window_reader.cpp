#include "executor/operator/window/window_reader.hpp"

#include <algorithm>
#include <cstring>

#include "common/error/sql_error.hpp"

namespace ouzel::executor {

namespace {
constexpr size_t chunkBytesMin = size_t{64} << 10, chunkBytesMax = size_t{8} << 20;
constexpr size_t chunksPerGrant = 16;
constexpr uint32_t hostileRows = 8; // for tests: partitions with more rows count as large
} // namespace

/// A copy of the key of the last row that the merge gave. The next call of the merge reuses the row's page.
struct WindowReader::LastRow {
   bool exists = false;
   std::vector<std::byte> key;
   std::vector<std::string> bytes; // by stored column: bytes of values that decide
   std::vector<StringView> values;
};

static uint32_t partitionBytes(const SortKeyLayout& key, uint32_t partitionKeys) {
   return partitionKeys > 0 ? key.columns()[partitionKeys - 1].end : 0;
}

WindowReader::WindowReader(ExternalSort& sort, const WindowPlan& plan, const std::vector<uint8_t>& hasNulls)
   : sort_(sort), plan_(plan), hasNulls_(hasNulls), isHostile_(sort.spillsAlways()),
     chunkBytes_(isHostile_ ? 0
                            : std::clamp(sort.grant().floor() / (chunksPerGrant * sort.workers()), chunkBytesMin,
                                         chunkBytesMax)),
     partitionBytes_(partitionBytes(sort.buffer().layout().key, plan.partitionKeys)),
     last_(std::make_unique<LastRow>()),
     space_(sort.buffer().layout().columns, static_cast<uint32_t>(sort.buffer().layout().columns.size()),
            sort.memory()) {
   const size_t columns = sort.buffer().layout().columns.size();
   last_->bytes.resize(columns);
   last_->values.resize(columns);
}

WindowReader::~WindowReader() = default;

void WindowReader::open(std::unique_ptr<SortMerge> merge) {
   DCHECK(!isOpen());
   merge_ = std::move(merge);
   last_->exists = false;
   firstPartition_.clear();
}

/// How a row of rows_ differs from the row before. The row before the first of rows_ is last_.
uint8_t WindowReader::markOf(const RowRef& row) const {
   const SortRowLayout& layout = sort_.buffer().layout();
   const auto keys = static_cast<uint32_t>(layout.key.columns().size());
   const RowRef* before = &row == rows_.data() ? nullptr : &row - 1;
   if (!before && !last_->exists) return PartitionStart | PeerStart;
   const std::byte* keyBefore = before ? before->piece->key(before->row) : last_->key.data();
   const LastRow& last = *last_;
   const auto compare = [&](uint32_t from, uint32_t to) {
      return compareKeys(
          layout, keyBefore, row.piece->key(row.row), from, to,
          [&](uint32_t column) {
             return before ? before->piece->values[column] + before->row * sizeof(StringView)
                           : reinterpret_cast<const std::byte*>(&last.values[column]);
          },
          [&](uint32_t column) { return row.piece->values[column] + row.row * sizeof(StringView); });
   };
   if (compare(0, plan_.partitionKeys) != 0) return PartitionStart | PeerStart;
   return compare(plan_.partitionKeys, keys) != 0 ? PeerStart : 0;
}

void WindowReader::append(SortRun& run, std::span<const RowRef> rows) {
   const uint32_t stride = sort_.buffer().layout().key.stride();
   for (size_t from = 0; from < rows.size(); from += batchRowsMax) {
      const auto some = rows.subspan(from, std::min<size_t>(batchRowsMax, rows.size() - from));
      space_.gather(some, hasNulls_, gathered_);
      keys_.resize(some.size() * stride); // their content does not matter: keys of this run are never compared
      run.appendEncoded(gathered_, keys_.data());
   }
}

/// Set rows_ to the next rows of the merge, with marks. False: the merge has no more rows.
bool WindowReader::fetch(QueryContext& context, uint32_t rowsMax) {
   if (!merge_) return false;
   context.checkCancelled();
   const SortRowLayout& layout = sort_.buffer().layout();
   rows_ = merge_->next(isHostile_ ? hostileRows : rowsMax);
   if (rows_.empty()) {
      merge_.reset();
      return false;
   }
   const auto partitionOf = [&](const RowRef& row, std::vector<std::byte>& out) {
      out.assign(row.piece->key(row.row), row.piece->key(row.row) + partitionBytes_);
   };
   if (!last_->exists) partitionOf(rows_.front(), firstPartition_);
   partitionOf(rows_.back(), lastPartition_);
   marks_.clear();
   for (const RowRef& row : rows_)
      marks_.push_back(markOf(row));
   const RowRef& row = rows_.back();
   last_->exists = true;
   last_->key.assign(row.piece->key(row.row), row.piece->key(row.row) + layout.key.width());
   for (const uint32_t column : layout.keyColumns) {
      if (column == UINT32_MAX) continue;
      StringView view;
      std::memcpy(&view, row.piece->values[column] + row.row * sizeof view, sizeof view);
      last_->bytes[column].assign(view.view());
      last_->values[column] = StringView(last_->bytes[column]);
   }
   return true;
}

namespace {
size_t firstPartitionStart(std::span<const uint8_t> marks) {
   return static_cast<size_t>(
       std::find_if(marks.begin(), marks.end(), [](uint8_t mark) { return (mark & PartitionStart) != 0; }) -
       marks.begin());
}
} // namespace

void WindowReader::collect(QueryContext& context, std::unique_ptr<SortRun>& run, std::vector<uint8_t>& marks,
                           std::shared_ptr<const WindowPages>& large) {
   while (!rows_.empty() || fetch(context, batchRowsMax)) {
      // Take all rows; or, if the run is large enough, only the rows before the next start of a partition.
      const bool isEnough = run->rowCount() > 0 && run->bytes() >= chunkBytes_;
      const size_t count = isEnough ? firstPartitionStart(marksLeft()) : rows_.size();
      if (isEnough && count > 0 && !sort_.grant().mayGrow(chunkBytes_)) {
         large = collectLarge(context, run, marks);
         return;
      }
      DCHECK(marksLeft().size() == rows_.size());
      append(*run, rows_.first(count));
      marks.insert(marks.end(), marksLeft().begin(), marksLeft().begin() + static_cast<ptrdiff_t>(count));
      rows_ = rows_.subspan(count);
      if (isEnough && !rows_.empty()) return;
   }
}

void WindowReader::collectAll(QueryContext& context, SortRun& run, std::vector<uint8_t>& marks) {
   while (fetch(context, batchRowsMax)) {
      append(run, rows_);
      marks.insert(marks.end(), marks_.begin(), marks_.end());
      rows_ = {};
   }
}

// ---- rows in pages ----

namespace {

/// Pages have no keys.
SortRowLayout pageLayout(const SortRowLayout& sorted) {
   return {sorted.columns, SortKeyLayout({}), {}};
}

} // namespace

std::unique_ptr<PagedRanges::Range> WindowReader::writeAll(QueryContext& context) {
   auto range = std::make_unique<PagedRanges::Range>(sort_.memory());
   const SortRowLayout layout = pageLayout(sort_.buffer().layout());
   RunWriter writer(layout, hasNulls_, context.spill(), sort_.memory(), sort_.pageBytes());
   while (fetch(context, std::max(batchRowsMax, writer.rowsPerPage()))) {
      writer.append(rows_);
      for (const uint8_t mark : marks_) {
         range->partitions.add((mark & PartitionStart) != 0);
         range->peers.add((mark & PeerStart) != 0);
      }
      rows_ = {};
   }
   range->pages = writer.finish().pages;
   range->firstPartition = firstPartition_;
   range->lastPartition = lastPartition_;
   return range;
}

std::shared_ptr<const WindowPages> WindowReader::collectLarge(QueryContext& context, std::unique_ptr<SortRun>& run,
                                                              std::vector<uint8_t>& marks) {
   Reservation& memory = sort_.memory();
   const SortRowLayout layout = pageLayout(sort_.buffer().layout());
   auto large = std::make_shared<WindowPages>(layout, hasNulls_, context.spill(), memory);
   RunWriter writer(layout, hasNulls_, context.spill(), memory, sort_.pageBytes());
   const auto write = [&](std::span<const RowRef> rows, std::span<const uint8_t> rowMarks) {
      writer.append(rows);
      for (const uint8_t mark : rowMarks) {
         large->partitions.add((mark & PartitionStart) != 0);
         large->peers.add((mark & PeerStart) != 0);
      }
      if (large->peers.rowCount() > INT32_MAX) throwNotSupported("a window partition of more than 2147483647 rows");
   };
   {
      run->seal();
      size_t from = marks.size();
      while ((marks[from - 1] & PartitionStart) == 0)
         --from;
      --from;
      const SortRun* pointer = run.get();
      const ColumnPieces pieces({&pointer, 1}, layout);
      std::vector<RowRef> refs;
      for (size_t row = from; row < marks.size(); ++row) {
         refs.push_back(pieces.ref({0, static_cast<uint32_t>(row)}));
         if (refs.size() < writer.rowsPerPage() && row + 1 < marks.size()) continue;
         write(refs, std::span(marks).subspan(row + 1 - refs.size(), refs.size()));
         refs.clear();
      }
      marks.resize(from);
   }
   if (marks.empty()) run.reset();
   while (!rows_.empty() || fetch(context, std::max(batchRowsMax, writer.rowsPerPage()))) {
      const size_t count = firstPartitionStart(marksLeft());
      write(rows_.first(count), marksLeft().first(count));
      rows_ = rows_.subspan(count);
      if (!rows_.empty()) break;
   }
   large->rows.append(writer.finish().pages);
   large->seal();
   return large;
}

} // namespace ouzel::executor
