#include "executor/materialize/batch_builder.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "common/value/dispatch.hpp"

namespace ouzel::executor {

BatchBuilder::BatchBuilder(std::vector<Representation> columns, Reservation& memory, uint32_t rowsMax,
                           size_t stringBytesMax)
   : columns_(std::move(columns)), memory_(&memory), rowsMax_(std::min(rowsMax, batchRowsMax)),
     stringBytesMax_(stringBytesMax) {
   DCHECK(rowsMax > 0);
}

void BatchBuilder::open() {
   current_ = std::make_unique<OwnedBatch>(OwnedBatch{Batch{}, Arena(memory_)});
   for (const Representation& column : columns_) {
      void* data = current_->arena.allocate(size_t{physicalSize(column.physical)} * rowsMax_, 16);
      auto* validity = current_->arena.allocateArray<ValidityWord>(validityWords(rowsMax_));
      std::memset(validity, 0xff, validityWords(rowsMax_) * sizeof(ValidityWord));
      current_->batch.columns.push_back(Vector::flat(column.physical, data, validity));
   }
   current_->batch.setDense(0);
   stringBytes_ = 0;
   hasManyBytes_ = false;
}

/// How many of the next `count` rows still fit by their strings.
uint32_t BatchBuilder::fitting(const Batch& in, const std::vector<uint32_t>& slots, uint32_t from, uint32_t count) {
   for (uint32_t i = 0; i < count; ++i) {
      size_t bytes = 0;
      for (size_t column = 0; column < columns_.size(); ++column) {
         const Vector& source = in.columns[slots[column]];
         if (!isVariableSize(source.type)) continue;
         const uint32_t position = source.positionOf(in.selection.row(from + i));
         const auto& string = static_cast<const StringView*>(source.data)[position];
         if (isValidBit(source.validity, position) && !string.isInline()) bytes += string.view().size();
      }
      hasManyBytes_ = stringBytes_ + bytes > stringBytesMax_ && (i > 0 || current_->batch.rowCount > 0);
      if (hasManyBytes_) return i;
      stringBytes_ += bytes;
   }
   return count;
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
   DCHECK(slots.size() == columns_.size());
   DCHECK(from <= in.liveRows());
   DCHECK(at < rowsMax_); // a full builder must be emptied by take() first
   uint32_t count = std::min(rowsMax_ - at, in.liveRows() - from);
   if (stringBytesMax_ != SIZE_MAX) count = fitting(in, slots, from, count);
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
   DCHECK(at + count <= rowsMax_);
   out.setDense(at + count);
   return count;
}

std::unique_ptr<OwnedBatch> BatchBuilder::take() {
   return std::move(current_);
}

} // namespace ouzel::executor
