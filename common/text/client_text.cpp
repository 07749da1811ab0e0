#include "common/text/client_text.hpp"

#include <algorithm>

#include "common/error/sql_error.hpp"
#include "common/text/encoding_converter.hpp"
#include "common/text/utf8.hpp"

namespace ouzel {

namespace {

bool isAscii(std::string_view text) {
   return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

} // namespace

std::string_view ClientText::fromClient(std::string_view text, std::string& storage) const {
   checkEncoded(converts() ? encoding_ : CharacterEncoding::Utf8, text);
   if (!converts() || isAscii(text)) return text;
   storage.clear();
   toUtf8(encoding_, text, [&](std::string_view part) { storage += part; });
   return storage;
}

std::string_view ClientText::toClient(std::string_view text, std::string& storage) const {
   if (!converts() || isAscii(text)) return text;
   storage.clear();
   fromUtf8(encoding_, text, [&](std::string_view part) { storage += part; });
   return storage;
}

std::string ClientText::toClientAnyway(std::string_view text) const {
   if (!converts()) return std::string(text);
   std::string result;
   while (!text.empty()) {
      const std::string_view character = text.substr(0, characterBytes(CharacterEncoding::Utf8, text));
      try {
         fromUtf8(encoding_, character, [&](std::string_view part) { result += part; });
      } catch (const SqlError&) {
         result += '?';
      }
      text.remove_prefix(character.size());
   }
   return result;
}

} // namespace ouzel
