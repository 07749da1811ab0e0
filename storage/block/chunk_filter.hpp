#pragma once
#include <vector>

#include "storage/block/chunk_encoder.hpp"

// Decides which chunks of a block get a Bloom filter: those where a filter saves reading. Filters help to find single
// values that are spread over a table; such values are wide and seldom repeat (random keys, hashes, addresses). A chunk
// of repeating or narrow values is read as quickly as its filter. Values of a sorted column are found by zone maps.

namespace ouzel::storage {

/// Give the chunk a filter of its values, if the filter is small beside the chunk. REQUIRES: `chunk` is the encoded
/// `slice`.
void makeFilter(const ColumnSlice& slice, EncodedChunk& chunk);

/// Remove the filters that would exclude hardly any row group that zone maps do not. `chunks`: all chunks of a column.
void dropNeedlessFilters(std::vector<EncodedChunk>& chunks, const ColumnSketch& column);

} // namespace ouzel::storage
