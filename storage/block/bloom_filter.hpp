#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ouzel::storage {

/// A set of hashes that may seem to have more than were added: a split-block Bloom filter (Putze, Sanders, Singler
/// 2007, with the salts of the Parquet format). It is an array of blocks of eight words of 32 bits. A hash chooses one
/// block, and sets one bit in each of its words. With 12 bits for each hash, about 0.6 % of other hashes seem to be in
/// the filter (tests/unit/storage/bloom_filter_test.cpp).
///
/// Hashes are those of common/hash/hash_value.hpp, mixed once more here. Filters are stored: other hashes or another
/// layout need a new version of the block format.
class BloomFilter {
public:
   static constexpr uint32_t blockBytes = 32;
   static constexpr double bitsPerValue = 12;

   /// The size in bytes of a filter for `values` different hashes.
   static uint32_t bytesFor(double values);

   /// REQUIRES: a size from bytesFor().
   explicit BloomFilter(uint32_t bytes) : words_(bytes / sizeof(uint32_t)) {}
   void add(uint64_t hash);
   std::string_view bytes() const {
      return {reinterpret_cast<const char*>(words_.data()), words_.size() * sizeof(uint32_t)};
   }

   /// False: the hash was not added to the filter with these bytes, which are aligned to 4. REQUIRES: whole blocks, at
   /// least one.
   static bool mayContain(std::string_view bytes, uint64_t hash);

private:
   std::vector<uint32_t> words_;
};

} // namespace ouzel::storage
