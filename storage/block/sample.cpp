#include "storage/block/sample.hpp"

#include <algorithm>

#include "common/hash/hash.hpp"

namespace ouzel::storage {

Value valueOf(const ColumnSlice& slice, uint32_t row) {
   return Value::fromVector(Vector::flat(slice.type, slice.data, slice.validity), row);
}

namespace {

uint64_t stringBytes(std::span<const ColumnSlice> columns, uint32_t rowCount) {
   uint64_t bytes = 0;
   for (const ColumnSlice& column : columns)
      if (isVariableSize(column.type))
         for (uint32_t row = 0; row < rowCount; ++row)
            if (column.isValid(row)) bytes += column.values<StringView>()[row].size();
   return bytes;
}

} // namespace

void RowSampler::add(std::span<const ColumnSlice> columns, uint32_t rowCount) {
   const auto draw = [&](uint64_t below) {
      random_ = hashU64(random_ + 0x9e3779b97f4a7c15ULL);
      return static_cast<uint64_t>((static_cast<unsigned __int128>(random_) * below) >> 64);
   };
   const auto rowAt = [&](uint32_t row) {
      SampledRow values;
      values.reserve(columns.size());
      for (const ColumnSlice& column : columns)
         values.push_back(valueOf(column, row));
      return values;
   };
   if (rowCount == 0) return;
   if (seen_ == 0)
      capacity_ = static_cast<uint32_t>(
          std::min<uint64_t>(capacity_, sampleRowsFor(stringBytes(columns, rowCount) / rowCount)));
   seen_ += rowCount;
   if (seen_ <= capacity_) {
      for (uint32_t row = 0; row < rowCount; ++row)
         rows_.push_back(rowAt(row));
      return;
   }
   // Fill the sample. Then replace as many rows as this group's share of all rows so far.
   while (rows_.size() < capacity_)
      rows_.push_back(rowAt(static_cast<uint32_t>(draw(rowCount))));
   if (seen_ == rowCount) return;
   const uint64_t replaced = std::max<uint64_t>(uint64_t{capacity_} * rowCount / seen_, 1);
   for (uint64_t i = 0; i < replaced; ++i)
      rows_[draw(capacity_)] = rowAt(static_cast<uint32_t>(draw(rowCount)));
}

std::shared_ptr<const SampleRows> makeSample(const std::vector<PhysicalType>& types,
                                             const std::vector<SampledRow>& rows) {
   auto sample = std::make_shared<SampleRows>();
   const auto count = static_cast<uint32_t>(std::min<size_t>(rows.size(), batchRowsMax));
   Arena& arena = sample->arena;
   for (size_t column = 0; column < types.size(); ++column) {
      const PhysicalType type = types[column];
      const uint32_t size = physicalSize(type);
      auto* data = static_cast<char*>(arena.allocate(std::max<size_t>(static_cast<size_t>(size) * count, 1), 64));
      std::memset(data, 0, static_cast<size_t>(size) * count);
      ValidityWord* validity = nullptr;
      for (uint32_t row = 0; row < count; ++row) {
         const Value& value = rows[row][column];
         if (value.isNull) {
            if (!validity) {
               validity = arena.allocateArray<ValidityWord>(validityWords(count));
               std::memset(validity, 0xff, validityWords(count) * sizeof(ValidityWord));
            }
            setValidBit(validity, row, false);
         } else if (isVariableSize(type)) {
            const StringView copy = arena.copyString(value.bytes, StringView::Storage::Transient);
            std::memcpy(data + static_cast<size_t>(row) * size, &copy, size);
         } else {
            value.store(data + static_cast<size_t>(row) * size);
         }
      }
      sample->batch.columns.push_back(Vector::flat(type, data, validity));
   }
   sample->batch.setDense(count);
   return sample;
}

} // namespace ouzel::storage
