#pragma once
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/json/json_lexer.hpp"
#include "common/json/jsonb_writer.hpp"
#include "io/format/csv/chunk_reader.hpp"
#include "io/format/json/json_members.hpp"

namespace ouzel::io {

/// Parses the rows of JSON chunks, one chunk after the other, as batches of the columns that a query reads. One
/// worker's. Memory: the chunk and the values' bytes are charged to the reservation.
///
///    row -> members of its object -> fields of a column -> values
///           one pass over the text                         one loop for each column
///
/// The members of a row are found by name, in any order; of equal names the last one counts. A member that is absent or
/// null gives NULL. A member that no column asks for is checked, but not converted. jsonb is made in the first pass, so
/// that its text is read once; other values are converted by the parsers of COPY's text format.
class JsonRows {
public:
   /// `shape` outlives the reader. Its names are the keys of members.
   JsonRows(const ChunkReader::Shape& shape, Reservation& memory);

   /// Begins to read a chunk. `subject` begins the context of errors: "COPY t".
   void open(CopyChunk&& chunk, const std::string& subject);
   /// The next rows of the chunk, at most `rowsMax` <= batchRowsMax; false at its end, where its memory is released.
   /// Vectors are valid until the next call. A bad row throws when those before it have been given: 22P02 for what is
   /// no JSON, 22P04 for a row or member that has no place, 54001, and what values deserve, with the row in the
   /// context.
   bool next(Batch& out, uint32_t rowsMax);
   /// The line, or element, of a row that next() gave last.
   uint64_t line(uint32_t row) const { return lines_[row]; }

private:
   /// How a column's values are made of members.
   enum class Making : uint8_t {
      Text,  ///< of the text of a scalar, or the JSON text of others
      Parts, ///< of the parts of an array or object; else as Text
      Json,  ///< of the JSON text
      Jsonb
   };
   /// A member's value in a row.
   struct Field {
      const char* text = nullptr; ///< null: NULL. Of jsonb: anything, since the value has its place already
      uint32_t size = 0;
      bool hasParts = false; ///< an array or object
      std::string_view view() const { return {text, size}; }
   };
   struct Parsed {
      ChunkReader::Column column;
      Making making;
      FieldParser parser;
      EnumLabelsPtr labels; ///< of an enum; null: of another type
      ColumnValues values;
      std::vector<Field> fields; ///< by row
   };

   void close();
   uint32_t readRows(uint32_t rowsMax);
   void readRow(std::string_view text, uint32_t row);
   void readDocument(std::string_view text, uint32_t row);
   void readMember(std::string_view key, uint32_t index, json::Lexer& lexer, uint32_t row);
   void readValue(Parsed& column, json::Lexer& lexer, uint32_t row);
   std::optional<uint32_t> fieldOf(std::string_view key, uint32_t index);
   uint32_t convert(Parsed& column, uint32_t count);
   void convertOne(Parsed& column, const Field& field, std::byte* out);
   void keepError(const SqlError& error, uint32_t row, const std::string& place);
   void throwKept();

   // PROPERTIES
   const ChunkReader::Shape& shape_;
   Reservation memory_;
   std::unordered_map<std::string_view, uint32_t> fieldsByKey_;
   // STATE
   Arena arena_;
   json::JsonbWriter writer_;
   std::vector<Parsed> columns_;
   std::vector<int32_t> columnOfField_; ///< -1: the field is not read
   std::vector<uint32_t> guesses_;      ///< by place in the row: the field that the last rows had there
   std::vector<uint64_t> lines_;
   std::string subject_, decoded_;
   CopyChunk chunk_;
   size_t charged_ = 0;
   bool isUtf8_ = true; ///< all of the chunk
   std::optional<JsonLines> rows_;
   std::exception_ptr kept_; ///< the error of the row behind those given last
};

} // namespace ouzel::io
