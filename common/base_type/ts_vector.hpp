#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base_type/type_form.hpp"

// The type tsvector: sorted words, each with the places where it stood in a text, and a weight for each place. Its
// bytes:
//
//   what                     size
//   bytes in PostgreSQL      4, so that vectors sort by it first, as tsvector_cmp() does
//   number of words          4
//   per word                 0 if it has positions, else 1; the word; a zero byte
//     with positions         2: their number, inverted; 2 each: position and weight, inverted
//   per word                 4: where its bytes begin
//
// Numbers are big-endian, so the order of the bytes is that of tsvector_cmp(): fewer positions follow more, later ones
// precede earlier ones. A word has no zero byte.

namespace ouzel {

namespace oid {
inline constexpr Oid tsvector = 3614, tsquery = 3615, regconfig = 3734, regdictionary = 3769;
} // namespace oid

inline constexpr uint32_t tsWordSizeMax = 2047;     ///< bytes of a word
inline constexpr uint32_t tsWordsSizeMax = 1048575; ///< bytes of all words with their positions
inline constexpr uint16_t tsPositionMax = 16383;    ///< later places count as this one
inline constexpr uint32_t tsPositionsMax = 256;     ///< of a word
inline constexpr uint32_t tsTextPositionsMax = 255; ///< of a word of a text that was parsed

/// A position with its weight: 0 for D to 3 for A.
struct TsPlace {
   uint16_t position = 0;
   uint8_t weight = 0;
   bool operator==(const TsPlace&) const = default;
};
/// As PostgreSQL's WordEntryPos.
constexpr uint16_t packedPlace(TsPlace place) {
   return static_cast<uint16_t>((place.weight << 14) | place.position);
}
constexpr TsPlace unpackedPlace(uint16_t packed) {
   return {static_cast<uint16_t>(packed & tsPositionMax), static_cast<uint8_t>(packed >> 14)};
}
/// The position that a number stands for.
constexpr uint16_t limitedPosition(int64_t position) {
   return static_cast<uint16_t>(position > tsPositionMax ? tsPositionMax : position);
}
/// 3 for 'A' to 0 for 'D', in either case; -1 for another letter.
constexpr int tsWeightOf(char letter) {
   const char upper = letter >= 'a' ? static_cast<char>(letter - 32) : letter;
   return upper >= 'A' && upper <= 'D' ? 'D' - upper : -1;
}

/// A vector read in place; the bytes outlive it.
class TsVectorView {
public:
   explicit TsVectorView(std::string_view bytes);

   /// A word and its places.
   class Word {
   public:
      std::string_view text() const { return text_; }
      uint32_t placeCount() const { return count_; }
      TsPlace place(uint32_t i) const {
         const auto bits = static_cast<uint16_t>(~number(i));
         return {static_cast<uint16_t>(bits >> 2), static_cast<uint8_t>(bits & 3)};
      }

   private:
      friend class TsVectorView;
      uint16_t number(uint32_t i) const {
         const auto* at = reinterpret_cast<const unsigned char*>(places_) + size_t{2} * i;
         return static_cast<uint16_t>(at[0] << 8 | at[1]);
      }
      std::string_view text_;
      const char* places_ = nullptr;
      uint32_t count_ = 0;
   };

   uint32_t size() const { return size_; }
   Word word(uint32_t i) const;
   /// The first word that does not precede the text.
   uint32_t lowerBound(std::string_view text) const;

private:
   const char* textAt(uint32_t i) const;
   std::string_view bytes_;
   uint32_t size_ = 0;
   const char* starts_ = nullptr;
};

/// Writes a vector word by word. May be used again, and keeps its memory.
class TsVectorWriter {
public:
   void clear();
   /// REQUIRES: the word follows those before it; the places are sorted, and there is one for each position.
   void add(std::string_view word, const std::vector<TsPlace>& places);
   /// The bytes, valid until clear(). Throws 54000 if the words are too long altogether.
   std::string_view finish();

private:
   std::string bytes_;
   std::vector<uint32_t> starts_;
   uint64_t size_ = 0; ///< bytes of words and positions in PostgreSQL
};

/// A vector made of words in any order. May be used again, and keeps its memory.
class TsVectorDraft {
public:
   void clear() { entries_.clear(); }
   bool isEmpty() const { return entries_.empty(); }
   /// The word stays readable until store().
   void add(std::string_view word) { entries_.push_back({word, {}, false}); }
   void add(std::string_view word, TsPlace place) { entries_.push_back({word, place, true}); }
   void add(const TsVectorView::Word& word);
   /// The vector of all words; equal ones become one, with the places of all, and the highest weight for each position.
   /// Valid until the next call.
   std::string_view store(uint32_t positionsMax = tsPositionsMax);

private:
   struct Entry {
      std::string_view word;
      TsPlace place;
      bool hasPlace;
   };
   std::vector<Entry> entries_;
   std::vector<TsPlace> places_; ///< of one word
   TsVectorWriter writer_;
};

/// Appends a word as tsvector and tsquery print it: in quotes, with quotes and backslashes doubled.
void appendTsWord(std::string& out, std::string_view word);

extern const TypeForm tsvectorForm;

} // namespace ouzel
