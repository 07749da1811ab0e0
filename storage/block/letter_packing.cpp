#include "storage/block/letter_packing.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <lz4.h>
#include <map>
#include <memory>
#include <vector>

#include "common/error/sql_error.hpp"
#include "storage/block/bit_packing.hpp"
#include "storage/block/format.hpp"

namespace ouzel::storage {

namespace {

constexpr uint32_t positionsMax = 255; ///< that have an alphabet of their own
constexpr uint32_t exceptionShare = 512;
constexpr size_t paddingBytes = 8;

struct PackedHead {
   uint32_t prefixSize = 0;   // 0  of the page up to its strings' bytes
   uint32_t prefixStored = 0; // 4  equal to prefixSize: not compressed
   uint32_t exceptions = 0;   // 8
   uint32_t bitBytes = 0;     // 12 without padding
   uint16_t alphabets = 0;    // 16
   uint16_t positions = 0;    // 18 and one alphabet more
};
static_assert(sizeof(PackedHead) == 20);

[[noreturn, gnu::cold]] void corrupted() {
   throw SqlError(sqlstate::dataCorrupted, "a packed page is malformed");
}

/// The lengths of a page's strings, read from what stands before their bytes.
class Lengths {
public:
   Lengths(const char* page, size_t prefixSize) {
      PageHeader header;
      if (prefixSize < sizeof header) corrupted();
      std::memcpy(&header, page, sizeof header);
      StringBody body;
      if (header.bodyOffset > prefixSize || prefixSize - header.bodyOffset < sizeof body) corrupted();
      std::memcpy(&body, page + header.bodyOffset, sizeof body);
      count = header.rowCount;
      width_ = body.lengthWidth;
      if (width_ != 1 && width_ != 2 && width_ != 4) corrupted();
      const uint64_t end = uint64_t{header.bodyOffset} + body.lengthsOffset + uint64_t{count} * width_;
      if (end > prefixSize) corrupted();
      first_ = page + header.bodyOffset + body.lengthsOffset;
   }
   uint32_t operator[](uint32_t i) const {
      uint32_t length = 0;
      std::memcpy(&length, first_ + size_t{i} * width_, width_);
      return length;
   }

   uint32_t count = 0;

private:
   const char* first_ = nullptr;
   uint32_t width_ = 1;
};

/// Where the strings' bytes begin in a page.
size_t prefixOf(std::string_view page) {
   PageHeader header;
   std::memcpy(&header, page.data(), sizeof header);
   StringBody body;
   std::memcpy(&body, page.data() + header.bodyOffset, sizeof body);
   return header.bodyOffset + body.bytesOffset;
}

/// A set of bytes.
class Letters {
public:
   void add(uint8_t letter) { words_[letter / 64] |= uint64_t{1} << (letter % 64); }
   bool has(uint8_t letter) const { return words_[letter / 64] >> (letter % 64) & 1; }
   uint32_t count() const {
      uint32_t count = 0;
      for (const uint64_t word : words_)
         count += static_cast<uint32_t>(__builtin_popcountll(word));
      return count;
   }
   uint32_t bits() const { return count() == 0 ? 0 : bitsFor(count() - 1); }
   Letters with(const Letters& other) const {
      Letters all = *this;
      for (size_t i = 0; i < words_.size(); ++i)
         all.words_[i] |= other.words_[i];
      return all;
   }

private:
   std::array<uint64_t, 4> words_{};
};

/// Chooses the alphabets and packs.
class LetterPacker {
public:
   explicit LetterPacker(std::string_view page)
      : page_(page), prefixSize_(prefixOf(page)), lengths_(page.data(), prefixSize_) {}

   std::string pack(size_t sizeMax) {
      count();
      choose();
      if (bits_ / 8 > sizeMax) return {};
      std::string out;
      writeHead(out);
      for (const Letters& alphabet : alphabets_)
         writeAlphabet(alphabet, out);
      out.append(reinterpret_cast<const char*>(alphabetOf_.data()), alphabetOf_.size());
      writeStrings(out);
      if (out.size() > sizeMax) return {};
      return out;
   }

private:
   using Counts = std::array<uint32_t, 256>;

   uint32_t placeOf(uint32_t position) const { return std::min(position, positions_); }

   void count() {
      uint32_t longest = 0;
      for (uint32_t i = 0; i < lengths_.count; ++i)
         longest = std::max(longest, lengths_[i]);
      positions_ = std::min(longest, positionsMax);
      counts_.assign(positions_ + 1, Counts{});
      const auto* at = reinterpret_cast<const uint8_t*>(page_.data()) + prefixSize_;
      for (uint32_t i = 0; i < lengths_.count; ++i) {
         const uint32_t length = lengths_[i], own = std::min(length, positions_);
         for (uint32_t p = 0; p < own; ++p)
            ++counts_[p][at[p]];
         for (uint32_t p = own; p < length; ++p)
            ++counts_[positions_][at[p]];
         at += length;
      }
   }

   /// The letters of a position, without rare ones where that saves a bit.
   Letters lettersOf(const Counts& counts) const {
      std::vector<uint8_t> order;
      uint64_t all = 0;
      for (uint32_t letter = 0; letter < 256; ++letter) {
         if (counts[letter] == 0) continue;
         order.push_back(static_cast<uint8_t>(letter));
         all += counts[letter];
      }
      std::sort(order.begin(), order.end(), [&](uint8_t a, uint8_t b) { return counts[a] > counts[b]; });
      size_t kept = order.size();
      for (uint64_t dropped = 0; kept > 1;) {
         const size_t fewer = size_t{1} << (bitsFor(kept - 1) - 1);
         for (size_t i = fewer; i < kept; ++i)
            dropped += counts[order[i]];
         if (dropped * exceptionShare > all) break;
         kept = fewer;
      }
      Letters letters;
      for (size_t i = 0; i < kept; ++i)
         letters.add(order[i]);
      return letters;
   }

   /// Positions share an alphabet where that costs no bit: fewer tables to decode with.
   void choose() {
      alphabetOf_.reserve(positions_ + 1);
      for (const Counts& counts : counts_) {
         const Letters letters = lettersOf(counts);
         const uint32_t bits = letters.bits();
         size_t chosen = 0;
         while (chosen < alphabets_.size() &&
                (bits == 0 || alphabets_[chosen].bits() != bits || alphabets_[chosen].with(letters).bits() != bits))
            ++chosen;
         if (chosen == alphabets_.size())
            alphabets_.push_back(letters);
         else
            alphabets_[chosen] = alphabets_[chosen].with(letters);
         alphabetOf_.push_back(static_cast<uint8_t>(chosen));
         uint64_t values = 0;
         for (const uint32_t count : counts)
            values += count;
         bits_ += values * bits;
      }
   }

   void writeHead(std::string& out) const {
      PackedHead head;
      head.prefixSize = static_cast<uint32_t>(prefixSize_);
      head.alphabets = static_cast<uint16_t>(alphabets_.size());
      head.positions = static_cast<uint16_t>(positions_);
      std::string compressed(prefixSize_, '\0');
      const int size = LZ4_compress_default(page_.data(), compressed.data(), static_cast<int>(prefixSize_),
                                            static_cast<int>(prefixSize_) - 1);
      head.prefixStored = size > 0 ? static_cast<uint32_t>(size) : head.prefixSize;
      out.append(reinterpret_cast<const char*>(&head), sizeof head);
      out.append(size > 0 ? std::string_view(compressed).substr(0, head.prefixStored) : page_.substr(0, prefixSize_));
   }

   static void writeAlphabet(const Letters& alphabet, std::string& out) {
      out.push_back(static_cast<char>(std::max(alphabet.count(), 1u) - 1));
      if (alphabet.count() == 0) out.push_back('\0');
      for (uint32_t letter = 0; letter < 256; ++letter)
         if (alphabet.has(static_cast<uint8_t>(letter))) out.push_back(static_cast<char>(letter));
   }

   /// The code of each letter in each alphabet; 256 where it has none.
   std::vector<std::array<uint16_t, 256>> codes() const {
      std::vector<std::array<uint16_t, 256>> codes(alphabets_.size());
      for (size_t alphabet = 0; alphabet < alphabets_.size(); ++alphabet) {
         uint16_t next = 0;
         for (uint32_t letter = 0; letter < 256; ++letter)
            codes[alphabet][letter] = alphabets_[alphabet].has(static_cast<uint8_t>(letter)) ? next++ : 256;
      }
      return codes;
   }

   void writeStrings(std::string& out) const {
      const auto codes = this->codes();
      std::vector<uint32_t> widths;
      for (const Letters& alphabet : alphabets_)
         widths.push_back(alphabet.bits());
      std::string packed, exceptionBytes;
      std::vector<uint32_t> exceptions;
      packed.resize(bits_ / 8 + 16);
      const auto* at = reinterpret_cast<const uint8_t*>(page_.data()) + prefixSize_;
      uint64_t bit = 0;
      for (uint32_t i = 0; i < lengths_.count; ++i) {
         const uint32_t length = lengths_[i];
         const uint64_t begin = bit;
         bool isException = false;
         for (uint32_t p = 0; p < length; ++p) {
            const uint8_t alphabet = alphabetOf_[placeOf(p)];
            const uint16_t code = codes[alphabet][at[p]];
            if (code == 256) {
               isException = true;
               break;
            }
            // Bits behind `bit` are zero: an exception's are cleared below.
            uint64_t word;
            std::memcpy(&word, packed.data() + bit / 8, sizeof word);
            word |= uint64_t{code} << (bit % 8);
            std::memcpy(packed.data() + bit / 8, &word, sizeof word);
            bit += widths[alphabet];
         }
         if (isException) {
            clearFrom(packed, begin, bit);
            bit = begin;
            exceptions.push_back(i);
            exceptionBytes.append(reinterpret_cast<const char*>(at), length);
         }
         at += length;
      }
      packed.resize((bit + 7) / 8);
      setHead(out, static_cast<uint32_t>(exceptions.size()), static_cast<uint32_t>(packed.size()));
      out.append(reinterpret_cast<const char*>(exceptions.data()), exceptions.size() * sizeof(uint32_t));
      out.append(packed);
      out.append(paddingBytes, '\0');
      out.append(exceptionBytes);
   }

   static void clearFrom(std::string& packed, uint64_t begin, uint64_t end) {
      if (begin == end) return;
      packed[begin / 8] = static_cast<char>(static_cast<uint8_t>(packed[begin / 8]) & ((1u << (begin % 8)) - 1));
      std::memset(packed.data() + begin / 8 + 1, 0, end / 8 - begin / 8);
   }

   static void setHead(std::string& out, uint32_t exceptions, uint32_t bitBytes) {
      PackedHead head;
      std::memcpy(&head, out.data(), sizeof head);
      head.exceptions = exceptions;
      head.bitBytes = bitBytes;
      std::memcpy(out.data(), &head, sizeof head);
   }

   const std::string_view page_;
   const size_t prefixSize_;
   const Lengths lengths_;
   uint32_t positions_ = 0;
   std::vector<Counts> counts_; ///< by position; the last: of all further ones
   std::vector<Letters> alphabets_;
   std::vector<uint8_t> alphabetOf_; ///< by position
   uint64_t bits_ = 0;
};

/// Reads a stored page from its front.
class Cursor {
public:
   explicit Cursor(std::string_view bytes) : left_(bytes) {}
   std::string_view take(size_t size) {
      if (size > left_.size()) corrupted();
      const std::string_view taken = left_.substr(0, size);
      left_.remove_prefix(size);
      return taken;
   }
   uint8_t byte() { return static_cast<uint8_t>(take(1)[0]); }

private:
   std::string_view left_;
};

/// Decodes several letters at once: positions whose bits together make the index of a table of strings.
class LetterUnpacker {
public:
   void readAlphabets(Cursor& cursor, uint32_t alphabets, uint32_t positions) {
      if (alphabets == 0 || positions > positionsMax) corrupted();
      std::vector<std::string_view> letters;
      for (uint32_t i = 0; i < alphabets; ++i)
         letters.push_back(cursor.take(cursor.byte() + size_t{1}));
      for (const std::string_view alphabet : letters) {
         Single single;
         single.bits = bitsFor(alphabet.size() - 1);
         std::memcpy(single.letters.data(), alphabet.data(), alphabet.size());
         singles_.push_back(single);
      }
      for (uint32_t p = 0; p <= positions; ++p) {
         const uint8_t alphabet = cursor.byte();
         if (alphabet >= alphabets) corrupted();
         alphabetOf_.push_back(alphabet);
         bitsUpTo_.push_back(bitsUpTo_.back() + singles_[alphabet].bits);
      }
      makeGroups(positions);
   }

   /// Decodes a string of `length` letters at `out`, which has room for 8 bytes more. Returns the bit after it.
   uint64_t unpack(const char* bits, uint64_t bit, uint32_t length, char* out) const {
      uint32_t position = 0;
      for (const Group& group : groups_) {
         if (position + group.length > length) break;
         take(bits, bit, group, out + position);
         position += group.length;
      }
      if (position == ownPositions_)
         for (; position + tail_.length <= length; position += tail_.length)
            take(bits, bit, tail_, out + position);
      for (; position < length; ++position) {
         const Single& single = singles_[alphabetOf_[std::min(position, ownPositions_)]];
         out[position] = single.letters[load(bits, bit) & ((1u << single.bits) - 1)];
         bit += single.bits;
      }
      return bit;
   }

   /// The bits of a string's letters.
   uint64_t bitsOf(uint32_t length) const {
      if (length <= ownPositions_) return bitsUpTo_[length];
      return bitsUpTo_[ownPositions_] + uint64_t{length - ownPositions_} * singles_[alphabetOf_[ownPositions_]].bits;
   }

private:
   static constexpr uint32_t groupBitsMax = 10, groupLengthMax = 8;
   using Table = std::array<uint64_t, 1u << groupBitsMax>;

   struct Single {
      uint32_t bits = 0;
      std::array<char, 256> letters{};
   };
   struct Group {
      const Table* table = nullptr;
      uint32_t length = 0, bits = 0;
   };

   static uint64_t load(const char* bits, uint64_t bit) {
      uint64_t word;
      std::memcpy(&word, bits + bit / 8, sizeof word);
      return word >> (bit % 8);
   }

   static void take(const char* bits, uint64_t& bit, const Group& group, char* out) {
      const uint64_t letters = (*group.table)[load(bits, bit) & ((1u << group.bits) - 1)];
      std::memcpy(out, &letters, sizeof letters);
      bit += group.bits;
   }

   void makeGroups(uint32_t positions) {
      ownPositions_ = positions;
      for (uint32_t p = 0; p < positions;) {
         std::vector<uint8_t> members;
         uint32_t bits = 0;
         while (p < positions && members.size() < groupLengthMax &&
                bits + singles_[alphabetOf_[p]].bits <= groupBitsMax)
            bits += singles_[alphabetOf_[p]].bits, members.push_back(alphabetOf_[p++]);
         groups_.push_back(groupOf(members, bits));
      }
      const uint8_t last = alphabetOf_[positions];
      const uint32_t bits = singles_[last].bits;
      const uint32_t length = bits == 0 ? groupLengthMax : std::min(groupLengthMax, groupBitsMax / bits);
      tail_ = groupOf(std::vector<uint8_t>(length, last), bits * length);
   }

   Group groupOf(const std::vector<uint8_t>& members, uint32_t bits) {
      auto& table = tables_[members];
      if (!table) {
         table = std::make_unique<Table>();
         for (uint32_t index = 0; index < 1u << bits; ++index) {
            std::array<char, groupLengthMax> letters{};
            uint32_t rest = index;
            for (size_t i = 0; i < members.size(); ++i) {
               const Single& single = singles_[members[i]];
               letters[i] = single.letters[rest & ((1u << single.bits) - 1)];
               rest >>= single.bits;
            }
            std::memcpy(&(*table)[index], letters.data(), sizeof letters);
         }
      }
      return {table.get(), static_cast<uint32_t>(members.size()), bits};
   }

   std::vector<Single> singles_; ///< by alphabet
   std::vector<uint8_t> alphabetOf_;
   uint32_t ownPositions_ = 0;
   std::vector<uint64_t> bitsUpTo_ = {0}; ///< of the letters before a position
   std::vector<Group> groups_;            ///< of the positions with an alphabet of their own
   Group tail_;                           ///< of those behind
   std::map<std::vector<uint8_t>, std::unique_ptr<Table>> tables_;
};

void readPrefix(const PackedHead& head, Cursor& cursor, char* out, size_t size) {
   const std::string_view stored = cursor.take(head.prefixStored);
   if (head.prefixSize > size) corrupted();
   if (head.prefixStored == head.prefixSize) {
      std::memcpy(out, stored.data(), stored.size());
      return;
   }
   const int made =
       LZ4_decompress_safe(stored.data(), out, static_cast<int>(stored.size()), static_cast<int>(head.prefixSize));
   if (made < 0 || static_cast<uint32_t>(made) != head.prefixSize) corrupted();
}

} // namespace

std::string packLetters(std::string_view page, size_t sizeMax) {
   return LetterPacker(page).pack(sizeMax);
}

void unpackLetters(std::string_view stored, char* out, size_t size) {
   Cursor cursor(stored);
   PackedHead head;
   std::memcpy(&head, cursor.take(sizeof head).data(), sizeof head);
   readPrefix(head, cursor, out, size);
   const Lengths lengths(out, head.prefixSize);
   LetterUnpacker unpacker;
   unpacker.readAlphabets(cursor, head.alphabets, head.positions);
   const std::string_view exceptions = cursor.take(size_t{head.exceptions} * sizeof(uint32_t));
   const std::string_view bits = cursor.take(size_t{head.bitBytes} + paddingBytes);
   uint32_t exception = 0;
   const auto nextException = [&] {
      uint32_t number = UINT32_MAX;
      if (exception < head.exceptions)
         std::memcpy(&number, exceptions.data() + size_t{exception++} * sizeof number, sizeof number);
      return number;
   };
   uint32_t next = nextException();
   size_t at = head.prefixSize;
   uint64_t bit = 0;
   for (uint32_t i = 0; i < lengths.count; ++i) {
      const uint32_t length = lengths[i];
      if (length > size - at) corrupted();
      if (i == next) {
         const std::string_view bytes = cursor.take(length);
         std::memcpy(out + at, bytes.data(), length);
         next = nextException();
      } else {
         if (bit + unpacker.bitsOf(length) > uint64_t{head.bitBytes} * 8) corrupted();
         bit = unpacker.unpack(bits.data(), bit, length, out + at);
      }
      at += length;
   }
   if (at != size) corrupted();
}

} // namespace ouzel::storage
