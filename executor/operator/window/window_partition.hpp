#pragma once
#include <cstring>
#include <span>
#include <string>

#include "common/memory/large_memory.hpp"
#include "common/value/value.hpp"
#include "executor/function/context.hpp"
#include "executor/operator/sort/sort_buffer.hpp"
#include "executor/operator/window/row_starts.hpp"
#include "executor/operator/window/window_carry.hpp"
#include "executor/operator/window/window_pager.hpp"
#include "sql/algebra/rel.hpp"

// A partition of a window, and the frames of its rows.

namespace ouzel::executor {

/// An array that is kept from partition to partition and grows when a partition needs more elements. New memory is
/// zeroed; elements of earlier partitions stay. Charged.
template <typename T>
class ScratchArray {
public:
   T* ensure(size_t count, Reservation& memory) {
      if (count * sizeof(T) > memory_.bytes()) {
         const size_t bytes = std::max(count * sizeof(T), 2 * memory_.bytes());
         memory_.release();
         memory_ = LargeMemory(bytes, memory);
      }
      return memory_.as<T>();
   }
   T* data() const { return memory_.as<T>(); }
   T& operator[](size_t i) const { return memory_.as<T>()[i]; }

private:
   LargeMemory memory_;
};

/// Marks of a row in sort order: how it differs from the row before.
enum RowMark : uint8_t {
   PartitionStart = 1,
   PeerStart = 2, ///< first row of its partition, or differs from the row before in an ORDER BY key
};

/// The rows of a partition in order, counted from 0, and their peer groups. The rows lie in a sorted buffer, or they
/// are paged. One worker uses the object for one partition after the other.
class WindowPartition {
public:
   WindowPartition(const SortBuffer& buffer, Reservation& memory) : buffer_(&buffer), memory_(memory) {}
   WindowPartition(WindowPager& rows, const RowStarts& peers, Reservation& memory)
      : paged_(&rows), peers_(&peers), memory_(memory) {}
   /// `before`: the partition has earlier rows, which are not counted here. May be null.
   void reset(uint64_t begin, uint32_t count, const uint8_t* marks, const WindowCarry* before = nullptr);
   /// Of paged rows: the partition has rows [begin, begin + count).
   void reset(uint32_t begin, uint32_t count);

   uint32_t count() const { return count_; }
   /// Null: the rows are all of the partition.
   const WindowCarry* before() const { return before_; }
   uint64_t rowsBefore() const { return before_ ? before_->rows : 0; }
   uint64_t groupsBefore() const { return before_ ? before_->groups : 0; }
   /// Null: the rows are in memory.
   WindowPager* paged() const { return paged_; }
   /// The number of a row among all paged rows.
   uint32_t pagedRow(uint32_t row) const { return static_cast<uint32_t>(begin_) + row; }
   std::span<const RowAddress> rows() const { return buffer_->order().subspan(begin_, count_); }
   bool isNull(uint32_t column, uint32_t row) const {
      if (paged_) return paged_->isNull(column, pagedRow(row));
      const RowAddress at = buffer_->order()[begin_ + row];
      return buffer_->runs()[at.run]->isNull(column, at.row);
   }
   /// The stored value. In a paged partition it is valid until three other pages were asked for.
   const std::byte* value(uint32_t column, uint32_t row) const {
      if (paged_) return paged_->value(column, pagedRow(row));
      const RowAddress at = buffer_->order()[begin_ + row];
      return buffer_->runs()[at.run]->value(column, at.row);
   }
   template <typename T>
   T valueAs(uint32_t column, uint32_t row) const {
      T out;
      std::memcpy(&out, value(column, row), sizeof out);
      return out;
   }
   bool mayHaveNulls(uint32_t column) const {
      return paged_ ? paged_->mayHaveNulls(column) : buffer_->mayHaveNulls(column);
   }
   uint32_t groupCount() const { return groupCount_; }
   uint32_t groupOf(uint32_t row) const { return peers_ ? peers_->groupOf(pagedRow(row)) - firstGroup_ : groups_[row]; }
   uint32_t groupStart(uint32_t group) const { ///< of groupCount(): the end
      if (!peers_) return groupStarts_[group];
      return group >= groupCount_ ? count_ : peers_->groupStart(firstGroup_ + group) - pagedRow(0);
   }
   uint32_t peerStart(uint32_t row) const { return peers_ ? peersOf(row).from : groupStarts_[groups_[row]]; }
   uint32_t peerEnd(uint32_t row) const { return peers_ ? peersOf(row).end : groupStarts_[groups_[row] + 1]; }
   const SortBuffer& buffer() const { return *buffer_; }
   Reservation& memory() const { return memory_; }

private:
   const RowStarts::Group& peersOf(uint32_t row) const {
      if (row < found_.from || row >= found_.end) findPeers(row);
      return found_;
   }
   void findPeers(uint32_t row) const;

   const SortBuffer* buffer_ = nullptr;
   WindowPager* paged_ = nullptr;
   const RowStarts* peers_ = nullptr; // of paged_; null: groups_ and groupStarts_ are used
   Reservation& memory_;
   const WindowCarry* before_ = nullptr;
   uint64_t begin_ = 0; // number of the first row in the buffer's order, or among the paged rows
   uint32_t count_ = 0, groupCount_ = 0, firstGroup_ = 0;
   mutable RowStarts::Group found_{0, 0}; // of peers_: the peers that were asked for last
   ScratchArray<uint32_t> groups_, groupStarts_;
};

/// Rows of a partition that are computed together: all rows, or, in a paged partition, one block after the other. Their
/// results begin at resultAt. Blocks ascend; rows between them are computed elsewhere.
struct WindowBlock {
   uint32_t from, end;
   uint64_t resultAt;
   bool isFirst; ///< no block of the partition came before
   uint64_t resultOf(uint32_t row) const { return resultAt + (row - from); }
};

/// A frame clause with its offsets evaluated.
struct FrameClause {
   sql::FrameMode mode = sql::FrameMode::Range;
   sql::FrameBoundKind start = sql::FrameBoundKind::UnboundedPreceding, end = sql::FrameBoundKind::CurrentRow;
   sql::FrameExclusion exclusion = sql::FrameExclusion::None;
   Value startOffset, endOffset;
   // For RANGE with offsets: the only ORDER BY key.
   uint32_t keyColumn = UINT32_MAX; ///< stored column
   SqlType keyType;
   bool descending = false, nullsFirst = false;

   bool hasRangeOffset() const { return mode == sql::FrameMode::Range && (isOffset(start) || isOffset(end)); }
   static bool isOffset(sql::FrameBoundKind kind) {
      return kind == sql::FrameBoundKind::OffsetPreceding || kind == sql::FrameBoundKind::OffsetFollowing;
   }
};

/// PostgreSQL's in_range: compares `value` with base - offset (if `minus`) or base + offset. Returns whether the value
/// is at most (if `less`) or at least that bound. Throws 22013 for a negative offset.
bool isInRange(const FrameClause& clause, const Value& offset, const std::byte* value, const std::byte* base,
               bool minus, bool less, const FunctionContext& context);

/// The rows of a frame: up to three ascending ranges.
struct FrameRows {
   struct Range {
      uint32_t from, end;
   };
   Range ranges[3];
   uint32_t count = 0;
   void add(uint32_t from, uint32_t end) {
      if (from < end) ranges[count++] = {from, end};
   }
   uint32_t size() const {
      uint32_t sum = 0;
      for (uint32_t i = 0; i < count; ++i)
         sum += ranges[i].end - ranges[i].from;
      return sum;
   }
};

/// The frames of a block's rows. Without exclusion the frame of row i is [begin(i), end(i)), and empty if begin >= end.
class WindowFrames {
public:
   WindowFrames(const FrameClause& clause, const FunctionContext& context) : clause_(clause), context_(context) {}
   void compute(const WindowPartition& partition, const WindowBlock& block);
   uint32_t begin(uint32_t row) const { return begins_[row - from_]; }
   uint32_t end(uint32_t row) const { return ends_[row - from_]; }
   bool hasExclusion() const { return clause_.exclusion != sql::FrameExclusion::None; }
   FrameRows rowsOf(const WindowPartition& partition, uint32_t row) const;

private:
   void computeRangeBegins(const WindowPartition& partition, const WindowBlock& block);
   void computeRangeEnds(const WindowPartition& partition, const WindowBlock& block);

   const FrameClause& clause_;
   const FunctionContext& context_;
   uint32_t from_ = 0;
   uint32_t head_ = 0, tail_ = 0; // for RANGE frames: begin and end at the last row of the block before; 0: none
   ScratchArray<uint32_t> begins_, ends_;
};

} // namespace ouzel::executor
