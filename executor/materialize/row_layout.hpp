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

/// The layout of a materialised row, the same for joins, aggregations and spilling.
///
///    0    8    the row's hash; the join's table replaces the hash by the link to the next row of the chain
///    8    ...  columns by falling size, then states and other extra bytes (aligned), then one NULL bit per column, if
///              any may be NULL
///
/// The size of a row is a multiple of 8 bytes (of 16 if an extra part is aligned to 16). Strings longer than inlineMax
/// point into the page's companion memory. Shared by all workers of an operator; after seal() only the notes about
/// NULLs change, and these are atomic.
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
   /// The extra part has a StringView at byte `offset`. Its bytes may lie outside the row's page until TupleBuffer
   /// adopts them, that is, copies them into the page's companion memory.
   void addExtraString(uint32_t extra, uint32_t offset) { extraStrings_.push_back({extra, offset}); }
   /// The rows' hashes are, as a rule, hashKeys() of the first `count` columns. RowPacking leaves out hashes for which
   /// that is true.
   void setHashedColumns(uint32_t count) { hashedColumns_ = count; }
   /// No column is NULL in any row: rows have no NULL bits. Writing a NULL throws XX000. Called before seal().
   void setNeverNull() { isNeverNull_ = true; }
   /// Compute all offsets. Call once, after the last addition; the layout does not change afterwards.
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
   bool isNeverNull() const { return isNeverNull_; }
   uint32_t nullsOffset() const { return nullsOffset_; } ///< the end of the row's values if isNeverNull()
   uint32_t rowSize() const { return rowSize_; }
   bool hasVariableSize() const { return hasVariableSize_; }
   /// Offsets of the row's StringViews: of columns, and of extra parts.
   const std::vector<uint32_t>& stringOffsets() const { return stringOffsets_; }
   const std::vector<uint32_t>& extraStringOffsets() const { return extraStringOffsets_; }

   /// Whether any row written so far has a NULL in the column. Relaxed: a barrier between phases orders readers after
   /// writers.
   bool mayHaveNulls(uint32_t column) const { return nullsSeen_[column].load(std::memory_order_relaxed); }
   /// REQUIRES: not isNeverNull().
   void noteNulls(uint32_t column) const {
      if (!mayHaveNulls(column)) nullsSeen_[column].store(true, std::memory_order_relaxed);
   }
   bool isNull(const std::byte* row, uint32_t column) const {
      return !isNeverNull_ && (static_cast<uint8_t>(row[nullsOffset_ + (column >> 3)]) >> (column & 7) & 1) != 0;
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
   bool hasVariableSize_ = false, isNeverNull_ = false;
};

/// The hash of a row. Not for rows that a join's table has linked: the link replaces the hash.
inline uint64_t rowHash(const std::byte* row) {
   return *reinterpret_cast<const uint64_t*>(row);
}

/// Add to sizes[i] the bytes of companion memory that live row i needs. Returns true if any row needs some.
bool addVariableSizes(const LiveColumn& column, uint32_t count, uint32_t* sizes);
/// Add to sizes[k] those that live row live[k] needs.
void addVariableSizes(const LiveColumn& column, const RowIndex* live, uint32_t count, uint32_t* sizes);

/// Write column `column` of live row i into rows[i]. Long strings are copied to heap[i], which advances past them. Sets
/// NULL bits, which must be zero before. `heap` may be null when no row needs companion memory.
void scatterColumn(const RowLayout& layout, uint32_t column, const LiveColumn& source, uint32_t count,
                   std::byte* const* rows, char** heap);
/// The same for a list of live rows: live row live[k] is written to rows[live[k]], heap[live[k]].
void scatterColumn(const RowLayout& layout, uint32_t column, const LiveColumn& source, const RowIndex* live,
                   uint32_t count, std::byte* const* rows, char** heap);

/// The arrays into which values are gathered.
struct GatherTarget {
   void* data = nullptr;
   ValidityWord* validity = nullptr; ///< the bits of written positions, if NULLs are possible
};
/// Read column `column` of rows[0..count) into positions 0..count-1 of the target. With `mayBeAbsent` a null row
/// pointer reads as NULL. Returns whether there may be a NULL; if false, `target.validity` was not written. Strings are
/// not copied: their views point into the rows' pages.
bool gatherColumn(const RowLayout& layout, uint32_t column, const std::byte* const* rows, uint32_t count,
                  bool mayBeAbsent, GatherTarget target);
/// The same; row k goes to position positions[k].
bool gatherColumn(const RowLayout& layout, uint32_t column, const std::byte* const* rows, const RowIndex* positions,
                  uint32_t count, bool mayBeAbsent, GatherTarget target);

} // namespace ouzel::executor
