#pragma once
#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "storage/base/column_slice.hpp"
#include "storage/block/statistics.hpp"

namespace ouzel::storage {

using SampledRow = std::vector<Value>;

/// The most rows of a sample whose rows have `rowBytes` bytes on average: plans shall not take more memory than this.
inline uint64_t sampleRowsFor(uint64_t rowBytes) {
   constexpr uint64_t sampleBytesMax = uint64_t{4} << 20, rowsMin = 16;
   return std::max(rowsMin, sampleBytesMax / std::max<uint64_t>(rowBytes, 1));
}

/// Keeps up to `capacity` rows, drawn evenly from a stream of row groups, or fewer if those of the first row group are
/// long. The same input gives the same rows.
class RowSampler {
public:
   explicit RowSampler(uint32_t capacity) : capacity_(capacity) {}
   void add(std::span<const ColumnSlice> columns, uint32_t rowCount);
   std::vector<SampledRow>& rows() { return rows_; }

private:
   uint32_t capacity_;
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
