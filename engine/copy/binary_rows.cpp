#include "engine/copy/binary_rows.hpp"

#include <cstring>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/utf8.hpp"
#include "common/type/binary_codec.hpp"
#include "common/type/enum_labels.hpp"

namespace ouzel::engine {

namespace {

constexpr std::string_view signature("PGCOPY\n\377\r\n\0", 11);

int64_t readInt(const char* bytes, size_t size) {
   int64_t value = static_cast<int8_t>(bytes[0]);
   for (size_t i = 1; i < size; ++i)
      value = value * 256 + static_cast<uint8_t>(bytes[i]);
   return value;
}

std::string contextOf(const std::string& subject, uint64_t row) {
   return subject + ", line " + std::to_string(row);
}

} // namespace

void BinarySplitter::bad(const std::string& message) const {
   SqlError error(sqlstate::badCopyFileFormat, message);
   if (hasHeader_) error.setContext(contextOf("COPY " + table_, row()));
   throw error;
}

/// False: the header is not all there yet.
bool BinarySplitter::scanHeader() {
   const size_t known = std::min(pending_.size(), signature.size());
   if (signature.compare(0, known, std::string_view(pending_.data(), known)) != 0)
      bad("COPY file signature not recognized");
   if (pending_.size() < signature.size() + 8) return false;
   if (readInt(pending_.data() + signature.size(), 4) & ~int64_t{0x1ffff})
      bad("unrecognized critical flags in COPY file header");
   const int64_t extension = readInt(pending_.data() + signature.size() + 4, 4);
   if (extension < 0) bad("invalid COPY file header (missing length)");
   const size_t end = signature.size() + 8 + static_cast<size_t>(extension);
   if (pending_.size() < end) return false;
   pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(end));
   return hasHeader_ = true;
}

void BinarySplitter::scan() {
   if (!hasHeader_ && !scanHeader()) return;
   while (true) {
      size_t at = rowEnd_;
      const auto has = [&](size_t bytes) { return pending_.size() - at >= bytes; };
      if (!has(2)) return;
      const int64_t count = readInt(pending_.data() + at, 2);
      at += 2;
      if (count == -1) {
         ended_ = true;
         return;
      }
      if (count != static_cast<int64_t>(fields_))
         bad("row field count is " + std::to_string(count) + ", expected " + std::to_string(fields_));
      for (size_t field = 0; field < fields_; ++field) {
         if (!has(4)) return;
         const int64_t length = readInt(pending_.data() + at, 4);
         if (length < -1) bad("invalid field size");
         at += 4;
         if (length < 0) continue;
         if (!has(static_cast<size_t>(length))) return;
         at += static_cast<size_t>(length);
      }
      rowEnd_ = at;
      ++rows_;
   }
}

void BinarySplitter::checkEnd() const {
   if (!hasHeader_ && pending_.size() < signature.size()) bad("COPY file signature not recognized");
   if (!hasHeader_ && pending_.size() < signature.size() + 4) bad("invalid COPY file header (missing flags)");
   if (!hasHeader_) bad("invalid COPY file header (missing length)");
   if (pending_.size() - rowEnd_ >= 2) bad("unexpected EOF in COPY data"); // less is no row
}

io::CopyChunk BinarySplitter::cut() {
   DCHECK(rowEnd_ <= pending_.size());
   io::CopyChunk chunk;
   chunk.memory.assign(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(rowEnd_));
   chunk.size = rowEnd_;
   chunk.firstLine = nextRow_;
   pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(rowEnd_));
   nextRow_ += rows_;
   rowEnd_ = rows_ = 0;
   return chunk;
}

BinaryReader::BinaryReader(const io::ChunkReader::Shape& shape, Reservation& memory)
   : shape_(shape), memory_(memory), arena_(&memory_), columnOfField_(shape.names.size(), -1) {
   for (const io::ChunkReader::Column& column : shape.columns) {
      columnOfField_[column.field] = static_cast<int>(columns_.size());
      columns_.emplace_back(column.type);
      labels_.push_back(isEnumType(column.type.oid) ? labelsOf(column.type.oid, shape_.format.types) : nullptr);
   }
}

void BinaryReader::open(io::CopyChunk&& chunk, const std::string& subject) {
   memory_.shrink(charged_);
   charged_ = 0;
   memory_.grow(chunk.memory.size());
   charged_ = chunk.memory.size();
   chunk_ = std::move(chunk);
   subject_ = subject;
   at_ = 0;
   nextRow_ = chunk_.firstLine;
}

bool BinaryReader::next(Batch& out, uint32_t rowsMax) {
   if (at_ == chunk_.size) return false;
   arena_.reset();
   firstRow_ = nextRow_;
   for (io::ColumnValues& column : columns_)
      column.setAllValid(rowsMax);
   uint32_t rows = 0;
   for (; rows < rowsMax && at_ < chunk_.size; ++rows, ++nextRow_)
      parseRow(rows);
   out.columns.clear();
   for (io::ColumnValues& column : columns_)
      out.columns.push_back(column.vector());
   out.setDense(rows);
   return true;
}

/// The splitter has checked that all of the row's fields are there.
void BinaryReader::parseRow(uint32_t row) {
   at_ += 2;
   for (size_t field = 0; field < columnOfField_.size(); ++field) {
      const int64_t length = readInt(chunk_.memory.data() + at_, 4);
      at_ += 4;
      const std::string_view bytes(chunk_.memory.data() + at_, length < 0 ? 0 : static_cast<size_t>(length));
      at_ += bytes.size();
      if (columnOfField_[field] < 0) continue;
      io::ColumnValues& column = columns_[static_cast<size_t>(columnOfField_[field])];
      const EnumLabels* labels = labels_[static_cast<size_t>(columnOfField_[field])].get();
      if (length < 0) {
         column.setNull(row);
         continue;
      }
      try {
         std::memset(column.at(row), 0, column.size());
         if (labels) {
            checkUtf8(bytes);
            putEnum(column.at(row), column.type(), bytes, *labels, shape_.format.types);
         } else {
            parseBinaryInto(column.at(row), column.type(), bytes, arena_, shape_.format.types);
         }
      } catch (SqlError& error) {
         const std::string inner = error.contextText().empty() ? std::string() : error.contextText() + '\n';
         error.setContext(inner + contextOf(subject_, firstRow_ + row) + ", column " + shape_.names[field]);
         throw;
      }
   }
}

} // namespace ouzel::engine
