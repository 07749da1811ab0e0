#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "io/format/csv/row_format.hpp"

namespace ouzel::io {

/// Whole rows of COPY input: the unit that a worker parses. The memory behind `bytes` is readable for 64 bytes past its
/// end.
struct CopyChunk {
   std::vector<char> memory;
   size_t size = 0;
   uint64_t firstLine = 1; ///< number of the first row's line, from 1
   bool isLast = false;
   bool windowsLines = false;   ///< lines end with \r\n
   bool countsElements = false; ///< `firstLine` counts the elements of a JSON array

   std::string_view bytes() const { return {memory.data(), size}; }
   /// The character that counts a line within quotes, once it is known how lines end. The first row shows that.
   char lineBreak() const { return windowsLines ? '\r' : '\n'; }
   static constexpr char noLineBreak = '\0';
};

/// Cuts the byte stream of a text or csv COPY into chunks that end at row ends, so that they can be parsed in parallel.
/// In csv a line break inside quotes does not end a row; in text one after a backslash does not. Used by one thread.
class RowSplitter {
public:
   static constexpr size_t chunkSize = 1 << 20;

   explicit RowSplitter(const RowFormat& options) : options_(options) {}

   /// Takes the next bytes of the stream and calls emit(CopyChunk&&) for each full chunk. Throws 54000 for a row of
   /// more than 1 GB.
   template <typename Emit>
   void feed(std::string_view piece, Emit&& emit) {
      while (!piece.empty() && !ended_) {
         piece.remove_prefix(fill(piece));
         if (pending_.size() >= chunkSize) {
            CopyChunk chunk;
            if (cut(chunk, false)) emit(std::move(chunk));
         }
      }
   }
   /// Ends the stream and calls emit(CopyChunk&&) for the remaining rows. The last row need not end with a line break.
   /// Throws 22P04 for a csv row that ends inside quotes.
   template <typename Emit>
   void finish(Emit&& emit) {
      CopyChunk chunk;
      if (cut(chunk, true)) emit(std::move(chunk));
   }
   size_t pendingBytes() const { return pending_.size(); }
   /// The row that has begun and not ended, and the number of its last line.
   std::string_view openRow() const { return std::string_view(pending_.data(), pending_.size()).substr(rowEnd_); }
   uint64_t openLine() const { return nextLine_ + lines_ + linesOpen_; }
   /// Whether the end-of-data marker "\." has been seen. Bytes behind it are ignored.
   bool ended() const { return ended_; }

private:
   size_t fill(std::string_view piece);
   bool cut(CopyChunk& chunk, bool last);
   void scan();

   const RowFormat& options_;
   std::vector<char> pending_;
   size_t scanned_ = 0;     // bytes of pending_ that were scanned
   size_t rowEnd_ = 0;      // end of the last whole row in pending_
   uint64_t lines_ = 0;     // line breaks in pending_[0, rowEnd_)
   uint64_t linesOpen_ = 0; // line breaks within quotes after rowEnd_
   uint64_t nextLine_ = 1;
   bool inQuotes_ = false, escaped_ = false, ended_ = false;
   int windowsLines_ = -1; // unknown until the first line break
};

} // namespace ouzel::io
