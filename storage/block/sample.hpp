#pragma once
#include <memory>
#include <span>
#include <vector>

#include "storage/base/column_slice.hpp"
#include "storage/block/statistics.hpp"

namespace ouzel::storage {

using SampledRow = std::vector<Value>;

/// Keeps up to `capacity` rows, drawn evenly from a stream of row groups. The same input gives the same rows.
class RowSampler {
public:
   explicit RowSampler(uint32_t capacity) : capacity_(capacity) {}
   void add(std::span<const ColumnSlice> columns, uint32_t rowCount);
   std::vector<SampledRow>& rows() { return rows_; }

private:
   const uint32_t capacity_;
   uint64_t seen_ = 0;
   uint64_t random_ = 0x853c49e6748fea9bULL;
   std::vector<SampledRow> rows_;
};

/// Lay rows out as one dense batch. REQUIRES: at most batchRowsMax rows.
std::shared_ptr<const SampleRows> makeSample(const std::vector<PhysicalType>& types,
                                             const std::vector<SampledRow>& rows);
/// A copy of one flat value.
Value valueOf(const ColumnSlice& slice, uint32_t row);

} // namespace ouzel::storage
