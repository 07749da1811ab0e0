#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/error/sql_error.hpp"
#include "common/memory/arena.hpp"
#include "common/memory/ledger.hpp"
#include "common/type/session_format.hpp"
#include "common/type/text_codec.hpp"
#include "common/type/user_types.hpp"
#include "common/value/batch.hpp"
#include "common/value/sql_type.hpp"
#include "io/format/csv/field_splitter.hpp"

namespace ouzel::io {

/// The values of up to batchRowsMax rows of one column, which a reader fills row by row. Not thread-safe.
class ColumnValues {
public:
   explicit ColumnValues(const SqlType& type);

   const SqlType& type() const { return type_; }
   uint32_t size() const { return size_; } ///< of a value, in bytes
   std::byte* at(uint32_t row) { return aligned() + size_t{size_} * row; }
   /// Declares `rows` values that are not NULL.
   void setAllValid(uint32_t rows);
   /// Makes a value NULL. Its bytes become zeros.
   void setNull(uint32_t row);
   Vector vector() { return Vector::flat(physical_, aligned(), validity_.data()); }

private:
   std::byte* aligned() const {
      return reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(data_.get()) + 15) & ~uintptr_t{15});
   }

   SqlType type_;
   PhysicalType physical_;
   uint32_t size_;
   std::unique_ptr<std::byte[]> data_;
   std::vector<ValidityWord> validity_;
};

/// Parses the rows of text chunks, one chunk after the other, as batches of the columns that a query reads. One
/// worker's. Memory: the chunk and the values' bytes are charged to the reservation.
class ChunkReader {
public:
   /// A column to parse: its field in a row, from 0, and its type.
   struct Column {
      uint32_t field;
      SqlType type;
   };
   struct Shape {
      RowFormat rows;
      SessionFormat format;                         ///< texts of dates and times are read with it
      std::vector<std::string> names;               ///< of all fields
      std::vector<uint8_t> forceNotNull, forceNull; ///< by field (csv)
      std::vector<Column> columns;                  ///< in the order of the batches
      std::string hint;                             ///< json: of errors of values; empty: none
   };

   /// `shape` outlives the reader.
   ChunkReader(const Shape& shape, Reservation& memory);

   /// Begins to read a chunk. `subject` begins the context of errors: "COPY t".
   void open(CopyChunk&& chunk, const std::string& subject);
   /// The next rows of the chunk, at most `rowsMax` <= batchRowsMax; false at its end, where its memory is released.
   /// Vectors are valid until the next call. Throws 22P04 and what values deserve, with line and column in the context.
   bool next(Batch& out, uint32_t rowsMax);
   /// The line of a row that next() gave last.
   uint64_t line(uint32_t row) const { return fields_.lines[firstRow_ + row]; }
   /// The text of the row at a line, if next() gave it last.
   std::optional<std::string_view> rowText(uint64_t line) const;

private:
   struct Parsed {
      Column column;
      FieldParser parser;
      EnumLabelsPtr labels; ///< of an enum; null: of another type
      ColumnValues values;
   };
   void close();
   void parse(Parsed& column, uint32_t count);
   [[noreturn]] void badField(const SqlError& error, const Parsed& column, uint32_t row, std::string_view text) const;

   const Shape& shape_;
   Reservation memory_;
   Arena arena_;
   FieldTable fields_;
   std::vector<Parsed> columns_;
   std::string subject_;
   CopyChunk chunk_;
   size_t charged_ = 0;
   std::optional<FieldSplitter> splitter_;
   uint32_t firstRow_ = 0, nextRow_ = 0; ///< of fields_: the rows given last are [firstRow_, nextRow_)
};

} // namespace ouzel::io
