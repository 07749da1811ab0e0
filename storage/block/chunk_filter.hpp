#pragma once
#include <vector>

#include "storage/block/chunk_encoder.hpp"

// Which chunks of a block get a Bloom filter: those where it saves reading. Filters help to find single values that are
// spread over a table, so wide ones that seldom repeat (random keys, hashes, addresses); what repeats or is narrow is
// as quickly read itself, and what is sorted zone maps find.

namespace ouzel::storage {

/// Give the chunk a filter of its values, unless it is no larger than a few filters of its size. REQUIRES: `chunk` is
/// the encoded `slice`.
void makeFilter(const ColumnSlice& slice, EncodedChunk& chunk);

/// Take filters back that would exclude next to nothing besides zone maps, with all chunks of a column at hand.
void dropNeedlessFilters(std::vector<EncodedChunk>& chunks, const ColumnSketch& column);

} // namespace ouzel::storage
