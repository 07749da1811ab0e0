#include "io/format/json/json_splitter.hpp"

#include <algorithm>
#include <cstring>
#include <immintrin.h>
#include <string>

#include "common/error/sql_error.hpp"
#include "common/value/string_view.hpp"

namespace ouzel::io {

namespace {

constexpr std::string_view byteOrderMark = "\xEF\xBB\xBF";

bool isBlank(char c) {
   return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

uint64_t countLines(const char* p, const char* end) {
   uint64_t lines = 0;
   const __m256i lineFeed = _mm256_set1_epi8('\n');
   for (; end - p >= 32; p += 32) {
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
      lines += static_cast<uint64_t>(
          __builtin_popcount(static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, lineFeed)))));
   }
   for (; p < end; ++p)
      lines += *p == '\n';
   return lines;
}

SqlError invalidJson(std::string detail) {
   return SqlError(sqlstate::invalidTextRepresentation, "invalid input syntax for type json").detail(std::move(detail));
}

} // namespace

size_t JsonSplitter::fill(std::string_view piece) {
   const size_t room = pending_.size() < chunkSize ? chunkSize - pending_.size() : chunkSize;
   const size_t taken = std::min(piece.size(), room);
   pending_.insert(pending_.end(), piece.begin(), piece.begin() + static_cast<ptrdiff_t>(taken));
   return taken;
}

/// Decides the layout as soon as it can be seen; false: not yet.
bool JsonSplitter::findLayout(bool last) {
   if (!hasBegun_) {
      if (!last && pending_.size() < byteOrderMark.size()) return false;
      if (std::string_view(pending_.data(), pending_.size()).starts_with(byteOrderMark))
         pending_.erase(pending_.begin(), pending_.begin() + byteOrderMark.size());
      hasBegun_ = true;
   }
   if (layout_ != JsonLayout::Auto) return true;
   const auto first = std::find_if_not(pending_.begin(), pending_.end(), isBlank);
   if (first == pending_.end() && !last) return false;
   layout_ = first != pending_.end() && *first == '[' ? JsonLayout::Array : JsonLayout::Lines;
   return true;
}

void JsonSplitter::scanLines() {
   const char* data = pending_.data();
   if (const void* found = ::memrchr(data + scanned_, '\n', pending_.size() - scanned_)) {
      const size_t end = static_cast<size_t>(static_cast<const char*>(found) - data) + 1;
      rows_ += countLines(data + scanned_, data + end);
      rowEnd_ = end;
   }
   scanned_ = pending_.size();
}

/// Makes lines of the array's elements, as far as there are bytes.
void JsonSplitter::scanArray() {
   size_t at = scanned_;
   while (at < pending_.size()) {
      if (place_ == Place::InString) {
         at = scanString(at);
         continue;
      }
      char& c = pending_[at];
      if (place_ == Place::AfterEscape)
         place_ = Place::InString;
      else if (c == '"' && (place_ == Place::BeforeFirst || place_ == Place::BeforeNext || place_ == Place::InElement))
         place_ = Place::InString;
      else if (isBlank(c))
         c = ' ';
      else
         structure(at);
      ++at;
   }
   scanned_ = at;
}

/// Passes over the characters of a string. Returns where the scan goes on.
size_t JsonSplitter::scanString(size_t at) {
   for (; at < pending_.size(); ++at) {
      const char c = pending_[at];
      if (c == '\n') throw invalidJson("Character with value 0x0a must be escaped.");
      if (c == '\\') {
         place_ = Place::AfterEscape;
         return at + 1;
      }
      if (c == '"') {
         place_ = Place::InElement;
         return at + 1;
      }
   }
   return at;
}

/// A character outside strings that is no blank. Elements themselves are checked when they are parsed; here brackets of
/// either kind count alike.
void JsonSplitter::structure(size_t at) {
   char& c = pending_[at];
   const bool isEnd = c == ']' && depth_ == 0, isComma = c == ',' && depth_ == 0;
   switch (place_) {
   case Place::BeforeArray:
      if (c != '[') bad("\"[\"", at);
      c = ' ';
      place_ = Place::BeforeFirst;
      return;
   case Place::Behind: bad("end of input", at);
   case Place::BeforeFirst:
      if (isEnd) {
         c = ' ';
         place_ = Place::Behind;
         return;
      }
      [[fallthrough]];
   case Place::BeforeNext:
      if (isEnd || isComma || c == '}') bad("JSON value", at);
      place_ = Place::InElement;
      break;
   default:
      if (isEnd || isComma) {
         c = '\n';
         endRow(at + 1);
         place_ = isEnd ? Place::Behind : Place::BeforeNext;
         return;
      }
   }
   if (c == '[' || c == '{') {
      ++depth_;
   } else if (c == ']' || c == '}') {
      if (depth_ == 0) bad("\",\" or \"]\"", at);
      --depth_;
   }
}

void JsonSplitter::endRow(size_t at) {
   rowEnd_ = at;
   ++rows_;
}

void JsonSplitter::bad(const char* expected, size_t at) const {
   throw invalidJson(std::string("Expected ") + expected + ", but found \"" + pending_[at] + "\".");
}

bool JsonSplitter::cut(CopyChunk& chunk, bool last) {
   if (!findLayout(last)) return false;
   if (layout_ == JsonLayout::Array)
      scanArray();
   else
      scanLines();
   size_t end = rowEnd_;
   if (pending_.size() - end > StringView::lengthMax)
      throw SqlError(sqlstate::programLimitExceeded, "a row of JSON input is longer than 1 GB");
   if (last && layout_ == JsonLayout::Lines) end = pending_.size();
   if (last && layout_ == JsonLayout::Array && place_ != Place::Behind && place_ != Place::BeforeArray)
      throw invalidJson("The input string ended unexpectedly.");
   if (end == 0) return false;
   // The chunk takes the memory, so that only the beginning of the next row is copied.
   std::vector<char> left;
   left.reserve(chunkSize + 64);
   left.assign(pending_.begin() + static_cast<ptrdiff_t>(end), pending_.end());
   chunk.memory = std::exchange(pending_, std::move(left));
   chunk.memory.resize(end);
   chunk.memory.resize(end + 64);
   chunk.size = end;
   chunk.firstLine = nextRow_;
   chunk.isLast = last;
   chunk.countsElements = layout_ == JsonLayout::Array;
   nextRow_ += std::exchange(rows_, 0);
   scanned_ = pending_.size();
   rowEnd_ = 0;
   return true;
}

} // namespace ouzel::io
