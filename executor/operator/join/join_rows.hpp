#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "executor/materialize/tuple_buffer.hpp"

namespace ouzel::executor {

/// Writes live rows into tuple buffers, and says where they went. One worker's own.
class JoinRowWriter {
public:
   /// Store live rows [0, count) of `columns` (as the layout's) with these hashes.
   void write(TupleBuffer& buffer, const RowLayout& layout, const LiveColumn* columns, uint32_t count,
              const uint64_t* hashes);

private:
   std::byte* rows_[batchRowsMax];
   char* heap_[batchRowsMax];
   uint32_t sizes_[batchRowsMax];
};

/// Cuts pages of rows into batches of columns. One worker's own.
class JoinRowReader {
public:
   /// From the page's first row on; it must stay. Null: no rows.
   void open(const TuplePage* page, uint32_t rowSize) {
      at_ = page ? page->begin : nullptr;
      end_ = page ? page->cursor : nullptr;
      rowSize_ = rowSize;
   }
   /// The next rows, at most `countMax`; returns how many.
   uint32_t next(uint32_t countMax, const std::byte** rows) {
      uint32_t count = 0;
      for (; at_ != end_ && count < countMax; at_ += rowSize_)
         rows[count++] = at_;
      return count;
   }
   bool isAtEnd() const { return at_ == end_; }

private:
   const std::byte *at_ = nullptr, *end_ = nullptr;
   uint32_t rowSize_ = 0;
};

/// 21000 for a scalar subquery.
[[noreturn, gnu::cold]] void throwMoreThanOneRow();

} // namespace ouzel::executor
