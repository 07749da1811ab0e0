#include "executor/operator/window/window_stream.hpp"

#include <algorithm>
#include <string>

namespace ouzel::executor {

namespace {
constexpr uint64_t pieceRowsMin = 1 << 14, pieceRowsMax = 1 << 18;
constexpr uint32_t piecesPerLane = 16;
constexpr size_t wholesPerGrant = 16;      // the copies, their results and peers, of all lanes
constexpr uint32_t hostilePieceRows = 700; // for tests
constexpr size_t loadedPagesMax = 64;      // of a lane
} // namespace

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
   bool isPaged = false;
   if (sort.mergeLanes() > 1) {
      if (cutRows()) {
         chain_.emplace(plan, ranges_->count(), sort.memory());
      } else if (!cutPartitions() && hasExactPartitions() && sort.rowCount() <= INT32_MAX && holdsPages()) {
         ranges_->cut(sort.rowsPerRange());
         isPaged = true;
      }
   }
   sort_.fitLanes(*ranges_);
   if (ranges_->count() == 1) chain_.reset();
   hasNulls_ = ranges_->hasNulls();
   ranges_->start();
   rangeCount_ = ranges_->count();
   if (isPaged && sort_.mergeLanes() > 1)
      paged_.emplace(std::make_unique<WindowPages>(sort.buffer().layout(), hasNulls_, context.spill(), sort.memory()),
                     rangeCount_, rowsPerPiece(), wholeBytes());
   if (rangeCount_ > 1 || paged_) return;
   const MutexLock lock(mutex_);
   reader_ = std::make_unique<WindowReader>(sort, plan, hasNulls_);
   reader_->open(ranges_->open(0));
}

WindowStream::~WindowStream() = default;

/// Whether keys tell if two rows are of one partition.
bool WindowStream::hasExactPartitions() const {
   const auto& keys = sort_.buffer().layout().key.columns();
   for (uint32_t i = 0; i < plan_.partitionKeys; ++i)
      if (!keys[i].isExact) return false;
   return true;
}

/// Ranges of rows must fit into memory.
bool WindowStream::cutRows() {
   if (!hasExactPartitions() || !mayCarry(plan_)) return false;
   const uint64_t rowsMax =
       std::max<uint64_t>(1, sort_.grant().floor() / (8 * sort_.mergeLanes() * sort_.bytesPerRow()));
   ranges_->cut(std::min(sort_.rowsPerRange(), rowsMax));
   // Many rows with equal keys are in one range.
   for (uint32_t range = 0; range < ranges_->count(); ++range)
      if (ranges_->rowsAtLeast(range) > 2 * rowsMax) return false;
   return ranges_->count() > 1;
}

/// Whether each lane has room for some pages: to write them, to read ahead, and those that functions look at.
bool WindowStream::holdsPages() const {
   constexpr size_t pagesOfLane = 16;
   return sort_.spillsAlways() || sort_.grant().floor() / (sort_.mergeLanes() * pagesOfLane) >=
                                      std::max(sort_.pageBytes(), sort_.bytesPerRow());
}

/// A lane copies the rows of whole partitions into memory: a part of what it may hold, but a page at least.
size_t WindowStream::wholeBytes() const {
   return std::max(sort_.grant().floor() / (wholesPerGrant * sort_.workers()), sort_.pageBytes());
}

uint32_t WindowStream::rowsPerPiece() const {
   if (sort_.spillsAlways()) return hostilePieceRows;
   const uint64_t share = sort_.rowCount() / (uint64_t{sort_.mergeLanes()} * piecesPerLane);
   return static_cast<uint32_t>(std::clamp(share, pieceRowsMin, pieceRowsMax));
}

/// False: a range has more rows than is one lane's share.
bool WindowStream::cutPartitions() {
   ranges_->cut(sort_.rowsPerRange(), 0, plan_.partitionKeys);
   uint64_t rowsMax = 0;
   for (uint32_t range = 0; range < ranges_->count(); ++range)
      rowsMax = std::max(rowsMax, ranges_->rowsAtLeast(range));
   return ranges_->count() > 1 && rowsMax <= sort_.rowCount() / sort_.mergeLanes();
}

std::unique_ptr<PagedWindow> WindowStream::makePaged(QueryContext& context,
                                                     std::shared_ptr<const WindowPages> pages) const {
   const size_t loadedMax = sort_.grant().floor() / (4 * sort_.workers() * sort_.pageBytes());
   return std::make_unique<PagedWindow>(std::move(pages), plan_, context.functions(), sort_.memory(),
                                        std::min(loadedMax, loadedPagesMax));
}

uint32_t WindowStream::lanesMax() const {
   if (paged_) return sort_.mergeLanes();
   return rangeCount_ > 1 ? std::min(rangeCount_, sort_.mergeLanes()) : UINT32_MAX;
}

void WindowStream::describe(OperatorProfile& profile) const {
   sort_.describeReading(profile);
   profile.notes.emplace_back("Merged Ranges", std::to_string(rangeCount_));
   if (paged_)
      profile.notes.emplace_back("Ranges Of", "rows, written to pages");
   else if (rangeCount_ > 1)
      profile.notes.emplace_back("Ranges Of", chain_ ? "rows" : "partitions");
   profile.notes.emplace_back("Merge Lanes", std::to_string(lanesUsed_.load()));
}

// ---- Lane ----

WindowStream::Lane::Lane(WindowStream& stream, QueryContext& context)
   : stream_(stream), space_(stream.sort_.buffer().layout().columns, stream.plan_.passedCount, context.memory()),
     output_(stream.plan_) {
   if (stream.rangeCount_ > 1 || stream.paged_)
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
   std::shared_ptr<const WindowPages> large;
   if (stream_.paged_) {
      if (const SourceStatus status = takePiece(context, *run, marks); status != SourceStatus::HaveOutput)
         return status;
   } else if (reader_) {
      if (!openRange()) return SourceStatus::Done;
      if (stream_.chain_)
         reader_->collectAll(context, *run, marks);
      else
         reader_->collect(context, run, marks, large);
   } else {
      // A worker does not wait while another one reads from disk under the mutex.
      if (!stream_.mutex_.try_lock()) return SourceStatus::Blocked;
      {
         const MutexLock lock(stream_.mutex_, std::adopt_lock);
         if (stream_.reader_) stream_.reader_->collect(context, run, marks, large);
         if (stream_.reader_ && !stream_.reader_->isOpen()) {
            stream_.reader_.reset();
            stream_.ranges_.reset();
         }
      }
      context.wake(); // lanes that found the mutex taken
   }
   if (large) {
      paged_ = stream_.makePaged(context, large);
      paged_->open({0, large->rows.rowCount(), false});
   }
   if (marks.empty()) return hasRows() || reader_ ? SourceStatus::HaveOutput : SourceStatus::Done;
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

/// Write a range to pages; or, when all are written, take the next piece. Whole partitions go to the run.
SourceStatus WindowStream::Lane::takePiece(QueryContext& context, SortRun& run, std::vector<uint8_t>& marks) {
   PagedRanges& ranges = *stream_.paged_;
   if (openRange()) {
      if (ranges.add(range_, reader_->writeAll(context))) context.wake();
      return SourceStatus::HaveOutput;
   }
   if (!ranges.isComplete()) return SourceStatus::Blocked;
   if (!paged_) paged_ = stream_.makePaged(context, ranges.pages());
   const std::optional<WindowPiece> piece = ranges.take();
   if (!piece) return SourceStatus::Done;
   if (piece->isWhole)
      paged_->copy(*piece, marks, [&](std::span<const RowRef> rows) { reader_->append(run, rows); });
   else
      paged_->open(*piece);
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

SourceStatus WindowStream::Lane::next(QueryContext& context, Batch& out) {
   if (chunk_ && chunk_->isEvaluated && chunk_->given == chunk_->rows) chunk_.reset();
   if (!hasRows()) {
      if (!stream_.paged_) paged_.reset();
      if (const SourceStatus status = take(context); status != SourceStatus::HaveOutput) return status;
      if (!hasRows()) { // the range has ended
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
      paged_->give(context.settings().batchRows, out);
   return SourceStatus::HaveOutput;
}

} // namespace ouzel::executor
