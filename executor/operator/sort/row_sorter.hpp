#pragma once
#include <memory>
#include <span>
#include <vector>

#include "common/memory/large_memory.hpp"
#include "executor/operator/sort/sort_buffer.hpp"

namespace ouzel::executor {

/// Sorts the rows of sealed runs by their keys; rows with equal ones stay in the order of runs and rows. Two rounds of
/// tasks that workers share: split() divides a part of the rows by ranges of keys, which a sample has cut so that they
/// have about equally many rows; sort() puts the rows of one range in order. So nothing is merged, and each row's key
/// is looked at twice however many rows there are.
///
/// Beside each address are the bits of its key that differ (KeyPacking), 8 or 16 bytes; ranges are radix sorted by
/// them. Rows that these do not tell apart are sorted by what follows in the value of a text, taken up 15 bytes at a
/// time in their place, or by comparing.
class RowSorter {
public:
   /// The runs stay where they are and have their keys until the last range is sorted.
   RowSorter(const SortRowLayout& layout, std::span<const SortRun* const> runs, uint32_t workers, Reservation& memory);
   ~RowSorter();

   /// How many parts there are, and how many ranges.
   uint32_t parts() const { return parts_; }
   void split(uint32_t part);
   /// After all parts.
   void endSplit();
   /// Put the addresses of the range's rows in order to where they belong in `order`, which has room for all rows.
   void sort(uint32_t range, RowAddress* order);
   /// After endSplit().
   uint64_t rowCount() const { return rangeBegins_.back(); }

private:
   template <typename Entry>
   class Rows;
   class Base;
   uint32_t parts_ = 1;
   std::vector<uint64_t> rangeBegins_;
   std::unique_ptr<Base> rows_;
};

} // namespace ouzel::executor
