#pragma once
#include <cstdint>
#include <string>
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
   std::vector<uint64_t> lines;          ///< line number of each row: of its last line
   std::vector<std::string_view> texts;  ///< of each row, without its line break

   explicit FieldTable(uint32_t columnCount)
      : columns(columnCount), fields(size_t{columnCount} * batchRowsMax), lines(batchRowsMax), texts(batchRowsMax) {}
   const std::string_view* column(uint32_t c) const { return fields.data() + size_t{c} * batchRowsMax; }
};

/// The part of a row or field that errors show.
std::string shownInput(std::string_view text);
/// The number of fields in the text of one row.
size_t fieldCount(const RowFormat& options, std::string_view row);

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
   [[noreturn]] void badRow(const std::string& message);
   [[noreturn]] void badLineBreak(bool isCarriage) const;
   std::string_view rowText(const char* end) const;
   uint64_t breaksUpTo(const char* end) const;

   const RowFormat& options_;
   std::string subject_;
   std::vector<std::string> names_;
   std::vector<uint8_t> forceNotNull_, forceNull_;
   Arena arena_;
   const CopyChunk* chunk_ = nullptr;
   const char *cursor_ = nullptr, *end_ = nullptr, *rowBegin_ = nullptr;
   uint64_t line_ = 1, rowLine_ = 1; ///< the current line, and the first one of the row
   char lineBreak_ = '\n';           ///< that counts a line within quotes
};

} // namespace ouzel::io
