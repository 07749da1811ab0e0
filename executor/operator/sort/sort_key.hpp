#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <immintrin.h>
#include <optional>
#include <span>
#include <vector>

#include "common/value/vector.hpp"

// Sort keys as bytes that memcmp orders. A column of the key is a byte for NULL, then the value, big-endian with the
// sign flipped; all bits of the value are inverted when descending. A string or decimal that does not fit keeps a
// prefix. When two prefixes are equal and shorter than their values, the values decide; such a key is "unresolved".

namespace ouzel::executor {

struct SortColumn {
   PhysicalType type = PhysicalType::I32;
   bool descending = false;
   bool nullsFirst = false;
};

/// The first 16 bytes of a key as numbers, with zeros after the bytes that decide without values.
struct SortPrefix {
   uint64_t high = 0, low = 0;
   auto operator<=>(const SortPrefix&) const = default;
};

/// The position of each column in a key. Immutable; shared by workers.
class SortKeyLayout {
public:
   struct Column : SortColumn {
      uint32_t offset = 0, end = 0; ///< bytes [offset, end) of the key
      bool isExact = true;          ///< equal bytes mean equal values
   };
   static constexpr uint32_t stringPrefixBytes = 14; ///< with the NULL byte and the length byte 16
   explicit SortKeyLayout(const std::vector<SortColumn>& columns);
   /// The layout of keys in which these text columns have ranks; see storeRank().
   SortKeyLayout withRanks(std::span<const uint32_t> ranked) const;
   /// Write the rank of a value that is not NULL in place of the value. Ranks of equal values are equal, others are in
   /// the order of values. All bytes but the rank's are 0, as those of NULL are, so that they differ in few bits.
   static void storeRank(const Column& column, uint32_t rank, std::byte* key);

   const std::vector<Column>& columns() const { return columns_; }
   /// Bytes from one key to the next in memory: a multiple of 8, at least 16.
   uint32_t stride() const { return stride_; }
   uint32_t width() const { return width_; } ///< bytes of a key
   /// Write the keys of live rows [from, from + count); key i lies at out + i * stride().
   void encode(std::span<const Vector> values, Selection rows, uint32_t from, uint32_t count, std::byte* out) const;
   SortPrefix prefix(const std::byte* key) const {
      SortPrefix out;
      std::memcpy(&out.high, key, 8);
      std::memcpy(&out.low, key + 8, 8);
      return {__builtin_bswap64(out.high) & prefixMask_.high, __builtin_bswap64(out.low) & prefixMask_.low};
   }
   bool isExact() const { return isExact_; }
   /// For a column that is not exact: whether the key has only a prefix of the value.
   static bool isUnresolved(const Column& column, const std::byte* key);

   /// The value of the first column, if it is an integer; empty for NULL.
   std::optional<int64_t> firstInteger(const std::byte* key) const;

   /// The number of first bytes of a key that decide without values.
   uint32_t decidedBytes() const { return decidedBytes_; }

private:
   void place();

   std::vector<Column> columns_;
   uint32_t stride_ = 16, width_ = 0, decidedBytes_ = 0;
   SortPrefix prefixMask_; ///< of the bytes that decide without values
   bool isExact_ = true;
};

/// The bits in which a set of keys differ.
class KeySpread {
public:
   /// Add `count` keys of `layout`, one every stride() bytes.
   void add(const SortKeyLayout& layout, const std::byte* keys, uint32_t count);
   void add(const KeySpread& other);

private:
   friend class KeyPacking;
   std::vector<uint64_t> first_, differing_; // by 8-byte word of the key; bits of padding are never read
};

/// Packs the bits in which keys differ. Bits that are equal in all keys do not affect the order; without them 16 bytes
/// often suffice for keys that are longer. A date, for example, may have 12 bits that differ out of 40. Immutable.
class KeyPacking {
public:
   static constexpr uint32_t bitsMax = 128;
   /// For the keys that were added to `spread`, and no others. `bytesMax`: only these first bytes count.
   KeyPacking(const SortKeyLayout& layout, const KeySpread& spread, uint32_t bytesMax = UINT32_MAX);

   /// The first bitsMax of the bits that can differ, highest first.
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
   /// Whether equal prefixes mean that the keys are equal in all bytes that decide without values.
   bool isWhole() const { return isWhole_; }
   /// Whether the prefix decides alone: equal prefixes mean equal keys.
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
