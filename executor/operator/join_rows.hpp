#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "executor/materialize/large_memory.hpp"
#include "executor/materialize/row_layout.hpp"

namespace ouzel::executor {

/// Pages of equally long rows, and the bytes of their long strings. Filled by one worker; then read by all. Rows never
/// move. Pages start zeroed and small, so that a join of ten rows costs little.
class JoinRows {
public:
   struct Page {
      LargeMemory memory;
      uint32_t rowCount = 0;
      uint32_t capacity = 0;
   };

   JoinRows(const RowLayout& layout, Reservation& memory) : layout_(&layout), memory_(&memory) {}

   /// Room for `count` new rows: rows[i] points at zeroes.
   void allocate(uint32_t count, std::byte** rows);
   /// Write the columns of live rows [0, count) to rows[i].
   void write(const LiveColumn* columns, uint32_t count, std::byte* const* rows);

   uint64_t rowCount() const { return rowCount_; }
   std::vector<Page>& pages() { return pages_; }
   /// Take over all pages of `other`.
   void absorb(JoinRows& other);
   void clear();

private:
   void openPage();
   char* allocateHeap(size_t bytes);

   const RowLayout* layout_;
   Reservation* memory_;
   std::vector<Page> pages_;
   std::vector<LargeMemory> heaps_;
   uint64_t rowCount_ = 0;
   size_t heapUsed_ = 0;
};

} // namespace ouzel::executor
