#include "executor/operator/window/window_stream.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace ouzel::executor {

/// Rows in memory: whole partitions, or a range of rows.
struct WindowStream::Chunk {
   explicit Chunk(const SortRowLayout& layout) : buffer(layout) {}
   SortBuffer buffer;
   std::vector<uint8_t> marks;
   uint64_t rows = 0, given = 0; // the buffer may have more than are wanted
   bool isEvaluated = false;
   WindowCarry before; ///< of a range of rows
   std::vector<WindowResult> results;
   std::unique_ptr<Arena> strings;
};

WindowStream::WindowStream(QueryContext& context, ExternalSort& sort, const WindowPlan& plan)
   : sort_(sort), plan_(plan), ranges_(sort.merge(context)) {
   if (sort.mergeLanes() > 1 && cutRows())
      chain_.emplace(plan, ranges_->count(), sort.memory());
   else if (sort.mergeLanes() > 1)
      cutPartitions();
   sort_.fitLanes(*ranges_);
   if (ranges_->count() == 1) chain_.reset();
   hasNulls_ = ranges_->hasNulls();
   ranges_->start();
   rangeCount_ = ranges_->count();
   if (rangeCount_ > 1) return;
   const MutexLock lock(mutex_);
   reader_ = std::make_unique<WindowReader>(sort, plan, hasNulls_);
   reader_->open(ranges_->open(0));
}

WindowStream::~WindowStream() = default;

/// Ranges of rows must fit into memory, and keys must tell whether two rows are of one partition.
bool WindowStream::cutRows() {
   const auto& keys = sort_.buffer().layout().key.columns();
   for (uint32_t i = 0; i < plan_.partitionKeys; ++i)
      if (!keys[i].isExact) return false;
   if (!mayCarry(plan_)) return false;
   const uint64_t rowsMax =
       std::max<uint64_t>(1, sort_.grant().floor() / (8 * sort_.mergeLanes() * sort_.bytesPerRow()));
   ranges_->cut(std::min(sort_.rowsPerRange(), rowsMax));
   // Many rows with equal keys are in one range.
   for (uint32_t range = 0; range < ranges_->count(); ++range)
      if (ranges_->rowsAtLeast(range) > 2 * rowsMax) return false;
   return ranges_->count() > 1;
}

void WindowStream::cutPartitions() {
   ranges_->cut(sort_.rowsPerRange(), 0, plan_.partitionKeys);
}

uint32_t WindowStream::lanesMax() const {
   return rangeCount_ > 1 ? std::min(rangeCount_, sort_.mergeLanes()) : UINT32_MAX;
}

void WindowStream::describe(OperatorProfile& profile) const {
   sort_.describeReading(profile);
   profile.notes.emplace_back("Merged Ranges", std::to_string(rangeCount_));
   if (rangeCount_ > 1) profile.notes.emplace_back("Ranges Of", chain_ ? "rows" : "partitions");
   profile.notes.emplace_back("Merge Lanes", std::to_string(lanesUsed_.load()));
}

// ---- Lane ----

WindowStream::Lane::Lane(WindowStream& stream, QueryContext& context)
   : stream_(stream), space_(stream.sort_.buffer().layout().columns, stream.plan_.passedCount, context.memory()),
     output_(stream.plan_) {
   if (stream.rangeCount_ > 1)
      reader_ = std::make_unique<WindowReader>(stream.sort_, stream.plan_, stream.hasNulls_);
   else
      ++stream.lanesUsed_;
}

WindowStream::Lane::~Lane() = default;

/// Open the next range, unless the lane has one. False: there are no more.
bool WindowStream::Lane::openRange() {
   if (reader_->isOpen()) return true;
   // After the last range no reader is open, so nobody uses the merge.
   if (range_ != UINT32_MAX && ++stream_.endedRanges_ == stream_.rangeCount_) stream_.ranges_.reset();
   const uint32_t range = stream_.nextRange_.fetch_add(1);
   if (range >= stream_.rangeCount_) {
      range_ = UINT32_MAX;
      return false;
   }
   if (range_ == UINT32_MAX) ++stream_.lanesUsed_;
   range_ = range;
   reader_->open(stream_.ranges_->open(range));
   return true;
}

/// Take further partitions, or the next range of rows.
SourceStatus WindowStream::Lane::take(QueryContext& context) {
   Reservation& memory = stream_.sort_.memory();
   auto run = std::make_unique<SortRun>(stream_.sort_.buffer().layout(), memory);
   std::vector<uint8_t> marks;
   if (reader_) {
      if (!openRange()) return SourceStatus::Done;
      if (stream_.chain_)
         reader_->collectAll(context, *run, marks);
      else
         reader_->collect(context, run, marks, large_);
   } else {
      // A worker does not wait while another one reads from disk under the mutex.
      if (!stream_.mutex_.try_lock()) return SourceStatus::Blocked;
      {
         const MutexLock lock(stream_.mutex_, std::adopt_lock);
         if (stream_.reader_) stream_.reader_->collect(context, run, marks, large_);
         if (stream_.reader_ && !stream_.reader_->isOpen()) {
            stream_.reader_.reset();
            stream_.ranges_.reset();
         }
      }
      context.wake(); // lanes that found the mutex taken
   }
   if (marks.empty()) return large_ || reader_ ? SourceStatus::HaveOutput : SourceStatus::Done;
   auto chunk = std::make_unique<Chunk>(stream_.sort_.buffer().layout());
   chunk->rows = marks.size();
   chunk->marks = std::move(marks);
   chunk->buffer.addRun(std::move(run));
   chunk->buffer.releaseKeys();
   chunk->buffer.keepArrivalOrder(memory);
   chunk_ = std::move(chunk);
   if (stream_.chain_) addToChain(context);
   return SourceStatus::HaveOutput;
}

/// Tell later ranges what they need of this one.
void WindowStream::Lane::addToChain(QueryContext& context) {
   Reservation& memory = stream_.sort_.memory();
   uint64_t last = chunk_->rows - 1; // first row of the last partition
   while ((chunk_->marks[last] & PartitionStart) == 0)
      --last;
   CarryChain::Range range{reader_->firstPartition(), reader_->lastPartition(), last == 0, {}};
   WindowEvaluation evaluation(stream_.plan_, WindowPartition(chunk_->buffer, memory), context.functions(), memory);
   range.last = evaluation.carryOf(last, chunk_->rows, chunk_->marks.data());
   if (stream_.chain_->add(range_, std::move(range))) context.wake();
}

SourceStatus WindowStream::Lane::evaluate(QueryContext& context) {
   Chunk& chunk = *chunk_;
   if (stream_.chain_ && !stream_.chain_->take(range_, chunk.before)) return SourceStatus::Blocked;
   Reservation& memory = stream_.sort_.memory();
   chunk.results = std::vector<WindowResult>(stream_.plan_.calls.size());
   for (size_t i = 0; i < chunk.results.size(); ++i) {
      chunk.results[i].type = stream_.plan_.calls[i].type;
      chunk.results[i].allocate(chunk.rows, memory);
   }
   chunk.strings = std::make_unique<Arena>(&memory);
   WindowEvaluation evaluation(stream_.plan_, WindowPartition(chunk.buffer, memory), context.functions(), memory);
   evaluation.evaluate(context, 0, chunk.rows, chunk.marks.data(), chunk.results, *chunk.strings,
                       stream_.chain_ ? &chunk.before : nullptr);
   chunk.isEvaluated = true;
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

/// Compute and give a block of rows of one page. The output uses the page's vectors, from a row on at which a validity
/// word begins.
void WindowStream::Lane::giveBlock(QueryContext& context, Batch& out) {
   PagedPartition& large = *large_;
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

SourceStatus WindowStream::Lane::next(QueryContext& context, Batch& out) {
   if (chunk_ && chunk_->isEvaluated && chunk_->given == chunk_->rows) chunk_.reset();
   if (!chunk_ && large_ && large_->given == large_->rows->rowCount()) large_.reset();
   if (!chunk_ && !large_) {
      if (const SourceStatus status = take(context); status != SourceStatus::HaveOutput) return status;
      if (!chunk_ && !large_) { // the range has ended
         out.columns.clear();
         out.setDense(0);
         return SourceStatus::HaveOutput;
      }
   }
   if (chunk_ && !chunk_->isEvaluated)
      if (const SourceStatus status = evaluate(context); status != SourceStatus::HaveOutput) return status;
   if (chunk_)
      giveChunk(context, out);
   else
      giveBlock(context, out);
   return SourceStatus::HaveOutput;
}

} // namespace ouzel::executor
