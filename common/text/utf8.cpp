#include "common/text/utf8.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <immintrin.h>
#include <string>

#include "common/error/sql_error.hpp"
#include "common/thread/interruption.hpp"

namespace ouzel {

namespace {

/// Bytes the sequence that starts with `lead` claims to have.
size_t claimedLength(uint8_t lead) {
   if (lead < 0xc0) return 1;
   if (lead < 0xe0) return 2;
   if (lead < 0xf0) return 3;
   if (lead < 0xf8) return 4;
   return 1;
}

/// Length of the valid multi-byte sequence at `bytes`, or 0.
size_t sequenceLength(const uint8_t* bytes, size_t available) {
   const uint8_t lead = bytes[0];
   if (lead < 0xc2 || lead > 0xf4) return 0;
   const size_t length = claimedLength(lead);
   if (length > available) return 0;
   for (size_t i = 1; i < length; ++i)
      if ((bytes[i] & 0xc0) != 0x80) return 0;
   const uint8_t second = bytes[1];
   if (lead == 0xe0 && second < 0xa0) return 0; // overlong
   if (lead == 0xed && second > 0x9f) return 0; // surrogates
   if (lead == 0xf0 && second < 0x90) return 0; // overlong
   if (lead == 0xf4 && second > 0x8f) return 0; // beyond U+10FFFF
   return length;
}

[[noreturn, gnu::cold]] void throwInvalid(std::string_view text, size_t at) {
   const size_t shown = std::min(claimedLength(static_cast<uint8_t>(text[at])), text.size() - at);
   std::string message = "invalid byte sequence for encoding \"UTF8\":";
   constexpr char digits[] = "0123456789abcdef";
   for (size_t i = 0; i < shown; ++i) {
      const auto byte = static_cast<uint8_t>(text[at + i]);
      message += " 0x";
      message += digits[byte >> 4];
      message += digits[byte & 15];
   }
   throw SqlError(sqlstate::characterNotInRepertoire, message);
}

/// 32 bytes at a time, or eight of a short text. The last ones are read again, without those that are counted already.
uint32_t countContinuations(std::string_view text) {
   const char* const bytes = text.data();
   const size_t size = text.size();
   uint32_t count = 0;
   if (size >= 32) {
      // As a signed number a continuation, 10xxxxxx, is less than -64.
      const __m256i bound = _mm256_set1_epi8(-64);
      const auto maskAt = [&](size_t at) {
         const __m256i here = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + at));
         return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpgt_epi8(bound, here)));
      };
      size_t at = 0;
      for (; at + 32 <= size; at += 32)
         count += static_cast<uint32_t>(std::popcount(maskAt(at)));
      if (at < size) count += static_cast<uint32_t>(std::popcount(maskAt(size - 32) >> (at + 32 - size)));
      return count;
   }
   if (size >= 8) {
      constexpr uint64_t lowestBits = 0x0101010101010101;
      const auto bitsAt = [&](size_t at) { // a continuation has its highest bit set and the next one clear
         uint64_t here;
         std::memcpy(&here, bytes + at, sizeof here);
         return (here >> 7) & ~(here >> 6) & lowestBits;
      };
      size_t at = 0;
      for (; at + 8 <= size; at += 8)
         count += static_cast<uint32_t>(std::popcount(bitsAt(at)));
      if (at < size) count += static_cast<uint32_t>(std::popcount(bitsAt(size - 8) >> 8 * (at + 8 - size)));
      return count;
   }
   for (const char c : text)
      count += (static_cast<uint8_t>(c) & 0xc0) == 0x80;
   return count;
}

} // namespace

uint32_t characterCount(std::string_view text) {
   constexpr size_t bytesBetweenChecks = size_t{16} << 20;
   auto count = static_cast<uint32_t>(text.size());
   for (; text.size() > bytesBetweenChecks; text.remove_prefix(bytesBetweenChecks)) {
      count -= countContinuations(text.substr(0, bytesBetweenChecks));
      checkInterrupted();
   }
   return count - countContinuations(text);
}

size_t findInvalidUtf8(std::string_view text) {
   const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
   const size_t size = text.size();
   size_t i = 0;
   while (i < size) {
      // Eight ASCII bytes that are not NUL at a time: no high bit, and no borrow out of any byte when 1 is subtracted.
      while (i + 8 <= size) {
         uint64_t word;
         std::memcpy(&word, bytes + i, 8);
         if (((word | (word - 0x0101010101010101u)) & 0x8080808080808080u) != 0) break;
         i += 8;
      }
      if (i == size) break;
      if (bytes[i] < 0x80) {
         if (bytes[i] == 0) return i;
         ++i;
         continue;
      }
      const size_t length = sequenceLength(bytes + i, size - i);
      if (length == 0) return i;
      i += length;
   }
   return size;
}

void checkUtf8(std::string_view text) {
   const size_t at = findInvalidUtf8(text);
   if (at != text.size()) throwInvalid(text, at);
}

void appendUtf8(std::string& out, uint32_t codePoint) {
   const auto byte = [&](uint32_t bits) { out.push_back(static_cast<char>(bits)); };
   if (codePoint < 0x80) return byte(codePoint);
   if (codePoint < 0x800) {
      byte(0xC0 | (codePoint >> 6));
   } else {
      if (codePoint < 0x10000) {
         byte(0xE0 | (codePoint >> 12));
      } else {
         byte(0xF0 | (codePoint >> 18));
         byte(0x80 | ((codePoint >> 12) & 0x3F));
      }
      byte(0x80 | ((codePoint >> 6) & 0x3F));
   }
   byte(0x80 | (codePoint & 0x3F));
}

} // namespace ouzel
