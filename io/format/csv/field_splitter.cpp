#include "io/format/csv/field_splitter.hpp"

#include <algorithm>
#include <cstring>
#include <immintrin.h>

#include "common/error/sql_error.hpp"
#include "common/text/ascii.hpp"

namespace ouzel::io {

namespace {

/// Position of the first of four characters at or after `p`. Compares 32 bytes at a time, so `p` must be readable 32
/// bytes past `end`.
inline const char* findAny(const char* p, const char* end, __m256i a, __m256i b, __m256i c, __m256i d) {
   while (p < end) {
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
      const __m256i hit = _mm256_or_si256(_mm256_or_si256(_mm256_cmpeq_epi8(bytes, a), _mm256_cmpeq_epi8(bytes, b)),
                                          _mm256_or_si256(_mm256_cmpeq_epi8(bytes, c), _mm256_cmpeq_epi8(bytes, d)));
      const uint32_t mask = static_cast<uint32_t>(_mm256_movemask_epi8(hit));
      if (mask) {
         const char* found = p + __builtin_ctz(mask);
         return found < end ? found : end;
      }
      p += 32;
   }
   return end;
}

constexpr char emptyField[1] = "";

/// Behind the row's line break, or the end of the input.
const char* endOfRow(const RowFormat& options, const char* p, const char* end) {
   bool isQuoted = false;
   for (; p < end; ++p) {
      if (options.format != CopyFormat::Csv) {
         if (*p == '\\' && p + 1 < end)
            ++p;
         else if (*p == '\n')
            return p + 1;
      } else if (isQuoted && *p == options.escape && options.escape != options.quote && p + 1 < end) {
         ++p;
      } else if (*p == options.quote) {
         isQuoted = !isQuoted;
      } else if (*p == '\n' && !isQuoted) {
         return p + 1;
      }
   }
   return end;
}

} // namespace

std::string shownInput(std::string_view text) {
   constexpr size_t shownMax = 100;
   if (text.size() <= shownMax) return std::string(text);
   size_t end = shownMax;
   while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
      --end; // not within a character
   return std::string(text.substr(0, end)) + "...";
}

size_t fieldCount(const RowFormat& options, std::string_view row) {
   const bool csv = options.format == CopyFormat::Csv;
   bool isQuoted = false;
   size_t count = 1;
   for (size_t i = 0; i < row.size(); ++i) {
      if (csv ? isQuoted && options.escape != options.quote && row[i] == options.escape : row[i] == '\\')
         ++i;
      else if (csv && row[i] == options.quote)
         isQuoted = !isQuoted;
      else
         count += row[i] == options.delimiter && !isQuoted;
   }
   return count;
}

FieldSplitter::FieldSplitter(const RowFormat& options, std::string subject, std::vector<std::string> names,
                             std::vector<uint8_t> forceNotNull, std::vector<uint8_t> forceNull)
   : options_(options), subject_(std::move(subject)), names_(std::move(names)), forceNotNull_(std::move(forceNotNull)),
     forceNull_(std::move(forceNull)) {}

void FieldSplitter::open(const CopyChunk& chunk) {
   chunk_ = &chunk;
   cursor_ = chunk.bytes().data();
   end_ = cursor_ + chunk.size;
   line_ = chunk.firstLine;
   lineBreak_ = line_ == 1 ? CopyChunk::noLineBreak : chunk.lineBreak();
}

bool FieldSplitter::next(FieldTable& table) {
   arena_.reset();
   table.rows = 0;
   const bool csv = options_.format == CopyFormat::Csv;
   while (table.rows < batchRowsMax && cursor_ < end_) {
      rowBegin_ = cursor_;
      rowLine_ = line_;
      if (csv)
         splitCsvRow(table, table.rows);
      else
         splitTextRow(table, table.rows);
      table.lines[table.rows] = line_++;
      table.texts[table.rows] = rowText(cursor_);
      lineBreak_ = chunk_->lineBreak();
      ++table.rows;
   }
   return table.rows > 0;
}

/// The row up to the line break at or before `end`.
std::string_view FieldSplitter::rowText(const char* end) const {
   std::string_view text(rowBegin_, static_cast<size_t>(end - rowBegin_));
   if (text.ends_with('\n')) text.remove_suffix(1);
   if (chunk_->windowsLines && text.ends_with('\r')) text.remove_suffix(1);
   return text;
}

/// Those within quotes count too, which PostgreSQL knows from the second row on.
uint64_t FieldSplitter::breaksUpTo(const char* end) const {
   if (options_.format != CopyFormat::Csv) return 0;
   const std::string_view text = rowText(end);
   return static_cast<uint64_t>(std::count(text.begin(), text.end(), lineBreak_));
}

void FieldSplitter::badRow(const std::string& message) {
   const char* const end = endOfRow(options_, rowBegin_, end_);
   throw SqlError(sqlstate::badCopyFileFormat, message)
       .context(subject_ + ", line " + std::to_string(rowLine_ + breaksUpTo(end)) + ": \"" + shownInput(rowText(end)) +
                "\"");
}

void FieldSplitter::badLineBreak(bool isCarriage) const {
   const bool csv = options_.format == CopyFormat::Csv;
   const std::string name = isCarriage ? "carriage return" : "newline";
   throw SqlError(sqlstate::badCopyFileFormat, (csv ? "unquoted " : "literal ") + name + " found in data")
       .hint(csv ? "Use quoted CSV field to represent " + name + "."
                 : std::string("Use \"") + (isCarriage ? "\\r" : "\\n") + "\" to represent " + name + ".")
       .context(subject_ + ", line " + std::to_string(line_));
}

/// Store one field whose raw bytes are [begin, end); `special` says that it holds quotes (csv) or backslashes (text).
void FieldSplitter::store(FieldTable& table, uint32_t row, uint32_t column, const char* begin, const char* end,
                          bool special) {
   if (names_.empty() && column == 0 && begin == end && !special) return; // an empty line is a row without columns
   if (column >= names_.size()) badRow("extra data after last expected column");
   std::string_view field(begin, static_cast<size_t>(end - begin));
   const bool csv = options_.format == CopyFormat::Csv;
   std::string_view& out = table.fields[size_t{column} * batchRowsMax + row];
   if (!special || !csv) {
      if (field == options_.null && !(csv && forceNotNull_[column])) {
         out = {};
         return;
      }
   }
   if (special) {
      field = csv ? unquote(begin, end) : unescape(begin, end);
      if (csv && forceNull_[column] && field == options_.null) {
         out = {};
         return;
      }
   }
   out = field.data() && !field.empty() ? field : std::string_view(emptyField);
}

bool FieldSplitter::splitCsvRow(FieldTable& table, uint32_t row) {
   const __m256i delimiter = _mm256_set1_epi8(options_.delimiter), quote = _mm256_set1_epi8(options_.quote),
                 newline = _mm256_set1_epi8('\n'), carriage = _mm256_set1_epi8('\r');
   uint32_t column = 0;
   const char* begin = cursor_;
   const char* p = cursor_;
   bool quoted = false;
   while (true) {
      p = findAny(p, end_, delimiter, quote, newline, carriage);
      if (p < end_ && *p == options_.quote) {
         quoted = true;
         // Skips to the closing quote. RowSplitter has made sure that there is one, except after a stray escape.
         for (++p; p < end_; ++p) {
            if (*p == options_.escape && p + 1 < end_ && (p[1] == options_.quote || p[1] == options_.escape)) {
               ++p;
            } else if (*p == options_.quote) {
               break;
            } else if (*p == lineBreak_) {
               ++line_;
            }
         }
         if (p >= end_) badRow("unterminated CSV quoted field");
         ++p;
         continue;
      }
      if (p < end_ && *p == '\r') {
         if (!(chunk_->windowsLines && p + 1 < end_ && p[1] == '\n') && p + 1 < end_) badLineBreak(true);
         store(table, row, column++, begin, p, quoted);
         p += p + 1 < end_ ? 2 : 1;
         break;
      }
      const bool rowEnds = p >= end_ || *p == '\n';
      if (rowEnds && p < end_ && chunk_->windowsLines && !options_.mixesLineBreaks) badLineBreak(false);
      store(table, row, column++, begin, p, quoted);
      if (rowEnds) {
         if (p < end_) ++p;
         break;
      }
      begin = ++p;
      quoted = false;
   }
   if (column < names_.size()) badRow("missing data for column \"" + names_[column] + "\"");
   cursor_ = p;
   return true;
}

bool FieldSplitter::splitTextRow(FieldTable& table, uint32_t row) {
   const __m256i delimiter = _mm256_set1_epi8(options_.delimiter), backslash = _mm256_set1_epi8('\\'),
                 newline = _mm256_set1_epi8('\n'), carriage = _mm256_set1_epi8('\r');
   uint32_t column = 0;
   const char* begin = cursor_;
   const char* p = cursor_;
   bool escaped = false;
   while (true) {
      p = findAny(p, end_, delimiter, backslash, newline, carriage);
      if (p < end_ && *p == '\\') {
         escaped = true;
         p += p + 1 < end_ ? 2 : 1;
         continue;
      }
      if (p < end_ && *p == '\r') {
         if (!(chunk_->windowsLines && p + 1 < end_ && p[1] == '\n') && p + 1 < end_) badLineBreak(true);
         store(table, row, column++, begin, p, escaped);
         p += p + 1 < end_ ? 2 : 1;
         break;
      }
      const bool rowEnds = p >= end_ || *p == '\n';
      if (rowEnds && p < end_ && chunk_->windowsLines) badLineBreak(false);
      store(table, row, column++, begin, p, escaped);
      if (rowEnds) {
         if (p < end_) ++p;
         break;
      }
      begin = ++p;
      escaped = false;
   }
   if (column < names_.size()) badRow("missing data for column \"" + names_[column] + "\"");
   cursor_ = p;
   return true;
}

/// Quotes may open and close anywhere in a field. Text between quotes is literal except for escapes.
std::string_view FieldSplitter::unquote(const char* begin, const char* end) {
   char* const out = arena_.allocateArray<char>(static_cast<size_t>(end - begin) + 1);
   char* o = out;
   bool inside = false;
   for (const char* p = begin; p < end; ++p) {
      if (inside && *p == options_.escape && p + 1 < end && (p[1] == options_.quote || p[1] == options_.escape)) {
         *o++ = *++p;
      } else if (*p == options_.quote) {
         inside = !inside;
      } else {
         *o++ = *p;
      }
   }
   return {out, static_cast<size_t>(o - out)};
}

/// PostgreSQL's text format: \b \f \n \r \t \v, \ooo, \xhh; a backslash before anything else stands for that character.
std::string_view FieldSplitter::unescape(const char* begin, const char* end) {
   char* const out = arena_.allocateArray<char>(static_cast<size_t>(end - begin) + 1);
   char* o = out;
   for (const char* p = begin; p < end; ++p) {
      if (*p != '\\' || p + 1 >= end) {
         *o++ = *p;
         continue;
      }
      const char c = *++p;
      switch (c) {
      case 'b': *o++ = '\b'; break;
      case 'f': *o++ = '\f'; break;
      case 'n': *o++ = '\n'; break;
      case 'r': *o++ = '\r'; break;
      case 't': *o++ = '\t'; break;
      case 'v': *o++ = '\v'; break;
      case 'x': {
         if (p + 1 >= end || hexDigit(p[1]) < 0) {
            *o++ = 'x';
            break;
         }
         int value = hexDigit(*++p);
         if (p + 1 < end && hexDigit(p[1]) >= 0) value = value * 16 + hexDigit(*++p);
         *o++ = static_cast<char>(value);
         break;
      }
      default:
         if (c >= '0' && c <= '7') {
            int value = c - '0';
            for (int digits = 1; digits < 3 && p + 1 < end && p[1] >= '0' && p[1] <= '7'; ++digits)
               value = value * 8 + (*++p - '0');
            *o++ = static_cast<char>(value);
         } else {
            *o++ = c;
         }
      }
   }
   return {out, static_cast<size_t>(o - out)};
}

} // namespace ouzel::io
