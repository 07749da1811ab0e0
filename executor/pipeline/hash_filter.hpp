#pragma once
#include <atomic>
#include <cstdint>

#include "common/memory/large_memory.hpp"

namespace ouzel::executor {

/// A blocked Bloom filter over 64-bit hashes (common/hash/hash.hpp's layout): four bits of one word for each hash, so
/// that a question costs one cache miss. At 16 bits a hash about 1 % of other hashes pass, at 4 bits about 16 %.
///
/// The top bits of a hash choose the word. So the hashes of one partition lie together, and a filter is halved by
/// uniting neighbours.
class HashFilter {
public:
   /// Hashes per word at 16 bits a hash.
   static constexpr uint64_t hashesPerWord = 4;
   /// If more of the other hashes pass, a filter is hardly worth a question.
   static constexpr double passingShareMax = 0.16;
   static constexpr uint64_t wordsMax = uint64_t{1} << 23; ///< 64 MiB
   /// The words of a filter with 16 bits or more for each of `hashes` hashes.
   static uint64_t wordsFor(uint64_t hashes);

   /// An empty filter. `words` is a power of two, at most wordsMax. Throws 53200.
   HashFilter(uint64_t words, Reservation& memory);
   /// Thread-safe.
   void add(uint64_t hash) {
      std::atomic_ref<uint64_t> word(words_[wordOf(hash)]);
      const uint64_t mask = maskOf(hash);
      if ((word.load(std::memory_order_relaxed) & mask) != mask) word.fetch_or(mask, std::memory_order_relaxed);
   }
   /// False: add() was not called with the hash.
   bool mayContain(uint64_t hash) const {
      const uint64_t mask = maskOf(hash);
      return (words_[wordOf(hash)] & mask) == mask;
   }
   /// The share of hashes that pass without having been added, where any have been added. Counts bits, so it is exact
   /// however often a hash was added.
   double passingShare() const;
   /// Halve the filter as long as hardly more than 1 % of other hashes pass. Its memory stays charged in full.
   void shrink();
   uint64_t words() const { return count_; }

private:
   static uint64_t maskOf(uint64_t hash) {
      return uint64_t{1} << (hash & 63) | uint64_t{1} << (hash >> 6 & 63) | uint64_t{1} << (hash >> 12 & 63) |
             uint64_t{1} << (hash >> 18 & 63);
   }
   uint64_t wordOf(uint64_t hash) const { return ((hash >> 32) * count_) >> 32; }

   LargeMemory memory_;
   uint64_t* words_;
   uint64_t count_;
};

} // namespace ouzel::executor
