#include "storage/block/bloom_filter.hpp"

#include <algorithm>
#include <cmath>

#include "common/error/check.hpp"
#include "common/hash/hash.hpp"

namespace ouzel::storage {

namespace {

constexpr uint32_t wordsPerBlock = 8;
static_assert(BloomFilter::blockBytes == wordsPerBlock * sizeof(uint32_t));
constexpr uint32_t salts[wordsPerBlock] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                           0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};

/// Index of the first word of the block that a mixed hash chooses.
size_t firstWordOf(uint64_t mixed, size_t words) {
   const uint64_t blocks = words / wordsPerBlock;
   return ((mixed >> 32) * blocks >> 32) * wordsPerBlock;
}

uint32_t bitOf(uint64_t mixed, uint32_t word) {
   return uint32_t{1} << (static_cast<uint32_t>(mixed) * salts[word] >> 27);
}

} // namespace

uint32_t BloomFilter::bytesFor(double values) {
   return static_cast<uint32_t>(std::max(1.0, std::ceil(values * bitsPerValue / (blockBytes * 8)))) * blockBytes;
}

void BloomFilter::add(uint64_t hash) {
   // Hashes of values that differ in few bits may agree in half of their bits (hashWide).
   const uint64_t mixed = hashU64(hash);
   uint32_t* block = words_.data() + firstWordOf(mixed, words_.size());
   for (uint32_t word = 0; word < wordsPerBlock; ++word)
      block[word] |= bitOf(mixed, word);
}

bool BloomFilter::mayContain(std::string_view bytes, uint64_t hash) {
   DCHECK(bytes.size() >= blockBytes && bytes.size() % blockBytes == 0);
   const uint64_t mixed = hashU64(hash);
   const auto* words = reinterpret_cast<const uint32_t*>(bytes.data());
   const uint32_t* block = words + firstWordOf(mixed, bytes.size() / sizeof(uint32_t));
   uint32_t missing = 0;
   for (uint32_t word = 0; word < wordsPerBlock; ++word)
      missing |= ~block[word] & bitOf(mixed, word);
   return missing == 0;
}

} // namespace ouzel::storage
