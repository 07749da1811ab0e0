#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/memory/arena.hpp"
#include "common/memory/ledger.hpp"
#include "io/format/csv/chunk_reader.hpp"

// COPY's binary format. The stream is
//
//    "PGCOPY\n\377\r\n\0"   signature, 11 bytes
//    int32                  flags; the lower 17 bits may be set
//    int32 n, n bytes       header extension, passed over
//    rows:  int16 count of fields, then per field: int32 length (-1: NULL), bytes
//    int16 -1               trailer
//
// Integers are big-endian. Rows are counted from 1 where text formats count lines.

namespace ouzel::engine {

/// Cuts a binary stream into chunks of whole rows. One thread's.
class BinarySplitter {
public:
   /// `table` and `fields`, the number of fields of a row, are for errors.
   BinarySplitter(std::string table, size_t fields) : table_(std::move(table)), fields_(fields) {}

   /// Takes the next bytes; calls emit(io::CopyChunk&&) for each chunk that is full. Throws 22P04.
   template <typename Emit>
   void feed(std::string_view piece, Emit&& emit) {
      if (ended_) return;
      pending_.insert(pending_.end(), piece.begin(), piece.end());
      scan();
      if (rowEnd_ >= io::RowSplitter::chunkSize) emit(cut());
   }
   /// The rows that are left. A stream may lack its trailer; throws 22P04 when it ends within its header or a row.
   template <typename Emit>
   void finish(Emit&& emit) {
      if (!ended_) checkEnd();
      if (rowEnd_ > 0) emit(cut());
   }
   size_t pendingBytes() const { return pending_.size(); }
   /// The number of the row that the splitter is at.
   uint64_t row() const { return nextRow_ + rows_; }

private:
   void scan();
   void checkEnd() const;
   bool scanHeader();
   io::CopyChunk cut();
   [[noreturn]] void bad(const std::string& message) const;

   const std::string table_;
   const size_t fields_;
   std::vector<char> pending_;
   size_t rowEnd_ = 0;    ///< end of the last whole row in pending_
   uint64_t rows_ = 0;    ///< whole rows in pending_
   uint64_t nextRow_ = 1; ///< number of the first row in pending_
   bool hasHeader_ = false, ended_ = false;
};

/// Parses chunks of whole binary rows. One worker's.
class BinaryReader {
public:
   BinaryReader(const io::ChunkReader::Shape& shape, Reservation& memory);

   void open(io::CopyChunk&& chunk, const std::string& subject);
   /// As ChunkReader::next().
   bool next(Batch& out, uint32_t rowsMax);
   uint64_t line(uint32_t row) const { return firstRow_ + row; }

private:
   void parseRow(uint32_t row);

   const io::ChunkReader::Shape& shape_;
   Reservation memory_;
   Arena arena_;
   std::vector<int> columnOfField_; ///< -1: the field is not read
   std::vector<io::ColumnValues> columns_;
   std::vector<EnumLabelsPtr> labels_; ///< of the columns that are enums; null: of another type
   std::string subject_;
   io::CopyChunk chunk_;
   size_t at_ = 0, charged_ = 0;
   uint64_t firstRow_ = 1, nextRow_ = 1;
};

} // namespace ouzel::engine
