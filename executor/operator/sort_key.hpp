#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/vector/vector.hpp"

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
};

/// Where each column lies in a key. Immutable; shared by workers.
class SortKeyLayout {
public:
   struct Column : SortColumn {
      uint32_t offset = 0, end = 0; ///< bytes [offset, end) of the key
      bool isExact = true;          ///< equal bytes mean equal values
   };
   explicit SortKeyLayout(const std::vector<SortColumn>& columns);

   const std::vector<Column>& columns() const { return columns_; }
   /// Bytes from one key to the next; at least 16.
   uint32_t stride() const { return stride_; }
   uint32_t width() const { return width_; }
   /// Keys of live rows [from, from + count): key i lies at out + i * stride().
   void encode(std::span<const Vector> values, Selection rows, uint32_t from, uint32_t count, std::byte* out) const;
   SortPrefix prefix(const std::byte* key) const;
   /// Whether the prefix is all there is to compare.
   bool isPrefixEnough() const { return isPrefixEnough_; }
   bool isExact() const { return isExact_; }
   /// For a column that is not exact: is this key's part only a prefix of the value?
   static bool isUnresolved(const Column& column, const std::byte* key);

private:
   std::vector<Column> columns_;
   uint32_t stride_ = 16, width_ = 0, prefixBytes_ = 0;
   bool isPrefixEnough_ = false, isExact_ = true;
};

} // namespace ouzel::executor
