#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "executor/materialize/tuple_buffer.hpp"

namespace ouzel::executor {

/// Writes live rows into tuple buffers. Used by one worker.
class JoinRowWriter {
public:
   /// Store live rows [0, count) of `columns` (the layout's columns) with these hashes.
   void write(TupleBuffer& buffer, const RowLayout& layout, const LiveColumn* columns, uint32_t count,
              const uint64_t* hashes);

private:
   std::byte* rows_[batchRowsMax];
   char* heap_[batchRowsMax];
   uint32_t sizes_[batchRowsMax];
};

/// Reads the rows of a page, some at a time. Used by one worker.
class JoinRowReader {
public:
   /// Start at the page's first row. The page must outlive the reading. Null: no rows.
   void open(const TuplePage* page, uint32_t rowSize) {
      at_ = page ? page->begin : nullptr;
      end_ = page ? page->cursor : nullptr;
      rowSize_ = rowSize;
   }
   /// Write the addresses of the next rows, at most `countMax`, to `rows`. Returns their number.
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

/// Throws 21000: a scalar subquery has more than one row.
[[noreturn, gnu::cold]] void throwMoreThanOneRow();

} // namespace ouzel::executor
