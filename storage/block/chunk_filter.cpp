#include "storage/block/chunk_filter.hpp"

#include <algorithm>
#include <span>

#include "common/hash/hyper_log_log.hpp"
#include "common/hash/vector_hash.hpp"
#include "storage/base/ids.hpp"
#include "storage/block/bloom_filter.hpp"

namespace ouzel::storage {

namespace {

/// Smaller chunks are read as quickly as their filters.
constexpr size_t filteredBytesMin = 32 * 1024;
/// Chunks with fewer bytes per value get no filter: it would be small enough only if values repeat.
constexpr uint32_t bytesPerValueMin = 3;
constexpr uint32_t partOfChunk = 4; ///< a filter may take this part of its chunk's bytes

std::vector<uint64_t> hashValues(const ColumnSlice& slice) {
   std::vector<uint64_t> hashes(slice.count);
   for (uint32_t first = 0; first < slice.count; first += vectorRows) {
      const auto* data = static_cast<const char*>(slice.data) + size_t{first} * physicalSize(slice.type);
      const ValidityWord* validity = slice.validity ? slice.validity + first / 64 : nullptr;
      hashVector(Vector::flat(slice.type, data, validity), Selection::dense(std::min(vectorRows, slice.count - first)),
                 hashes.data() + first);
   }
   return hashes;
}

/// Whether zone maps exclude most other row groups when a value of this one is searched.
bool isAloneInZone(const std::vector<EncodedChunk>& chunks, const ZoneRange& zone) {
   const auto isOverlapped = [&](const EncodedChunk& other) {
      return !other.header.zone.isEmpty() && other.header.zone.overlaps(zone.lower, zone.upper);
   };
   const auto others = std::count_if(chunks.begin(), chunks.end(), isOverlapped) - 1; // without itself
   return static_cast<size_t>(others) * 4 < chunks.size() - 1;
}

/// Whether a value of the column lies in most of the chunks with filters. Two filters are too few to tell.
bool isEverywhere(const std::vector<EncodedChunk>& chunks, const ColumnSketch& column) {
   double valuesOfAll = 0, filters = 0;
   for (const EncodedChunk& chunk : chunks) {
      if (chunk.filter.empty()) continue;
      valuesOfAll += chunk.distinctValues;
      ++filters;
   }
   return filters > 2 && valuesOfAll > column.distinct.estimate() * filters / 2;
}

} // namespace

void makeFilter(const ColumnSlice& slice, EncodedChunk& chunk) {
   const uint32_t values = slice.count - chunk.header.nullCount;
   const size_t bytes = chunk.bytes.size();
   if (chunk.header.hasDictionary || bytes < filteredBytesMin || bytes < size_t{values} * bytesPerValueMin) return;
   const std::vector<uint64_t> hashes = hashValues(slice);
   HyperLogLog distinct;
   for (uint32_t row = 0; row < slice.count; ++row)
      if (slice.isValid(row)) distinct.add(hashes[row]);
   chunk.distinctValues = distinct.estimate();
   const uint32_t size = BloomFilter::bytesFor(chunk.distinctValues);
   if (size_t{size} * partOfChunk > bytes) return;
   BloomFilter filter(size);
   for (uint32_t row = 0; row < slice.count; ++row)
      if (slice.isValid(row)) filter.add(hashes[row]);
   chunk.filter = filter.bytes();
}

void dropNeedlessFilters(std::vector<EncodedChunk>& chunks, const ColumnSketch& column) {
   const bool isUseless = isEverywhere(chunks, column);
   for (EncodedChunk& chunk : chunks)
      if (isUseless || (!chunk.filter.empty() && isAloneInZone(chunks, chunk.header.zone))) chunk.filter.clear();
}

} // namespace ouzel::storage
