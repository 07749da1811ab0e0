#include "io/format/json/json_rows.hpp"

#include <algorithm>
#include <cstring>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/json/json_input.hpp"
#include "common/text/utf8.hpp"
#include "common/type/enum_labels.hpp"
#include "io/format/json/json_literal.hpp"

namespace ouzel::io {

namespace {

constexpr uint32_t guessesMax = 4096; ///< places in a row beyond which keys are looked up

/// Stands for a value that already has its place.
constexpr char present[1] = "";

} // namespace

JsonRows::JsonRows(const ChunkReader::Shape& shape, Reservation& memory)
   : shape_(shape), memory_(memory), arena_(&memory_), columnOfField_(shape.names.size(), -1), lines_(batchRowsMax) {
   for (uint32_t i = 0; i < shape.names.size(); ++i)
      fieldsByKey_.emplace(shape.names[i], i);
   for (const ChunkReader::Column& column : shape.columns) {
      DCHECK(column.field < shape.names.size());
      const Oid type = column.type.oid;
      const Making making = type == oid::jsonb  ? Making::Jsonb
                            : type == oid::json ? Making::Json
                            : hasParts(type)    ? Making::Parts
                                                : Making::Text;
      columnOfField_[column.field] = static_cast<int32_t>(columns_.size());
      EnumLabelsPtr labels = isEnumType(column.type.oid) ? labelsOf(column.type.oid, shape.format.types) : nullptr;
      columns_.push_back({column, making, fieldParser(column.type), std::move(labels), ColumnValues(column.type), {}});
      columns_.back().fields.resize(batchRowsMax);
   }
}

void JsonRows::open(CopyChunk&& chunk, const std::string& subject) {
   close();
   subject_ = subject;
   chunk_ = std::move(chunk);
   memory_.grow(chunk_.memory.size());
   charged_ = chunk_.memory.size();
   isUtf8_ = columns_.empty() || findInvalidUtf8(chunk_.bytes()) == chunk_.size;
   rows_.emplace(chunk_);
}

void JsonRows::close() {
   rows_.reset();
   chunk_ = {};
   memory_.shrink(charged_);
   charged_ = 0;
   kept_ = nullptr;
}

bool JsonRows::next(Batch& out, uint32_t rowsMax) {
   throwKept();
   if (!rows_) return false;
   arena_.reset();
   uint32_t count = 0;
   {
      const json::JsonbWriter::Use use(writer_, &memory_);
      count = readRows(rowsMax);
   }
   for (Parsed& column : columns_)
      count = convert(column, count);
   if (count == 0) {
      throwKept();
      close();
      return false;
   }
   out.columns.clear();
   for (Parsed& column : columns_)
      out.columns.push_back(column.values.vector());
   out.setDense(count);
   return true;
}

/// Takes rows apart until there are enough, or one is bad. Returns how many.
uint32_t JsonRows::readRows(uint32_t rowsMax) {
   uint32_t row = 0;
   try {
      for (std::string_view text; row < rowsMax && rows_->next(text); ++row) {
         lines_[row] = rows_->line();
         if (!columns_.empty()) readRow(text, row);
      }
   } catch (const SqlError& error) {
      writer_.clear();
      keepError(error, row, {});
   }
   return row;
}

void JsonRows::readRow(std::string_view text, uint32_t row) {
   if (!isUtf8_) checkUtf8(text);
   if (shape_.rows.isDocument) return readDocument(text, row);
   for (Parsed& column : columns_)
      column.fields[row].text = nullptr;
   forEachMember(text,
                 [&](std::string_view key, uint32_t index, json::Lexer& lexer) { readMember(key, index, lexer, row); });
}

/// The row is the value of the only column.
void JsonRows::readDocument(std::string_view text, uint32_t row) {
   Parsed& column = columns_[0];
   if (column.making == Making::Jsonb) {
      json::writeParsed(writer_, text);
      const StringView value = json::finishInto(writer_, arena_);
      std::memcpy(column.values.at(row), &value, sizeof value);
   } else {
      json::checkJson(text);
   }
   column.fields[row] = {text.data(), static_cast<uint32_t>(text.size())};
}

/// The lexer is at the colon.
void JsonRows::readMember(std::string_view key, uint32_t index, json::Lexer& lexer, uint32_t row) {
   const std::string_view name = textOfString(key, decoded_);
   const std::optional<uint32_t> field = fieldOf(name, index);
   if (!field && shape_.rows.refusesOthers)
      throw SqlError(sqlstate::badCopyFileFormat, "JSON member \"" + std::string(name) + "\" is none of the columns");
   if (field && columnOfField_[*field] >= 0)
      return readValue(columns_[static_cast<size_t>(columnOfField_[*field])], lexer, row);
   lexer.next();
   json::skipValue(lexer);
}

/// Finds a field by its key. Rows mostly have the same keys in the same order.
std::optional<uint32_t> JsonRows::fieldOf(std::string_view key, uint32_t index) {
   if (index < guesses_.size() && shape_.names[guesses_[index]] == key) return guesses_[index];
   const auto found = fieldsByKey_.find(key);
   if (found == fieldsByKey_.end()) return std::nullopt;
   if (index < guessesMax) {
      if (guesses_.size() <= index) guesses_.resize(index + 1);
      guesses_[index] = found->second;
   }
   return found->second;
}

void JsonRows::readValue(Parsed& column, json::Lexer& lexer, uint32_t row) {
   Field& field = column.fields[row];
   lexer.setDecoding(column.making == Making::Jsonb);
   lexer.next();
   const json::Token token = lexer.token();
   const size_t start = lexer.start();
   const char* const begin = lexer.lexeme().data();
   if (column.making == Making::Jsonb && token != json::Token::Null) {
      json::writeParsed(writer_, lexer);
      const StringView value = json::finishInto(writer_, arena_);
      std::memcpy(column.values.at(row), &value, sizeof value);
      field = {present, 0};
      lexer.setDecoding(false);
      return;
   }
   json::skipValue(lexer);
   lexer.setDecoding(false);
   if (token == json::Token::Null) {
      field.text = nullptr;
      return;
   }
   std::string_view text(begin, lexer.previousEnd() - start);
   if (token == json::Token::String && column.making != Making::Json) {
      std::string_view decoded = textOfString(text, decoded_);
      if (decoded.data() == decoded_.data()) {
         char* kept = static_cast<char*>(arena_.allocate(decoded.size() + 1, 1));
         std::memcpy(kept, decoded.data(), decoded.size());
         decoded = {kept, decoded.size()};
      }
      text = decoded;
   }
   field = {text.data(), static_cast<uint32_t>(text.size()),
            token == json::Token::ArrayStart || token == json::Token::ObjectStart};
}

/// Makes values of the first `count` rows' fields. Returns how many are good: all before the first bad one.
uint32_t JsonRows::convert(Parsed& column, uint32_t count) {
   column.values.setAllValid(count);
   uint32_t row = 0;
   try {
      for (; row < count; ++row) {
         const Field& field = column.fields[row];
         if (field.text == nullptr)
            column.values.setNull(row);
         else if (column.making != Making::Jsonb)
            convertOne(column, field, column.values.at(row));
      }
   } catch (const SqlError& error) {
      const std::string_view text = column.fields[row].view();
      keepError(error, row,
                ", column " + shape_.names[column.column.field] + ": \"" + std::string(text.substr(0, 100)) +
                    (text.size() > 100 ? "...\"" : "\""));
   }
   return row;
}

void JsonRows::convertOne(Parsed& column, const Field& field, std::byte* out) {
   const SqlType& type = column.column.type;
   if (column.making == Making::Json) {
      const StringView text(field.view());
      std::memcpy(out, &text, sizeof text);
      return;
   }
   if (field.hasParts && column.making == Making::Parts) {
      decoded_.clear();
      appendLiteral(decoded_, type.oid, field.view(), shape_.format);
      return parseTextInto(out, type, decoded_, shape_.format, arena_);
   }
   if (column.parser && column.parser(out, field.view(), type.typmod, arena_)) return;
   if (column.labels) return putEnum(out, type, field.view(), *column.labels, shape_.format.types);
   parseTextInto(out, type, field.view(), shape_.format, arena_);
}

/// Keeps the error of a row; its context ends with `place`. An error of an earlier row takes the place of a later
/// one's.
void JsonRows::keepError(const SqlError& error, uint32_t row, const std::string& place) {
   SqlError withContext = error;
   if (!place.empty() && !shape_.hint.empty() && error.hintText().empty())
      withContext = SqlError(error).hint(shape_.hint);
   const std::string inner = error.contextText().empty() ? std::string() : error.contextText() + '\n';
   withContext.setContext(inner + subject_ + ", " + rowName(chunk_.countsElements, lines_[row]) + place);
   kept_ = std::make_exception_ptr(withContext);
}

void JsonRows::throwKept() {
   if (!kept_) return;
   const std::exception_ptr error = kept_;
   close();
   std::rethrow_exception(error);
}

} // namespace ouzel::io
