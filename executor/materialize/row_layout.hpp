#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "common/value/physical_type.hpp"
#include "executor/materialize/live_column.hpp"

namespace ouzel::executor {

/// Where things lie in a materialised row: one layout for join, aggregation, sort and spilling.
///
///    0    8   the row's hash; the join's table turns it into the link to the next row of the chain
///    8    …   columns by falling size, then states and other extra bytes (aligned), then one NULL bit per column
///
/// Rows are multiples of 8 bytes (16 with an extra part so aligned). Strings longer than inlineMax point into the
/// page's companion memory. Shared by all workers of an operator; only the notes about NULLs change after seal().
class RowLayout {
public:
   static constexpr uint32_t headerSize = 8;

   RowLayout() = default;
   RowLayout(const RowLayout&) = delete;
   RowLayout& operator=(const RowLayout&) = delete;

   /// Columns are numbered in the order they are added.
   uint32_t addColumn(PhysicalType type);
   /// Bytes that belong to the operator (aggregate states, match flags); returns a number for extraOffset().
   uint32_t addExtra(uint32_t size, uint32_t alignment);
   /// At this byte of the extra part is a StringView whose bytes lie anywhere until the row's page is settled.
   void addExtraString(uint32_t extra, uint32_t offset) { extraStrings_.push_back({extra, offset}); }
   /// The rows' hashes are hashKeys() of the first columns, as a rule; they need not be stored on disk then.
   void setHashedColumns(uint32_t count) { hashedColumns_ = count; }
   /// Place everything. Call once, after which the layout does not change.
   void seal();

   uint32_t columnCount() const { return static_cast<uint32_t>(types_.size()); }
   PhysicalType type(uint32_t column) const {
      DCHECK(column < types_.size());
      return types_[column];
   }
   uint32_t offset(uint32_t column) const {
      DCHECK(column < offsets_.size()); // none before seal()
      return offsets_[column];
   }
   uint32_t extraOffset(uint32_t extra) const {
      DCHECK(extra < extras_.size());
      return extras_[extra].offset;
   }
   /// Offset and size of each extra part.
   std::vector<std::pair<uint32_t, uint32_t>> extraParts() const {
      std::vector<std::pair<uint32_t, uint32_t>> parts;
      for (const Extra& extra : extras_)
         parts.emplace_back(extra.offset, extra.size);
      return parts;
   }
   uint32_t hashedColumns() const { return hashedColumns_; }
   uint32_t nullsOffset() const { return nullsOffset_; }
   uint32_t rowSize() const { return rowSize_; }
   bool hasVariableSize() const { return hasVariableSize_; }
   /// Where in a row the StringViews of columns lie, and those of extra parts.
   const std::vector<uint32_t>& stringOffsets() const { return stringOffsets_; }
   const std::vector<uint32_t>& extraStringOffsets() const { return extraStringOffsets_; }

   /// Whether any row written so far has a NULL there. Readers come after writers (a barrier between phases).
   bool mayHaveNulls(uint32_t column) const { return nullsSeen_[column].load(std::memory_order_relaxed); }
   void noteNulls(uint32_t column) const {
      if (!mayHaveNulls(column)) nullsSeen_[column].store(true, std::memory_order_relaxed);
   }
   bool isNull(const std::byte* row, uint32_t column) const {
      return (static_cast<uint8_t>(row[nullsOffset_ + (column >> 3)]) >> (column & 7) & 1) != 0;
   }

private:
   struct Extra {
      uint32_t size, alignment, offset;
   };
   std::vector<PhysicalType> types_;
   std::vector<uint32_t> offsets_;
   struct ExtraString {
      uint32_t extra, offset;
   };
   std::vector<Extra> extras_;
   std::vector<ExtraString> extraStrings_;
   std::vector<uint32_t> stringOffsets_, extraStringOffsets_;
   std::unique_ptr<std::atomic<bool>[]> nullsSeen_;
   uint32_t hashedColumns_ = 0;
   uint32_t nullsOffset_ = 0;
   uint32_t rowSize_ = 0;
   bool hasVariableSize_ = false;
};

/// The hash of a row that no table has linked yet.
inline uint64_t rowHash(const std::byte* row) {
   return *reinterpret_cast<const uint64_t*>(row);
}

/// Bytes of companion memory that live rows [0, count) need; `sizes` are added to, not set. Returns true if any does.
bool addVariableSizes(const LiveColumn& column, uint32_t count, uint32_t* sizes);

/// Write column `column` of live rows into rows[i]; long strings are copied to heap[i], which moves on. Sets the NULL
/// bits, which start as zero. `heap` may be null when no row needs companion memory.
void scatterColumn(const RowLayout& layout, uint32_t column, const LiveColumn& source, uint32_t count,
                   std::byte* const* rows, char** heap);
/// The same for live rows live[0..count): row k's source is live[k], its target rows[live[k]], heap[live[k]].
void scatterColumn(const RowLayout& layout, uint32_t column, const LiveColumn& source, const RowIndex* live,
                   uint32_t count, std::byte* const* rows, char** heap);

/// Where gathered values go: value k to position target(k).
struct GatherTarget {
   void* data = nullptr;
   ValidityWord* validity = nullptr; ///< bits of the positions written are set or cleared, if NULLs are possible
};
/// Read column `column` of rows[0..count) to positions 0..count-1. A null row pointer reads as NULL when `mayBeAbsent`.
/// Returns true when there may be a NULL; when false, `target.validity` was not written. Strings are not copied: they
/// point into the rows' pages.
bool gatherColumn(const RowLayout& layout, uint32_t column, const std::byte* const* rows, uint32_t count,
                  bool mayBeAbsent, GatherTarget target);
/// The same to positions[k].
bool gatherColumn(const RowLayout& layout, uint32_t column, const std::byte* const* rows, const RowIndex* positions,
                  uint32_t count, bool mayBeAbsent, GatherTarget target);

} // namespace ouzel::executor
