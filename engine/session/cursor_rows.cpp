#include "engine/session/cursor_rows.hpp"

#include <algorithm>

#include "common/error/check.hpp"

namespace ouzel::engine {

namespace {

std::vector<Representation> representations(const std::vector<ResultColumn>& columns) {
   std::vector<Representation> out;
   for (const ResultColumn& column : columns)
      out.push_back(column.representation);
   return out;
}

} // namespace

namespace {

std::vector<ResultColumn> visible(const QueryExecution& query) {
   return {query.columns().begin(), query.columns().end() - query.hiddenColumns()};
}

} // namespace

CursorRows::CursorRows(SessionCore& core, std::unique_ptr<QueryExecution> query, Scroll scroll)
   : columns_(visible(*query)), places_(query->places()), query_(std::move(query)), scroll_(scroll),
     kept_(core, representations(query_->columns())) {}

CursorRows::~CursorRows() = default;

void CursorRows::requireScroll() const {
   if (scroll_ == Scroll::Never)
      throw SqlError(sqlstate::objectNotInPrerequisiteState, "cursor can only scan forward")
          .hint("Declare it with SCROLL option to enable backward scan.");
}

void CursorRows::hold() {
   if (!query_) return;
   out_ = nullptr;
   if (scroll_ == Scroll::Never) keptFrom_ = end_;
   const Scroll declared = std::exchange(scroll_, Scroll::Always);
   query_->run(0, this);
   if (declared == Scroll::Never) scroll_ = Scroll::Never;
   query_.reset();
}

namespace {

/// Gives batches on without their last columns.
class FirstColumns final : public ResultSink {
public:
   FirstColumns(size_t count, ResultSink& sink) : count_(count), sink_(sink) {}
   void begin(const std::vector<ResultColumn>&) override {}
   void rows(const Batch& batch) override {
      if (batch.columns.size() == count_) return sink_.rows(batch);
      Batch shown = batch;
      shown.columns.resize(count_);
      sink_.rows(shown);
   }

private:
   const size_t count_;
   ResultSink& sink_;
};

} // namespace

/// Takes rows of the query.
void CursorRows::rows(const Batch& batch) {
   if (out_) FirstColumns(columns_.size(), *out_).rows(batch);
   end_ += batch.liveRows();
   if (!places_.empty() && batch.liveRows() > 0) {
      last_.clear();
      const uint32_t row = batch.selection.row(batch.liveRows() - 1);
      for (size_t i = columns_.size(); i < batch.columns.size(); ++i)
         last_.push_back(Value::fromVector(batch.columns[i], row));
   }
   if (scroll_ == Scroll::Never) return;
   kept_.add(batch);
   if (scroll_ == Scroll::WhileFew) keepFewer();
}

/// There are too many rows for a cursor that was not declared with SCROLL: it goes forward only.
void CursorRows::keepFewer() {
   if (kept_.bytes() <= KeptRows::residentBytesMax) return;
   scroll_ = Scroll::Never;
   kept_.clear();
}

void CursorRows::give(uint64_t row, uint64_t count, ResultSink& sink) {
   while (count > 0) {
      uint64_t first = 0;
      DCHECK(row >= keptFrom_ && row < end_);
      const Batch& batch = kept_.batchOf(row - keptFrom_, first);
      first += keptFrom_;
      const auto here = static_cast<uint32_t>(std::min<uint64_t>(count, first + batch.liveRows() - row));
      FirstColumns shown(columns_.size(), sink);
      giveRows(shown, batch, static_cast<uint32_t>(row - first), here);
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

std::optional<std::vector<Value>> CursorRows::hiddenValues() {
   if (next_ == 0 || isAfterEnd_) return std::nullopt;
   if (moved_ && moved_->next == next_) return moved_->values;
   if (next_ == end_ && !last_.empty()) return last_;
   const uint64_t row = next_ - 1;
   if (row < keptFrom_) return std::nullopt;
   uint64_t first = 0;
   const Batch& batch = kept_.batchOf(row - keptFrom_, first);
   const uint32_t at = batch.selection.row(static_cast<uint32_t>(row - keptFrom_ - first));
   std::vector<Value> values;
   for (size_t i = columns_.size(); i < batch.columns.size(); ++i)
      values.push_back(Value::fromVector(batch.columns[i], at));
   return values;
}

} // namespace ouzel::engine
