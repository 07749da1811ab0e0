#include "executor/materialize/batch_builder.hpp"

#include <algorithm>
#include <cstring>

#include "common/vector/dispatch.hpp"

namespace ouzel::executor {

BatchBuilder::BatchBuilder(std::vector<Representation> columns, Reservation& memory, uint32_t rowsMax)
   : columns_(std::move(columns)), memory_(&memory), rowsMax_(std::min(rowsMax, batchRowsMax)) {}

void BatchBuilder::open() {
   current_ = std::make_unique<OwnedBatch>(OwnedBatch{Batch{}, Arena(memory_)});
   for (const Representation& column : columns_) {
      void* data = current_->arena.allocate(size_t{physicalSize(column.physical)} * rowsMax_, 16);
      auto* validity = current_->arena.allocateArray<ValidityWord>(validityWords(rowsMax_));
      std::memset(validity, 0xff, validityWords(rowsMax_) * sizeof(ValidityWord));
      current_->batch.columns.push_back(Vector::flat(column.physical, data, validity));
   }
   current_->batch.setDense(0);
}

namespace {

/// Copy `count` live rows of `source` from live row `from` on to positions `at`... of a flat vector being built.
template <typename T>
void copyValues(const Vector& source, const Selection& rows, uint32_t from, uint32_t count, T* out,
                ValidityWord* validity, uint32_t at) {
   const T* values = static_cast<const T*>(source.data);
   for (uint32_t i = 0; i < count; ++i) {
      const uint32_t position = source.positionOf(rows.row(from + i));
      out[at + i] = values[position];
      if (!isValidBit(source.validity, position)) setValidBit(validity, at + i, false);
   }
}

} // namespace

uint32_t BatchBuilder::append(const Batch& in, const std::vector<uint32_t>& slots, uint32_t from) {
   if (!current_) open();
   Batch& out = current_->batch;
   const uint32_t at = out.rowCount;
   const uint32_t count = std::min(rowsMax_ - at, in.liveRows() - from);
   for (size_t column = 0; column < columns_.size(); ++column) {
      const Vector& source = in.columns[slots[column]];
      DCHECK(source.type == columns_[column].physical);
      void* data = const_cast<void*>(out.columns[column].data);
      auto* validity = const_cast<ValidityWord*>(out.columns[column].validity);
      dispatchSize(source.type, [&](auto tag) {
         using T = decltype(tag);
         copyValues(source, in.selection, from, count, static_cast<T*>(data), validity, at);
      });
      if (!isVariableSize(source.type)) continue;
      auto* strings = static_cast<StringView*>(data);
      for (uint32_t i = at; i < at + count; ++i)
         if (!isValidBit(validity, i))
            strings[i] = StringView();
         else if (!strings[i].isInline())
            strings[i] = current_->arena.copyString(strings[i].view());
   }
   out.setDense(at + count);
   return count;
}

std::unique_ptr<OwnedBatch> BatchBuilder::take() {
   return std::move(current_);
}

namespace {

struct SinkLocal final : LocalState {
   explicit SinkLocal(BatchBuilder b) : builder(std::move(b)) {}
   BatchBuilder builder;
};

struct SourceLocal final : LocalState {
   const OwnedBatch* batch = nullptr;
   uint32_t given = 0;
   std::vector<RowIndex> rows = std::vector<RowIndex>(batchRowsMax);
};

} // namespace

LocalStatePtr BufferSink::makeLocal(QueryContext& context) {
   return std::make_unique<SinkLocal>(BatchBuilder(columns_, context.memory()));
}

SinkStatus BufferSink::consume(QueryContext&, LocalState& state, const Batch& in) {
   BatchBuilder& builder = static_cast<SinkLocal&>(state).builder;
   for (uint32_t taken = 0; taken < in.liveRows();) {
      taken += builder.append(in, slots_, taken);
      if (builder.isFull()) buffer_.add(builder.take());
   }
   return SinkStatus::NeedInput;
}

void BufferSink::combine(QueryContext&, LocalState& state) {
   if (auto rest = static_cast<SinkLocal&>(state).builder.take()) buffer_.add(std::move(rest));
}

uint32_t BufferSource::workersMax() const {
   return ordered_ ? 1 : static_cast<uint32_t>(std::clamp<size_t>(buffer_.batches().size(), 1, 1024));
}

LocalStatePtr BufferSource::makeLocal(QueryContext&) {
   return std::make_unique<SourceLocal>();
}

SourceStatus BufferSource::next(QueryContext& context, LocalState& state, Batch& out) {
   SourceLocal& local = static_cast<SourceLocal&>(state);
   if (!local.batch) {
      const size_t index = next_.fetch_add(1);
      if (index >= buffer_.batches().size()) return SourceStatus::Done;
      local.batch = buffer_.batches()[index].get();
      local.given = 0;
   }
   const Batch& batch = local.batch->batch;
   const uint32_t count = std::min(context.settings().batchRows, batch.rowCount - local.given);
   out.columns.clear();
   for (const uint32_t slot : slots_)
      out.columns.push_back(batch.columns[slot]);
   out.rowCount = batch.rowCount;
   if (count == batch.rowCount) {
      out.selection = Selection::dense(count);
   } else {
      for (uint32_t i = 0; i < count; ++i)
         local.rows[i] = static_cast<RowIndex>(local.given + i);
      out.selection = Selection::list(local.rows.data(), count);
   }
   local.given += count;
   if (local.given == batch.rowCount) local.batch = nullptr;
   return SourceStatus::HaveOutput;
}

} // namespace ouzel::executor
