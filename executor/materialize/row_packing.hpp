#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "executor/materialize/row_layout.hpp"

namespace ouzel::executor {

/// Packs the rows of a page for the disk, and unpacks them. Packed rows are runs of runRows rows; a run is one field
/// after the other. A field is the hash, a column, a part of the extra bytes or of the NULL bits:
///
///    numbers         u8 width, u64 least value; per row the distance from the least value in `width` bytes
///    strings         the lengths as numbers; the bytes of the strings
///    listed strings  u8 255, u64 count; per listed string u32 length and its bytes; if count > 1, a u8 index per row
///    hashes          u8 254, when the run's hashes are those of the layout's hashed columns; unpack() computes them
///
/// The width is 0 when all values of a run are equal. Strings are listed when a run has few different ones; rows with
/// equal listed strings share the bytes after unpack(). Hashes are left out since no codec makes them smaller. Packed
/// rows take about half of the bytes that rows take in memory, for a tenth of the time of a codec, which may follow.
/// Immutable; thread-safe.
class RowPacking {
public:
   static constexpr uint32_t runRows = 1024;
   /// unpack() may read, and pack() may write, so many bytes past the end.
   static constexpr size_t slackBytes = 16;

   /// `layout` is sealed and outlives this.
   explicit RowPacking(const RowLayout& layout);

   /// The most bytes that pack() writes for `rowCount` rows with `heapBytes` bytes of strings, slack included.
   size_t bound(size_t rowCount, size_t heapBytes) const;
   struct Packed {
      std::byte* end;   ///< end of the packed bytes
      size_t heapBytes; ///< of all strings that are not inline
   };
   /// Pack rows [begin, end) to `target`, which has bound() bytes. The rows' strings may lie anywhere.
   Packed pack(const std::byte* begin, const std::byte* end, std::byte* target) const;
   /// Make rows [begin, end) from packed bytes; `heap` has room for Packed::heapBytes. False: `packed` was damaged.
   [[nodiscard]] bool unpack(std::span<const std::byte> packed, std::byte* begin, std::byte* end, char* heap) const;

private:
   struct Field {
      uint32_t offset;
      uint8_t bytes; ///< size of a number: 1, 2, 4 or 8; 0: a StringView
   };
   void addBytes(uint32_t begin, uint32_t end);
   bool hashesAreOfColumns(const std::byte* rows, uint32_t count) const;
   [[nodiscard]] bool makeHashes(std::byte* rows, uint32_t count) const;

   const RowLayout& layout_;
   const uint32_t rowSize_;
   std::vector<Field> fields_;
   bool hasGaps_ = false; ///< some bytes of a row belong to no field
};

} // namespace ouzel::executor
