#include "executor/materialize/row_batch.hpp"

namespace ouzel::executor {

RowBatch::RowBatch(std::vector<PhysicalType> types) {
   columns_.reserve(types.size());
   for (const PhysicalType type : types) {
      // Zeroed, so that positions never gathered read as empty strings rather than as wild pointers.
      columns_.push_back({type, std::make_unique<std::byte[]>(batchRowsMax * physicalSize(type)),
                          std::make_unique<ValidityWord[]>(validityWords(batchRowsMax))});
   }
}

Vector RowBatch::vector(uint32_t column, bool hasNulls) const {
   DCHECK(column < columns_.size());
   const Column& c = columns_[column];
   return Vector::flat(c.type, c.data.get(), hasNulls ? c.validity.get() : nullptr);
}

Vector RowBatch::gather(uint32_t column, const RowLayout& layout, uint32_t source, const std::byte* const* rows,
                        uint32_t count, bool mayBeAbsent) {
   Column& c = columns_[column];
   DCHECK(c.type == layout.type(source));
   DCHECK(count <= batchRowsMax);
   return vector(column, gatherColumn(layout, source, rows, count, mayBeAbsent, {c.data.get(), c.validity.get()}));
}

Vector RowBatch::gather(uint32_t column, const RowLayout& layout, uint32_t source, const std::byte* const* rows,
                        const RowIndex* positions, uint32_t count, bool mayBeAbsent) {
   Column& c = columns_[column];
   DCHECK(c.type == layout.type(source));
   DCHECK(count <= batchRowsMax);
   DCHECK(positions != nullptr);
   return vector(column,
                 gatherColumn(layout, source, rows, positions, count, mayBeAbsent, {c.data.get(), c.validity.get()}));
}

namespace {
alignas(16) constexpr std::byte zero[16]{};
} // namespace

Vector anyVector(PhysicalType type) {
   return Vector::constant(type, zero, nullptr);
}

Vector absentVector(PhysicalType type) {
   static constexpr ValidityWord allNull = 0;
   return Vector::constant(type, zero, &allNull);
}

} // namespace ouzel::executor
