#pragma once
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "io/format/csv/row_format.hpp"
#include "io/format/csv/row_splitter.hpp"

namespace ouzel::io {

/// Cuts the bytes of JSON input into chunks of whole rows, so that they can be parsed in parallel. A row is a line: a
/// line break cannot stand inside a string of JSON. The rows of an array are made lines: its brackets become blanks,
/// the commas between its elements line breaks, the line breaks inside elements blanks. Then `firstLine` counts
/// elements. A byte order mark at the beginning is dropped. Used by one thread.
///
///    [{"a": 1},          ->   {"a": 1}⏎
///     {"a": [2, 3]}]           {"a": [2, 3]}⏎
class JsonSplitter {
public:
   static constexpr size_t chunkSize = 1 << 20;

   explicit JsonSplitter(JsonLayout layout) : layout_(layout) {}

   /// Takes the next bytes of the stream and calls emit(CopyChunk&&) for each full chunk. Throws 22P02 for an array
   /// that is none, 54000 for a row of more than 1 GB.
   template <typename Emit>
   void feed(std::string_view piece, Emit&& emit) {
      while (!piece.empty()) {
         piece.remove_prefix(fill(piece));
         if (pending_.size() >= chunkSize) cutRows(emit);
      }
   }
   /// Emits the whole rows that were fed so far.
   template <typename Emit>
   void cutRows(Emit&& emit) {
      CopyChunk chunk;
      if (cut(chunk, false)) emit(std::move(chunk));
   }
   /// Ends the stream and emits the remaining rows. The last line need not end with a line break. Throws 22P02 for an
   /// array that does not end.
   template <typename Emit>
   void finish(Emit&& emit) {
      CopyChunk chunk;
      if (cut(chunk, true)) emit(std::move(chunk));
   }
   size_t pendingBytes() const { return pending_.size(); }
   /// Whether bytes from here on are ignored: never.
   bool ended() const { return false; }

private:
   /// Where an array's scan stands.
   enum class Place : uint8_t { BeforeArray, BeforeFirst, BeforeNext, InElement, InString, AfterEscape, Behind };

   size_t fill(std::string_view piece);
   bool cut(CopyChunk& chunk, bool last);
   bool findLayout(bool last);
   void scanLines();
   void scanArray();
   size_t scanString(size_t at);
   void structure(size_t at);
   void endRow(size_t at);
   [[noreturn]] void bad(const char* expected, size_t at) const;

   JsonLayout layout_; ///< Auto until the first byte that is no blank
   std::vector<char> pending_;
   size_t scanned_ = 0;    ///< bytes of pending_ that were scanned
   size_t rowEnd_ = 0;     ///< end of the last whole row in pending_
   uint64_t rows_ = 0;     ///< lines, or elements, in pending_[0, rowEnd_)
   uint64_t nextRow_ = 1;  ///< number of the first row in pending_
   bool hasBegun_ = false; ///< the place of a byte order mark is behind
   Place place_ = Place::BeforeArray;
   uint32_t depth_ = 0; ///< containers open inside the array's element
};

} // namespace ouzel::io
