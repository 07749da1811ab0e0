#include "io/format/csv/row_splitter.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/error/sql_error.hpp"
#include "common/value/string_view.hpp"

namespace ouzel::io {

size_t RowSplitter::fill(std::string_view piece) {
   const size_t room = pending_.size() < chunkSize ? chunkSize - pending_.size() : chunkSize;
   const size_t taken = std::min(piece.size(), room);
   pending_.insert(pending_.end(), piece.begin(), piece.begin() + static_cast<ptrdiff_t>(taken));
   return taken;
}

/// Finds row ends in the bytes that were not scanned yet. Only line breaks, quotes and escapes matter.
void RowSplitter::scan() {
   const char* data = pending_.data();
   const size_t size = pending_.size();
   size_t i = scanned_;
   const auto newline = [&](size_t at) {
      if (windowsLines_ < 0) windowsLines_ = at > 0 && data[at - 1] == '\r';
      const size_t lineEnd = at - (windowsLines_ == 1 && at > rowEnd_ && data[at - 1] == '\r' ? 1 : 0);
      if (lineEnd - rowEnd_ == 2 && data[rowEnd_] == '\\' && data[rowEnd_ + 1] == '.') {
         ended_ = true;
         return;
      }
      rowEnd_ = at + 1;
      lines_ += linesOpen_ + 1;
      linesOpen_ = 0;
   };
   if (options_.format == CopyFormat::Csv) {
      const bool quoteIsEscape = options_.quote == options_.escape;
      const auto counts = [&](char c) { return windowsLines_ >= 0 && c == (windowsLines_ == 1 ? '\r' : '\n'); };
      for (; i < size && !ended_; ++i) {
         const char c = data[i];
         if (escaped_) {
            escaped_ = false;
            linesOpen_ += counts(c);
         } else if (c == options_.quote) {
            inQuotes_ = !inQuotes_; // a doubled quote toggles twice
         } else if (inQuotes_ && !quoteIsEscape && c == options_.escape) {
            escaped_ = true;
         } else if (inQuotes_) {
            linesOpen_ += counts(c);
         } else if (c == '\n') {
            newline(i);
         }
      }
   } else {
      while (i < size && !ended_) {
         const char* found = static_cast<const char*>(std::memchr(data + i, '\n', size - i));
         if (!found) {
            i = size;
            break;
         }
         i = static_cast<size_t>(found - data);
         size_t backslashes = 0;
         while (i - backslashes > rowEnd_ && data[i - backslashes - 1] == '\\')
            ++backslashes;
         if (backslashes % 2 == 0) newline(i);
         ++i;
      }
   }
   scanned_ = i;
}

bool RowSplitter::cut(CopyChunk& chunk, bool last) {
   scan();
   size_t end = rowEnd_;
   if (const size_t open = pending_.size() - end; open > StringView::lengthMax)
      throw SqlError(sqlstate::programLimitExceeded, "out of memory")
          .detail("Cannot enlarge string buffer containing " + std::to_string(open) + " bytes by " +
                  std::to_string(chunkSize) + " more bytes.");
   if (last && !ended_ && end < pending_.size()) {
      if (inQuotes_) throw SqlError(sqlstate::badCopyFileFormat, "unterminated CSV quoted field");
      const std::string_view rest(pending_.data() + end, pending_.size() - end);
      if (rest != "\\." && rest != "\\.\r") end = pending_.size();
   }
   if (end == 0) return false;
   // The chunk takes the memory, so that only the beginning of the next row is copied.
   std::vector<char> left;
   left.reserve(chunkSize + 64);
   left.assign(pending_.begin() + static_cast<ptrdiff_t>(end), pending_.end());
   chunk.memory = std::exchange(pending_, std::move(left));
   chunk.memory.resize(end);
   chunk.memory.resize(end + 64); // zeros behind the rows
   chunk.size = end;
   chunk.firstLine = nextLine_;
   chunk.isLast = last;
   chunk.windowsLines = windowsLines_ == 1;
   nextLine_ += lines_;
   lines_ = 0;
   scanned_ = pending_.size();
   rowEnd_ = 0;
   return true;
}

} // namespace ouzel::io
