#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "common/text/ascii.hpp"
#include "common/text/utf8.hpp"

// Characters and positions in valid UTF-8 text. PostgreSQL's string functions count in characters.

namespace ouzel::executor {

inline bool isContinuation(char c) {
   return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

inline uint32_t characterBytes(char first) {
   const auto c = static_cast<unsigned char>(first);
   return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

/// The start of the character that has the byte at `position`.
inline size_t characterStart(std::string_view text, size_t position) {
   while (position > 0 && position < text.size() && isContinuation(text[position]))
      --position;
   return position;
}

/// The start of the character before (after) the one that starts at `position`.
inline size_t previousCharacter(std::string_view text, size_t position) {
   return characterStart(text, position - 1);
}
inline size_t nextCharacter(std::string_view text, size_t position) {
   return position + characterBytes(text[position]);
}

inline uint32_t countCharacters(std::string_view text) {
   constexpr size_t shortBytes = 16;
   if (text.size() > shortBytes) return characterCount(text);
   uint32_t count = 0;
   for (const char c : text)
      count += isContinuation(c) ? 0u : 1u;
   return count;
}

/// Number of bytes of the first `characters` characters; all bytes if the text has fewer characters.
inline size_t offsetOfCharacter(std::string_view text, uint32_t characters) {
   size_t offset = 0;
   while (characters > 0 && offset < text.size()) {
      offset += characterBytes(text[offset]);
      --characters;
   }
   return offset < text.size() ? offset : text.size();
}

/// The code point of the first character. REQUIRES: the text is not empty.
inline uint32_t decodeCharacter(std::string_view text) {
   const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
   switch (characterBytes(text[0])) {
   case 1: return byte(0);
   case 2: return ((byte(0) & 0x1f) << 6) | (byte(1) & 0x3f);
   case 3: return ((byte(0) & 0x0f) << 12) | ((byte(1) & 0x3f) << 6) | (byte(2) & 0x3f);
   default: return ((byte(0) & 0x07) << 18) | ((byte(1) & 0x3f) << 12) | ((byte(2) & 0x3f) << 6) | (byte(3) & 0x3f);
   }
}

inline void appendCharacter(std::string& out, uint32_t c) {
   const auto put = [&out](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
   if (c < 0x80) {
      put(c);
   } else if (c < 0x800) {
      put(0xc0 | (c >> 6));
      put(0x80 | (c & 0x3f));
   } else if (c < 0x10000) {
      put(0xe0 | (c >> 12));
      put(0x80 | ((c >> 6) & 0x3f));
      put(0x80 | (c & 0x3f));
   } else {
      put(0xf0 | (c >> 18));
      put(0x80 | ((c >> 12) & 0x3f));
      put(0x80 | ((c >> 6) & 0x3f));
      put(0x80 | (c & 0x3f));
   }
}

} // namespace ouzel::executor
