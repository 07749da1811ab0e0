#pragma once
#include <memory>
#include <span>
#include <vector>

#include "common/memory/large_memory.hpp"
#include "executor/operator/sort/sort_buffer.hpp"

namespace ouzel::executor {

/// Sorts the rows of sealed runs by their keys. Rows with equal keys stay in the order of runs and rows. There are two
/// rounds of tasks that workers share:
///
///    split(part)   divides a part of the rows by ranges of keys; a sample determines ranges of about equally many rows
///    sort(range)   puts the rows of one range, from all parts, in order
///
/// So nothing is merged, and each row's key is read twice, independent of the number of rows.
///
/// Each entry has the address of a row and 8 or 16 bytes with those bits of its key that differ among keys
/// (KeyPacking). A range is radix sorted by these bytes. Rows with equal bytes are then sorted by the next bytes of a
/// text, up to 15 at a time in place of the key bytes, or by comparing rows.
class RowSorter {
public:
   /// The runs must outlive the sorter and keep their keys until the last range is sorted.
   RowSorter(const SortRowLayout& layout, std::span<const SortRun* const> runs, uint32_t workers, Reservation& memory);
   ~RowSorter();

   /// The number of parts, which is also the number of ranges.
   uint32_t parts() const { return parts_; }
   void split(uint32_t part);
   /// Called once, after split() of all parts.
   void endSplit();
   /// Write the sorted addresses of the range's rows to their place in `order`, which has room for all rows.
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
