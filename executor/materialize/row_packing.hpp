#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "executor/materialize/row_layout.hpp"

namespace ouzel::executor {

/// How rows lie on disk: column by column in runs of runRows, each number as its distance from the run's least in as
/// few bytes as the largest needs, each string as its length and its bytes, or as the number of one of a few different
/// ones (which share their memory when they are back). A pointer, a column that is all the same
/// and the NULL bits of none take nothing, so that a page is about half as large as in memory before any codec sees it,
/// for a tenth of the codec's time.
///
/// A run is, for each field: its width in bytes (1), the least value (8), then the distances; and behind each field of
/// lengths the bytes of the strings. A list of strings has 255 for a width, how many there are (8), their lengths (4)
/// and bytes, and a byte for each row. Hashes that are those of the layout's hashed columns, which no codec could make
/// smaller, are left out (a width of 254, then nothing) and made again. Immutable; thread-safe.
class RowPacking {
public:
   static constexpr uint32_t runRows = 1024;
   /// unpack() may read, and pack() write, so far past the end.
   static constexpr size_t slackBytes = 16;

   /// `layout` is sealed and outlives this.
   explicit RowPacking(const RowLayout& layout);

   /// What pack() needs at most for so many rows with so many bytes of strings, slack included.
   size_t bound(size_t rowCount, size_t heapBytes) const;
   struct Packed {
      std::byte* end;   ///< of what was written
      size_t heapBytes; ///< of all strings that are not inline
   };
   /// Strings may lie anywhere.
   Packed pack(const std::byte* begin, const std::byte* end, std::byte* target) const;
   /// Make rows [begin, end) of what was packed; `heap` has room for its heapBytes. False: it was something else.
   [[nodiscard]] bool unpack(std::span<const std::byte> packed, std::byte* begin, std::byte* end, char* heap) const;

private:
   struct Field {
      uint32_t offset;
      uint8_t bytes; ///< 1, 2, 4, 8; 0: a StringView
   };
   void addBytes(uint32_t begin, uint32_t end);
   bool hashesAreOfColumns(const std::byte* rows, uint32_t count) const;
   [[nodiscard]] bool makeHashes(std::byte* rows, uint32_t count) const;

   const RowLayout& layout_;
   const uint32_t rowSize_;
   std::vector<Field> fields_;
   bool hasGaps_ = false; ///< bytes between the fields
};

} // namespace ouzel::executor
