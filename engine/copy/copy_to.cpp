#include "engine/copy/copy_to.hpp"

#include <algorithm>

#include "common/text/ascii.hpp"

namespace ouzel::engine {

namespace {

void appendBigEndian(std::string& out, uint32_t value, int bytes) {
   for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8)
      out += static_cast<char>(value >> shift);
}

constexpr std::string_view binaryHeader("PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19);

} // namespace

void CopyWriter::begin(const std::vector<ResultColumn>& columns) {
   if (hasBegun_) return;
   hasBegun_ = true;
   columns_ = &columns;
   for (const ResultColumn& column : columns)
      forceQuote_.push_back(options_.forceQuoteAll || std::find(options_.forceQuote.begin(), options_.forceQuote.end(),
                                                                column.name) != options_.forceQuote.end());
   if (options_.format == CopyFormat::Binary) {
      unwritten_ = binaryHeader; // goes with the first row, as clients that take a message for a row expect
      return;
   }
   if (!options_.header) return;
   std::string line;
   for (size_t i = 0; i < columns.size(); ++i) {
      if (i) line += options_.delimiter;
      const uint8_t force = std::exchange(forceQuote_[i], uint8_t{0}); // a header is quoted only where it must be
      appendField(line, columns[i].name, false, i);
      forceQuote_[i] = force;
   }
   line += '\n';
   const uint32_t end = static_cast<uint32_t>(line.size());
   put(line, std::span(&end, 1));
}

void CopyWriter::put(std::string_view bytes, std::span<const uint32_t> ends) {
   write_(bytes, ends);
   progress_.bytes += bytes.size();
}

void CopyWriter::appendField(std::string& out, std::string_view text, bool isNull, size_t column) const {
   if (isNull) {
      out += options_.null;
      return;
   }
   if (options_.format == CopyFormat::Csv) {
      bool quote = forceQuote_[column] || text == options_.null || (columns_->size() == 1 && text == "\\.");
      for (const char c : text)
         quote = quote || c == options_.delimiter || c == options_.quote || c == '\n' || c == '\r';
      if (!quote) {
         out += text;
         return;
      }
      out += options_.quote;
      for (const char c : text) {
         if (c == options_.quote || c == options_.escape) out += options_.escape;
         out += c;
      }
      out += options_.quote;
      return;
   }
   for (const char c : text) {
      const char letter = c == '\v' ? 'v' : c == '\\' ? '\\' : controlLetter(c);
      if (letter) {
         out += '\\';
         out += letter;
         continue;
      }
      if (c == options_.delimiter) out += '\\';
      out += c;
   }
}

void CopyWriter::rows(const Batch& batch) {
   const uint32_t count = batch.liveRows();
   const size_t width = columns_->size();
   std::vector<std::string> bytes(width);
   std::vector<std::vector<uint32_t>> ends(width, std::vector<uint32_t>(count));
   const bool binary = options_.format == CopyFormat::Binary;
   for (size_t i = 0; i < width; ++i)
      encoder_.append(batch.columns[i], batch.selection, (*columns_)[i],
                      binary ? ValueFormat::Binary : ValueFormat::Text, bytes[i], ends[i].data());
   std::string out = std::exchange(unwritten_, {});
   std::vector<uint32_t> rowEnds(count);
   for (uint32_t row = 0; row < count; ++row) {
      if (binary) appendBigEndian(out, static_cast<uint32_t>(width), 2);
      for (size_t i = 0; i < width; ++i) {
         const uint32_t begin = row ? ends[i][row - 1] : 0;
         const std::string_view value(bytes[i].data() + begin, ends[i][row] - begin);
         const bool isNull = batch.columns[i].isNull(batch.selection.row(row));
         if (binary) {
            appendBigEndian(out, isNull ? UINT32_MAX : static_cast<uint32_t>(value.size()), 4);
            if (!isNull) out += value;
         } else {
            if (i) out += options_.delimiter;
            appendField(out, value, isNull, i);
         }
      }
      if (!binary) out += '\n';
      rowEnds[row] = static_cast<uint32_t>(out.size());
   }
   put(out, rowEnds);
   progress_.tuples += count;
}

void CopyWriter::finish() {
   if (options_.format != CopyFormat::Binary) return;
   unwritten_ += "\377\377";
   const auto end = static_cast<uint32_t>(unwritten_.size());
   put(unwritten_, std::span(&end, 1));
}

} // namespace ouzel::engine
