#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <immintrin.h>
#include <span>
#include <vector>

#include "common/value/vector.hpp"

// Sort keys as bytes that memcmp orders. Each column is a byte for NULL and its value big-endian with the sign flipped,
// all bits inverted when descending. Strings and decimals that do not fit keep a prefix: where two such prefixes are
// equal and not the whole value, the values themselves decide ("unresolved" below).

namespace ouzel::executor {

struct SortColumn {
   PhysicalType type = PhysicalType::I32;
   bool descending = false;
   bool nullsFirst = false;
};

/// The first 16 bytes of a key as numbers, so far as they decide without looking at values.
struct SortPrefix {
   uint64_t high = 0, low = 0;
   auto operator<=>(const SortPrefix&) const = default;
};

/// Where each column lies in a key. Immutable; shared by workers.
class SortKeyLayout {
public:
   struct Column : SortColumn {
      uint32_t offset = 0, end = 0; ///< bytes [offset, end) of the key
      bool isExact = true;          ///< equal bytes mean equal values
   };
   static constexpr uint32_t stringPrefixBytes = 14; ///< with the NULL byte and the length byte 16
   explicit SortKeyLayout(const std::vector<SortColumn>& columns);

   const std::vector<Column>& columns() const { return columns_; }
   /// Bytes from one key to the next; at least 16.
   uint32_t stride() const { return stride_; }
   uint32_t width() const { return width_; }
   /// Keys of live rows [from, from + count): key i lies at out + i * stride().
   void encode(std::span<const Vector> values, Selection rows, uint32_t from, uint32_t count, std::byte* out) const;
   SortPrefix prefix(const std::byte* key) const;
   bool isExact() const { return isExact_; }
   /// For a column that is not exact: is this key's part only a prefix of the value?
   static bool isUnresolved(const Column& column, const std::byte* key);

   /// How many of a key's bytes decide without looking at values.
   uint32_t decidedBytes() const { return decidedBytes_; }

private:
   std::vector<Column> columns_;
   uint32_t stride_ = 16, width_ = 0, prefixBytes_ = 0, decidedBytes_ = 0;
   bool isExact_ = true;
};

/// In which bits some keys differ.
class KeySpread {
public:
   /// Keys of `layout`, one every stride().
   void add(const SortKeyLayout& layout, const std::byte* keys, uint32_t count);
   void add(const KeySpread& other);

private:
   friend class KeyPacking;
   std::vector<uint64_t> first_, differing_; // as words of memory; padding counts, and nobody looks at it
};

/// Where keys differ, put together: the bits that are the same in all keys say nothing about their order, so that
/// leaving them out lets 16 bytes decide what takes more as a key. A date, say, has 12 bits that differ out of 40.
class KeyPacking {
public:
   static constexpr uint32_t bitsMax = 128;
   /// For keys within `spread`, and no others.
   KeyPacking(const SortKeyLayout& layout, const KeySpread& spread);

   /// The first bits of the key that can differ, from the top.
   SortPrefix prefix(const std::byte* key) const {
      unsigned __int128 packed = 0;
      for (uint32_t i = 0; i < wordCount_; ++i) {
         uint64_t word = 0;
         std::memcpy(&word, key + words_[i].offset, 8);
         packed = packed << words_[i].bits | _pext_u64(__builtin_bswap64(word), words_[i].mask);
      }
      packed <<= shift_;
      return {static_cast<uint64_t>(packed >> 64), static_cast<uint64_t>(packed)};
   }
   /// Whether SortPrefix::low is 0 for all keys.
   bool isNarrow() const { return bits_ <= 64; }
   /// Whether equal prefixes mean equal bytes, as far as they decide.
   bool isWhole() const { return isWhole_; }
   /// Whether the prefix is all there is to compare.
   bool isEnough() const { return isEnough_; }

private:
   struct Word {
      uint32_t offset, bits;
      uint64_t mask;
   };
   Word words_[bitsMax] = {};
   uint32_t wordCount_ = 0, bits_ = 0, shift_ = 0;
   bool isWhole_ = true, isEnough_ = false;
};

} // namespace ouzel::executor
