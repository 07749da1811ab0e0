#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/memory/arena.hpp"
#include "common/value/selection.hpp"
#include "io/format/csv/row_splitter.hpp"

namespace ouzel::io {

/// The fields of up to batchRowsMax rows, column by column, so that each column can be parsed in one loop.
struct FieldTable {
   uint32_t columns = 0, rows = 0;
   std::vector<std::string_view> fields; ///< [column * batchRowsMax + row]; a null pointer is NULL
   std::vector<uint64_t> lines;          ///< line number of each row

   explicit FieldTable(uint32_t columnCount)
      : columns(columnCount), fields(size_t{columnCount} * batchRowsMax), lines(batchRowsMax) {}
   const std::string_view* column(uint32_t c) const { return fields.data() + size_t{c} * batchRowsMax; }
};

/// Splits the rows of a chunk into fields and removes quotes and escapes. Fields point into the chunk or, where
/// characters were removed, into the arena, which next() resets. Used by one thread.
class FieldSplitter {
public:
   /// `subject` is the beginning of errors' context, such as "COPY t". `names` are the columns of the input in order,
   /// for errors. `forceNotNull` and `forceNull` are indexed by column (csv only).
   FieldSplitter(const RowFormat& options, std::string subject, std::vector<std::string> names,
                 std::vector<uint8_t> forceNotNull, std::vector<uint8_t> forceNull);

   void open(const CopyChunk& chunk);
   /// The next rows; false at the end of the chunk. Throws 22P04 with the line in its context.
   bool next(FieldTable& table);

private:
   bool splitCsvRow(FieldTable& table, uint32_t row);
   bool splitTextRow(FieldTable& table, uint32_t row);
   std::string_view unquote(const char* begin, const char* end);
   std::string_view unescape(const char* begin, const char* end);
   void store(FieldTable& table, uint32_t row, uint32_t column, const char* begin, const char* end, bool special);
   [[noreturn]] void badRow(const std::string& message, std::string hint = {});

   const RowFormat& options_;
   std::string subject_;
   std::vector<std::string> names_;
   std::vector<uint8_t> forceNotNull_, forceNull_;
   Arena arena_;
   const CopyChunk* chunk_ = nullptr;
   const char *cursor_ = nullptr, *end_ = nullptr, *rowBegin_ = nullptr;
   uint64_t line_ = 1;
};

} // namespace ouzel::io
