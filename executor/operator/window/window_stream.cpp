#include "executor/operator/window/window_stream.hpp"

#include <algorithm>
#include <cstring>

#include "common/error/sql_error.hpp"

namespace ouzel::executor {

namespace {
constexpr size_t chunkBytesMin = size_t{64} << 10, chunkBytesMax = size_t{8} << 20;
constexpr size_t chunksPerGrant = 16;
constexpr size_t pagesInMemoryMax = 64; // of a Large partition
constexpr uint32_t hostileRows = 8;     // for tests: partitions with more rows count as large
} // namespace

/// A copy of the key of the last row that the merge gave. The next call of the merge reuses the row's page.
struct WindowStream::LastRow {
   bool exists = false;
   std::vector<std::byte> key;
   std::vector<std::string> bytes; // by stored column: bytes of values that decide
   std::vector<StringView> values;
};

WindowStream::WindowStream(ExternalSort& sort, const WindowPlan& plan)
   : sort_(sort), plan_(plan), isHostile_(sort.spillsAlways()),
     chunkBytes_(isHostile_ ? 0
                            : std::clamp(sort.grant().floor() / (chunksPerGrant * sort.workers()), chunkBytesMin,
                                         chunkBytesMax)),
     last_(std::make_unique<LastRow>()) {
   const size_t columns = sort.buffer().layout().columns.size();
   last_->bytes.resize(columns);
   last_->values.resize(columns);
}

WindowStream::~WindowStream() = default;

/// How a row of rows_ differs from the row before. The row before the first of rows_ is last_.
uint8_t WindowStream::markOf(const RowRef& row) const {
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

void WindowStream::append(SortRun& run, std::span<const RowRef> rows) {
   const uint32_t stride = sort_.buffer().layout().key.stride();
   for (size_t from = 0; from < rows.size(); from += batchRowsMax) {
      const auto some = rows.subspan(from, std::min<size_t>(batchRowsMax, rows.size() - from));
      space_->gather(some, ranges_->hasNulls(), gathered_);
      keys_.resize(some.size() * stride); // their content does not matter: keys of this run are never compared
      run.appendEncoded(gathered_, keys_.data());
   }
}

/// Set rows_ to the next rows of the merge, with marks. False: the merge has no more rows.
bool WindowStream::fetch(QueryContext& context, uint32_t rowsMax) {
   if (hasEnded_) return false;
   context.checkCancelled();
   const SortRowLayout& layout = sort_.buffer().layout();
   if (!merge_) {
      ranges_ = sort_.merge(context);
      ranges_->start();
      merge_ = ranges_->open(0);
      space_ =
          std::make_unique<GatherSpace>(layout.columns, static_cast<uint32_t>(layout.columns.size()), sort_.memory());
   }
   rows_ = merge_->next(isHostile_ ? hostileRows : rowsMax);
   if (rows_.empty()) {
      hasEnded_ = true;
      merge_.reset();
      return false;
   }
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

void WindowStream::collect(QueryContext& context, std::unique_ptr<SortRun>& run, std::vector<uint8_t>& marks,
                           std::unique_ptr<Large>& large) {
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

// ---- partitions on disk ----

/// A partition in pages, its evaluation, and the number of rows given so far.
struct WindowStream::Large {
   explicit Large(Reservation& memory) : peers(memory), strings(&memory) {}
   PeerStarts peers;
   std::unique_ptr<WindowPager> rows;
   std::unique_ptr<WindowEvaluation> evaluation;
   std::vector<WindowResult> results; // of the current block
   Arena strings;
   uint32_t given = 0;
};

std::unique_ptr<WindowStream::Large> WindowStream::collectLarge(QueryContext& context, std::unique_ptr<SortRun>& run,
                                                                std::vector<uint8_t>& marks) {
   Reservation& memory = sort_.memory();
   const SortRowLayout& sorted = sort_.buffer().layout();
   const SortRowLayout layout{sorted.columns, SortKeyLayout({}), {}};
   auto large = std::make_unique<Large>(memory);
   RunWriter writer(layout, ranges_->hasNulls(), context.spill(), memory, sort_.pageBytes());
   const auto write = [&](std::span<const RowRef> rows, std::span<const uint8_t> rowMarks) {
      writer.append(rows);
      for (const uint8_t mark : rowMarks)
         large->peers.add((mark & PeerStart) != 0);
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
   large->peers.seal();
   SpilledRun pages = writer.finish();
   std::vector<PhysicalType> types;
   for (const Representation& column : layout.columns)
      types.push_back(column.physical);
   const size_t pagesMax =
       std::min<size_t>(sort_.grant().floor() / (4 * sort_.workers() * sort_.pageBytes()), pagesInMemoryMax);
   large->rows = std::make_unique<WindowPager>(std::move(types), std::move(pages.pages), std::move(pages.hasNulls),
                                               context.spill(), memory, pagesMax);
   large->evaluation = std::make_unique<WindowEvaluation>(plan_, WindowPartition(*large->rows, large->peers, memory),
                                                          context.functions(), memory);
   large->results = std::vector<WindowResult>(plan_.calls.size());
   for (size_t i = 0; i < large->results.size(); ++i) {
      large->results[i].type = plan_.calls[i].type;
      large->results[i].allocate(batchRowsMax, memory);
   }
   return large;
}

/// Compute and give a block of rows of one page. The output uses the page's vectors, from a row on at which a validity
/// word begins.
void WindowStream::Lane::giveBlock(QueryContext& context, Batch& out) {
   Large& large = *large_;
   const uint32_t from = large.given;
   const WindowPager::Page& first = large.rows->pageOf(from);
   const uint32_t base = first.first + (from - first.first) / 64 * 64, lead = from - base;
   const uint32_t count =
       std::min({context.settings().batchRows, first.first + first.count - from, batchRowsMax - lead});
   large.strings.reset();
   for (WindowResult& result : large.results) {
      std::memset(result.nulls.data(), 0, result.nulls.bytes());
      result.hasNulls.store(false, std::memory_order_relaxed);
   }
   large.evaluation->evaluate({from, from + count, lead}, large.results, large.strings);
   const WindowPager::Page& page = large.rows->pageOf(from); // evaluate() may have evicted the page
   passed_.columns.clear();
   for (uint32_t i = 0; i < stream_.plan_.passedCount; ++i) {
      Vector column = page.rows.column(i);
      column.data = static_cast<const std::byte*>(column.data) + size_t{base - page.first} * physicalSize(column.type);
      if (column.validity) column.validity += (base - page.first) / 64;
      passed_.columns.push_back(column);
   }
   output_.assemble(passed_, large.results, 0, lead + count, out);
   if (lead > 0) {
      rows_.clear();
      for (uint32_t row = lead; row < lead + count; ++row)
         rows_.push_back(static_cast<RowIndex>(row));
      out.selection = Selection::list(rows_);
   }
   large.given += count;
}

// ---- Lane ----

/// Whole partitions in memory.
struct WindowStream::Chunk {
   explicit Chunk(const SortRowLayout& layout) : buffer(layout) {}
   SortBuffer buffer;
   uint64_t rows = 0, given = 0; // the buffer may have more than are wanted
   std::vector<WindowResult> results;
   std::unique_ptr<Arena> strings;
};

WindowStream::Lane::Lane(WindowStream& stream, QueryContext& context)
   : stream_(stream), space_(stream.sort_.buffer().layout().columns, stream.plan_.passedCount, context.memory()),
     output_(stream.plan_) {}

WindowStream::Lane::~Lane() = default;

/// Take further partitions, and compute them unless they are large.
SourceStatus WindowStream::Lane::take(QueryContext& context) {
   Reservation& memory = stream_.sort_.memory();
   auto run = std::make_unique<SortRun>(stream_.sort_.buffer().layout(), memory);
   std::vector<uint8_t> marks;
   {
      // A worker does not wait while another one reads from disk under the mutex.
      if (!stream_.mutex_.try_lock()) return SourceStatus::Blocked;
      const MutexLock lock(stream_.mutex_, std::adopt_lock);
      stream_.collect(context, run, marks, large_);
   }
   context.wake();
   if (marks.empty()) return large_ ? SourceStatus::HaveOutput : SourceStatus::Done;
   auto chunk = std::make_unique<Chunk>(stream_.sort_.buffer().layout());
   chunk->rows = marks.size();
   chunk->buffer.addRun(std::move(run));
   chunk->buffer.releaseKeys();
   chunk->buffer.keepArrivalOrder(memory);
   chunk->results = std::vector<WindowResult>(stream_.plan_.calls.size());
   for (size_t i = 0; i < chunk->results.size(); ++i) {
      chunk->results[i].type = stream_.plan_.calls[i].type;
      chunk->results[i].allocate(chunk->rows, memory);
   }
   chunk->strings = std::make_unique<Arena>(&memory);
   WindowEvaluation evaluation(stream_.plan_, WindowPartition(chunk->buffer, memory), context.functions(), memory);
   evaluation.evaluate(context, 0, chunk->rows, marks.data(), chunk->results, *chunk->strings);
   chunk_ = std::move(chunk);
   return SourceStatus::HaveOutput;
}

void WindowStream::Lane::giveChunk(QueryContext& context, Batch& out) {
   Chunk& chunk = *chunk_;
   const SortBuffer& buffer = chunk.buffer;
   const auto count = static_cast<uint32_t>(std::min<uint64_t>(context.settings().batchRows, chunk.rows - chunk.given));
   space_.gather(buffer, buffer.order().subspan(chunk.given, count), passed_);
   output_.assemble(passed_, chunk.results, chunk.given, count, out);
   chunk.given += count;
}

SourceStatus WindowStream::Lane::next(QueryContext& context, Batch& out) {
   if (chunk_ && chunk_->given == chunk_->rows) chunk_.reset();
   if (!chunk_ && large_ && large_->given == large_->rows->rowCount()) large_.reset();
   if (!chunk_ && !large_)
      if (const SourceStatus status = take(context); status != SourceStatus::HaveOutput) return status;
   if (chunk_)
      giveChunk(context, out);
   else
      giveBlock(context, out);
   return SourceStatus::HaveOutput;
}

} // namespace ouzel::executor
