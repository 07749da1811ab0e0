#include "engine/session/cursor_rows.hpp"

#include <algorithm>
#include <numeric>

#include "common/error/check.hpp"

namespace ouzel::engine {

namespace {

/// Memory for the rows of one cursor. A session may hold many cursors, and for long.
constexpr size_t residentBytesMax = size_t{1} << 20;

std::vector<Representation> representations(const std::vector<ResultColumn>& columns) {
   std::vector<Representation> out;
   for (const ResultColumn& column : columns)
      out.push_back(column.representation);
   return out;
}

std::vector<PhysicalType> physicalTypes(const std::vector<ResultColumn>& columns) {
   std::vector<PhysicalType> out;
   for (const ResultColumn& column : columns)
      out.push_back(column.representation.physical);
   return out;
}

} // namespace

CursorRows::CursorRows(SessionCore& core, std::unique_ptr<QueryExecution> query, Scroll scroll)
   : columns_(query->columns()), query_(std::move(query)), scroll_(scroll), memory_(core.database.governor->ledger()),
     space_(*core.database.spill, spillPolicy(core.settings)), spillsAlways_(core.settings.boolean("ouzel.spill_all")),
     slots_(columns_.size()), builder_(representations(columns_), memory_), page_(physicalTypes(columns_), 0, memory_) {
   std::iota(slots_.begin(), slots_.end(), 0);
}

CursorRows::~CursorRows() = default;

void CursorRows::requireScroll() const {
   if (scroll_ == Scroll::Never)
      throw SqlError(sqlstate::objectNotInPrerequisiteState, "cursor can only scan forward")
          .hint("Declare it with SCROLL option to enable backward scan.");
}

void CursorRows::hold() {
   if (!query_) return;
   out_ = nullptr;
   if (scroll_ == Scroll::Never) keptFrom_ = keptTo_ = end_;
   const Scroll declared = std::exchange(scroll_, Scroll::Always);
   query_->run(0, this);
   if (declared == Scroll::Never) scroll_ = Scroll::Never;
   query_.reset();
}

/// Takes rows of the query.
void CursorRows::rows(const Batch& batch) {
   if (out_) out_->rows(batch);
   end_ += batch.liveRows();
   if (scroll_ == Scroll::Never) return;
   for (uint32_t taken = 0; taken < batch.liveRows();) {
      taken += builder_.append(batch, slots_, taken);
      if (builder_.isFull()) keep(builder_.take());
   }
   if (scroll_ == Scroll::WhileFew) keepFewer();
}

/// There are too many rows for a cursor that was not declared with SCROLL: it goes forward only.
void CursorRows::keepFewer() {
   if (keptBytes_ + builder_.bytes() <= residentBytesMax) return;
   scroll_ = Scroll::Never;
   builder_.take();
   resident_.clear();
   stored_.clear();
   firsts_.clear();
   keptBytes_ = 0;
   loadedAt_ = SIZE_MAX;
}

void CursorRows::keep(std::unique_ptr<executor::OwnedBatch> batch) {
   const size_t bytes = batch->arena.chunkBytes();
   const uint32_t count = batch->batch.rowCount;
   firsts_.push_back(keptTo_);
   keptTo_ += count;
   keptBytes_ += bytes;
   if (!spillsAlways_ && keptBytes_ <= residentBytesMax) {
      resident_.push_back(std::move(batch));
      return;
   }
   fillPage(page_, batch->batch);
   stored_.push_back(page_.store(space_));
   loadedAt_ = SIZE_MAX;
}

/// The kept batch with the row. `first`: the batch's first row.
const Batch& CursorRows::batchOf(uint64_t row, uint64_t& first) {
   DCHECK(row >= keptFrom_ && row < end_);
   if (row >= keptTo_) {
      first = keptTo_;
      return *builder_.current();
   }
   const auto at = static_cast<size_t>(std::upper_bound(firsts_.begin(), firsts_.end(), row) - firsts_.begin()) - 1;
   first = firsts_[at];
   if (at < resident_.size()) return resident_[at]->batch;
   const size_t index = at - resident_.size();
   if (loadedAt_ == index) return loaded_;
   io::SpillReader reader(space_, 0);
   addToReader(reader, stored_[index], false);
   page_.load(reader, stored_[index]);
   loaded_.columns.clear();
   for (size_t i = 0; i < columns_.size(); ++i)
      loaded_.columns.push_back(page_.column(i));
   loaded_.setDense(stored_[index].rows);
   loadedAt_ = index;
   return loaded_;
}

void CursorRows::give(uint64_t row, uint64_t count, ResultSink& sink) {
   while (count > 0) {
      uint64_t first = 0;
      const Batch& batch = batchOf(row, first);
      const auto here = static_cast<uint32_t>(std::min<uint64_t>(count, first + batch.liveRows() - row));
      giveRows(sink, batch, static_cast<uint32_t>(row - first), here);
      row += here;
      count -= here;
   }
}

uint64_t CursorRows::forward(uint64_t count, ResultSink* sink) {
   if (isAfterEnd_ || count == 0) return 0;
   const uint64_t known = std::min(count, end_ - next_);
   if (sink) give(next_, known, *sink);
   next_ += known;
   uint64_t given = known;
   if (known < count && query_) {
      out_ = sink;
      query_->run(count == all ? 0 : count - known, this);
      given += end_ - next_;
      next_ = end_;
   }
   isAfterEnd_ = given < count;
   return given;
}

uint64_t CursorRows::backward(uint64_t count, ResultSink* sink) {
   requireScroll();
   if (count == 0) return 0;
   const uint64_t before = isAfterEnd_ ? next_ : next_ - std::min<uint64_t>(next_, 1);
   const uint64_t given = std::min(count, before);
   if (sink)
      for (uint64_t i = 1; i <= given; ++i)
         give(before - i, 1, *sink);
   next_ = given < count ? 0 : before - given + 1;
   isAfterEnd_ = false;
   return given;
}

uint64_t CursorRows::absolute(int64_t row, ResultSink* sink) {
   if (row < 0) {
      forward(all, nullptr);
      const auto fromEnd = static_cast<uint64_t>(-row);
      if (fromEnd > 1) backward(fromEnd - 1, nullptr);
      return backward(1, sink);
   }
   const auto before = static_cast<uint64_t>(std::max<int64_t>(row - 1, 0));
   if (row > 0 && before >= next_) {
      forward(before - next_, nullptr);
      return forward(1, sink);
   }
   if (next_ == 0 && !isAfterEnd_) return 0;
   requireScroll();
   next_ = before;
   isAfterEnd_ = false;
   return row == 0 ? 0 : forward(1, sink);
}

uint64_t CursorRows::relative(int64_t rows, ResultSink* sink) {
   if (rows == 0) return again(sink);
   if (rows > 0) {
      forward(static_cast<uint64_t>(rows) - 1, nullptr);
      return forward(1, sink);
   }
   if (rows < -1) backward(static_cast<uint64_t>(-rows) - 1, nullptr);
   return backward(1, sink);
}

uint64_t CursorRows::again(ResultSink* sink) {
   if (next_ == 0 || isAfterEnd_) return 0;
   if (!sink) return 1;
   requireScroll();
   give(next_ - 1, 1, *sink);
   return 1;
}

} // namespace ouzel::engine
