#include "io/format/csv/chunk_reader.hpp"

#include <algorithm>
#include <cstring>

#include "common/error/check.hpp"
#include "common/text/utf8.hpp"
#include "common/type/enum_labels.hpp"

namespace ouzel::io {

ColumnValues::ColumnValues(const SqlType& type)
   : type_(type), physical_(storedRepresentation(type).physical), size_(physicalSize(physical_)),
     data_(new std::byte[size_t{size_} * batchRowsMax + 16]), validity_(validityWords(batchRowsMax)) {}

void ColumnValues::setAllValid(uint32_t rows) {
   std::memset(validity_.data(), 0xff, validityWords(rows) * sizeof(ValidityWord));
}

void ColumnValues::setNull(uint32_t row) {
   setValidBit(validity_.data(), row, false);
   std::memset(at(row), 0, size_);
}

ChunkReader::ChunkReader(const Shape& shape, Reservation& memory)
   : shape_(shape), memory_(memory), arena_(&memory_), fields_(static_cast<uint32_t>(shape.names.size())) {
   for (const Column& column : shape.columns) {
      DCHECK(column.field < shape.names.size());
      EnumLabelsPtr labels = isEnumType(column.type.oid) ? labelsOf(column.type.oid, shape.format.types) : nullptr;
      columns_.push_back({column, fieldParser(column.type), std::move(labels), ColumnValues(column.type)});
   }
}

void ChunkReader::open(CopyChunk&& chunk, const std::string& subject) {
   close();
   subject_ = subject;
   chunk_ = std::move(chunk);
   memory_.grow(chunk_.memory.size());
   charged_ = chunk_.memory.size();
   splitter_.emplace(shape_.rows, subject, shape_.names, shape_.forceNotNull, shape_.forceNull);
   splitter_->open(chunk_);
}

void ChunkReader::close() {
   splitter_.reset();
   chunk_ = {};
   memory_.shrink(charged_);
   charged_ = 0;
   firstRow_ = nextRow_ = fields_.rows = 0;
}

bool ChunkReader::next(Batch& out, uint32_t rowsMax) {
   if (nextRow_ == fields_.rows) {
      if (!splitter_) return false;
      nextRow_ = 0;
      if (!splitter_->next(fields_)) {
         close();
         return false;
      }
   }
   firstRow_ = nextRow_;
   const uint32_t count = std::min(rowsMax, fields_.rows - nextRow_);
   arena_.reset();
   out.columns.clear();
   for (Parsed& column : columns_) {
      parse(column, count);
      out.columns.push_back(column.values.vector());
   }
   out.setDense(count);
   nextRow_ += count;
   return true;
}

void ChunkReader::parse(Parsed& column, uint32_t count) {
   const std::string_view* texts = fields_.column(column.column.field) + firstRow_;
   const SqlType& type = column.column.type;
   const bool isText = storedRepresentation(type).physical == PhysicalType::String;
   column.values.setAllValid(count);
   std::byte* out = column.values.at(0);
   for (uint32_t row = 0; row < count; ++row, out += column.values.size()) {
      const std::string_view text = texts[row];
      if (text.data() == nullptr) {
         column.values.setNull(row);
         continue;
      }
      try {
         if (isText && findInvalidUtf8(text) != text.size()) checkUtf8(text);
         if (column.parser && column.parser(out, text, type.typmod, arena_)) continue;
         if (column.labels)
            putEnum(out, type, text, *column.labels, shape_.format.types);
         else
            parseTextInto(out, type, text, shape_.format, arena_);
      } catch (const SqlError& error) {
         badField(error, column, row, text);
      }
   }
}

std::optional<std::string_view> ChunkReader::rowText(uint64_t line) const {
   const auto begin = fields_.lines.begin() + firstRow_, end = fields_.lines.begin() + nextRow_;
   const auto found = std::lower_bound(begin, end, line);
   if (found == end || *found != line) return std::nullopt;
   return fields_.texts[static_cast<size_t>(found - fields_.lines.begin())];
}

void ChunkReader::badField(const SqlError& error, const Parsed& column, uint32_t row, std::string_view text) const {
   SqlError withContext = error;
   std::string context = subject_ + ", line " + std::to_string(line(row));
   // Bytes that are no characters are not shown, and PostgreSQL meets them before it knows the field.
   if (error.state() != sqlstate::characterNotInRepertoire)
      context += ", column " + shape_.names[column.column.field] + ": \"" + shownInput(text) + "\"";
   withContext.addContext(context);
   throw withContext;
}

} // namespace ouzel::io
