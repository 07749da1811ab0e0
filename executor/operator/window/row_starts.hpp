#pragma once
#include <cstdint>

#include "common/memory/large_memory.hpp"
#include "common/memory/ledger.hpp"

namespace ouzel::executor {

/// Which rows of a sequence begin a group (a partition, or peers): one bit per row, and counts that make searches fast.
/// Filled row by row by one thread, then sealed, then read by any thread.
class RowStarts {
public:
   explicit RowStarts(Reservation& memory) : memory_(&memory) {}
   void add(bool isStart);
   /// Add the rows of `later`; its first row begins a group if `isStart`.
   void append(const RowStarts& later, bool isStart);
   /// Call after the last add() or append().
   void seal();

   uint32_t rowCount() const { return rows_; }
   uint32_t groupCount() const { return groups_; }
   bool isStart(uint32_t row) const { return (words_.as<uint64_t>()[row / 64] >> (row % 64) & 1) != 0; }
   uint32_t groupOf(uint32_t row) const;
   uint32_t groupStart(uint32_t group) const; ///< for group == groupCount(): the number of rows
   /// The rows of a row's group: [from, end).
   struct Group {
      uint32_t from, end;
   };
   Group groupAround(uint32_t row) const;

private:
   static constexpr uint32_t blockWords = 8; ///< number of words per entry of counts_
   void reserve(uint32_t rows);
   uint32_t nextStart(uint32_t row) const;

   Reservation* memory_;
   LargeMemory words_, counts_; // counts_: set bits before each block of blockWords words
   uint32_t rows_ = 0, groups_ = 0;
};

} // namespace ouzel::executor
