#include "common/base_type/ts_vector.hpp"

#include <algorithm>

#include "common/base_type/ts_word_reader.hpp"
#include "common/base_type/wire.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/utf8.hpp"

namespace ouzel {

namespace {

constexpr size_t headerSize = 8;

uint32_t bigAt(const char* at) {
   uint32_t number;
   std::memcpy(&number, at, sizeof number);
   return swapBytes(number);
}
void putBig(char* at, uint32_t number) {
   number = swapBytes(number);
   std::memcpy(at, &number, sizeof number);
}

} // namespace

TsVectorView::TsVectorView(std::string_view bytes) : bytes_(bytes) {
   CHECK(bytes.size() >= headerSize);
   size_ = bigAt(bytes.data() + 4);
   CHECK(bytes.size() >= headerSize + size_t{4} * size_);
   starts_ = bytes.data() + bytes.size() - size_t{4} * size_;
}

const char* TsVectorView::textAt(uint32_t i) const {
   DCHECK(i < size_);
   return bytes_.data() + bigAt(starts_ + size_t{4} * i);
}

TsVectorView::Word TsVectorView::word(uint32_t i) const {
   const char* at = textAt(i);
   Word word;
   const bool hasPlaces = *at++ == 0;
   word.text_ = {at, std::strlen(at)};
   if (!hasPlaces) return word;
   at += word.text_.size() + 1;
   word.places_ = at;
   word.count_ = static_cast<uint16_t>(~word.number(0));
   word.places_ += 2;
   return word;
}

uint32_t TsVectorView::lowerBound(std::string_view text) const {
   uint32_t low = 0, high = size_;
   while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (std::string_view(textAt(middle) + 1) < text)
         low = middle + 1;
      else
         high = middle;
   }
   return low;
}

void TsVectorWriter::clear() {
   bytes_.assign(headerSize, '\0');
   starts_.clear();
   size_ = 0;
}

void TsVectorWriter::add(std::string_view word, const std::vector<TsPlace>& places) {
   if (bytes_.empty()) clear();
   starts_.push_back(static_cast<uint32_t>(bytes_.size()));
   bytes_ += places.empty() ? '\1' : '\0';
   bytes_ += word;
   bytes_ += '\0';
   size_ += word.size();
   if (places.empty()) return;
   appendBig(bytes_, static_cast<uint16_t>(~places.size()));
   for (const TsPlace place : places)
      appendBig(bytes_, static_cast<uint16_t>(~((place.position << 2) | place.weight)));
   size_ += (size_ & 1) + 2 + 2 * places.size(); // positions are aligned
}

std::string_view TsVectorWriter::finish() {
   if (bytes_.empty()) clear();
   if (size_ > tsWordsSizeMax)
      throw SqlError(sqlstate::programLimitExceeded, "string is too long for tsvector (" + std::to_string(size_) +
                                                         " bytes, max " + std::to_string(tsWordsSizeMax) + " bytes)");
   putBig(bytes_.data(), static_cast<uint32_t>(headerSize + 4 * starts_.size() + size_));
   putBig(bytes_.data() + 4, static_cast<uint32_t>(starts_.size()));
   for (const uint32_t start : starts_)
      appendBig(bytes_, start);
   return bytes_;
}

void TsVectorDraft::add(const TsVectorView::Word& word) {
   if (word.placeCount() == 0) return add(word.text());
   for (uint32_t i = 0; i < word.placeCount(); ++i)
      add(word.text(), word.place(i));
}

std::string_view TsVectorDraft::store(uint32_t positionsMax) {
   const auto precedes = [](const Entry& a, const Entry& b) {
      if (const int order = a.word.compare(b.word)) return order < 0;
      return a.place.position < b.place.position;
   };
   std::sort(entries_.begin(), entries_.end(), precedes);
   writer_.clear();
   for (size_t i = 0; i < entries_.size();) {
      const std::string_view word = entries_[i].word;
      places_.clear();
      for (; i < entries_.size() && entries_[i].word == word; ++i) {
         const TsPlace place = entries_[i].place;
         if (!entries_[i].hasPlace) continue;
         if (!places_.empty() && places_.back().position == tsPositionMax) continue; // it stands for all that follow
         if (!places_.empty() && places_.back().position == place.position)
            places_.back().weight = std::max(places_.back().weight, place.weight);
         else if (places_.size() < positionsMax)
            places_.push_back(place);
      }
      writer_.add(word, places_);
   }
   return writer_.finish();
}

void appendTsWord(std::string& out, std::string_view word) {
   out += '\'';
   for (const char c : word) {
      if (c == '\'' || c == '\\') out += c;
      out += c;
   }
   out += '\'';
}

namespace {

void appendText(std::string& out, const void* value) {
   const auto bytes = valueAt<StringView>(value);
   const TsVectorView vector(bytes.view());
   for (uint32_t i = 0; i < vector.size(); ++i) {
      if (i > 0) out += ' ';
      const TsVectorView::Word word = vector.word(i);
      appendTsWord(out, word.text());
      for (uint32_t j = 0; j < word.placeCount(); ++j) {
         const TsPlace place = word.place(j);
         out += j == 0 ? ':' : ',';
         out += std::to_string(place.position);
         if (place.weight > 0) out += static_cast<char>('D' - place.weight);
      }
   }
}

void parseText(void* target, std::string_view text, int32_t, Arena& arena) {
   TsWordReader reader(text, TsWordReader::Syntax::Vector);
   TsVectorDraft draft;
   std::string words; // never longer than the text: words stay where they are
   words.reserve(text.size());
   std::vector<TsPlace> places;
   while (reader.next(places)) {
      const std::string& word = reader.word();
      if (word.size() > tsWordSizeMax)
         throw SqlError(sqlstate::programLimitExceeded, "word is too long (" + std::to_string(word.size()) +
                                                            " bytes, max " + std::to_string(tsWordSizeMax) + " bytes)");
      if (words.size() > tsWordsSizeMax)
         throw SqlError(sqlstate::programLimitExceeded, "string is too long for tsvector (" +
                                                            std::to_string(words.size()) + " bytes, max " +
                                                            std::to_string(tsWordsSizeMax) + " bytes)");
      const std::string_view kept{words.data() + words.size(), word.size()};
      words += word;
      if (places.empty()) draft.add(kept);
      for (const TsPlace place : places)
         draft.add(kept, place);
   }
   putValue(target, arena.copyString(draft.store()));
}

void appendBinary(std::string& out, const void* value) {
   const auto bytes = valueAt<StringView>(value);
   const TsVectorView vector(bytes.view());
   appendBig(out, vector.size());
   for (uint32_t i = 0; i < vector.size(); ++i) {
      const TsVectorView::Word word = vector.word(i);
      out += word.text();
      out += '\0';
      appendBig(out, static_cast<uint16_t>(word.placeCount()));
      for (uint32_t j = 0; j < word.placeCount(); ++j)
         appendBig(out, packedPlace(word.place(j)));
   }
}

[[noreturn]] void throwReceived(const char* what) {
   throw SqlError(sqlstate::internalError, std::string("invalid tsvector: ") + what);
}

/// The word at the front of a message, which a zero byte ends.
std::string_view takeWord(WireReader& reader, std::string_view rest) {
   const size_t end = rest.find('\0');
   if (end == std::string_view::npos) throwTooShort();
   const std::string_view word = reader.takeBytes(end);
   reader.takeBytes(1);
   checkUtf8(word);
   return word;
}

void parseBinary(void* target, std::string_view bytes, int32_t, Arena& arena) {
   WireReader reader(bytes);
   const auto count = reader.take<int32_t>();
   if (count < 0 || count > 0x3FFFFFFF / 4) throw SqlError(sqlstate::internalError, "invalid size of tsvector");
   TsVectorDraft draft;
   for (int32_t i = 0; i < count; ++i) {
      const std::string_view word = takeWord(reader, bytes.substr(bytes.size() - reader.size()));
      if (word.size() > tsWordSizeMax) throwReceived("lexeme too long");
      const auto places = reader.take<uint16_t>();
      if (places > tsPositionsMax) throw SqlError(sqlstate::internalError, "unexpected number of tsvector positions");
      if (places == 0) draft.add(word);
      uint16_t last = 0;
      for (uint16_t j = 0; j < places; ++j) {
         const TsPlace place = unpackedPlace(reader.take<uint16_t>());
         if (j > 0 && place.position <= last)
            throw SqlError(sqlstate::internalError, "position information is misordered");
         last = place.position;
         draft.add(word, place);
      }
   }
   reader.finish();
   putValue(target, arena.copyString(draft.store()));
}

} // namespace

const TypeForm tsvectorForm{
    .oid = oid::tsvector,
    .wireSize = -1,
    .textGrowth = 2,
    .appendText = appendText,
    .parseText = parseText,
    .appendBinary = appendBinary,
    .parseBinary = parseBinary,
};

} // namespace ouzel
