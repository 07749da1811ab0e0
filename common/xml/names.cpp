#include "common/xml/names.hpp"

#include <cstdint>
#include <cstdio>
#include <libxml/chvalid.h>

#include "common/text/utf8.hpp"

namespace ouzel::xml {

namespace {

/// The first code point of valid UTF-8 and its bytes; {0, 0} for no text.
struct Character {
   uint32_t codePoint;
   size_t size;
};
Character firstCharacter(std::string_view text) {
   if (text.empty()) return {0, 0};
   const auto lead = static_cast<unsigned char>(text[0]);
   const size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
   if (size > text.size()) return {lead, 1};
   uint32_t codePoint = size == 1 ? lead : lead & (0x7fu >> size);
   for (size_t i = 1; i < size; ++i)
      codePoint = codePoint << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
   return {codePoint, size};
}

bool mayBeginName(uint32_t c) {
   return xmlIsBaseCharQ(c) || xmlIsIdeographicQ(c) || c == '_' || c == ':';
}
bool mayBeInName(uint32_t c) {
   return mayBeginName(c) || xmlIsDigitQ(c) || c == '.' || c == '-' || xmlIsCombiningQ(c) || xmlIsExtenderQ(c);
}

void appendHex(std::string& out, const char* format, uint32_t codePoint) {
   char text[16];
   out.append(text, static_cast<size_t>(std::snprintf(text, sizeof text, format, codePoint)));
}

bool beginsWithXml(std::string_view name) {
   constexpr std::string_view word = "xml";
   if (name.size() < word.size()) return false;
   for (size_t i = 0; i < word.size(); ++i)
      if ((name[i] | 0x20) != word[i]) return false;
   return true;
}

bool needsEscape(std::string_view rest, uint32_t c, bool isFirst, NameEscapes escapes) {
   const bool isFull = escapes != NameEscapes::Partly;
   if (c == ':' && (isFirst || isFull)) return true;
   if (c == '_' && rest.size() > 1 && rest[1] == 'x') return true;
   if (isFull && isFirst && beginsWithXml(rest)) return true;
   if (c == '.' && escapes == NameEscapes::WithPeriods) return true;
   return isFirst ? !mayBeginName(c) : !mayBeInName(c);
}

bool isSurrogate(uint32_t c) {
   return c >= 0xd800 && c < 0xe000;
}

/// The code point of "_xHHHH_" at the beginning of a name; 0: there is none.
uint32_t escapedCharacter(std::string_view name) {
   constexpr size_t size = 7;
   if (name.size() < size || name[0] != '_' || name[1] != 'x' || name[size - 1] != '_') return 0;
   uint32_t codePoint = 0;
   for (const char c : name.substr(2, 4)) {
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return 0;
      codePoint = codePoint << 4 | static_cast<uint32_t>(digit);
   }
   return isSurrogate(codePoint) ? 0 : codePoint;
}

} // namespace

bool beginsWithNameCharacter(std::string_view text) {
   return !text.empty() && mayBeInName(firstCharacter(text).codePoint);
}

std::string nameFromSql(std::string_view identifier, NameEscapes escapes) {
   std::string name;
   for (std::string_view rest = identifier; !rest.empty();) {
      const Character c = firstCharacter(rest);
      if (needsEscape(rest, c.codePoint, rest.size() == identifier.size(), escapes))
         appendHex(name, "_x%04X_", c.codePoint);
      else
         name.append(rest.substr(0, c.size));
      rest.remove_prefix(c.size);
   }
   return name;
}

std::string nameToSql(std::string_view name) {
   std::string identifier;
   for (size_t i = 0; i < name.size();) {
      const uint32_t escaped = escapedCharacter(name.substr(i));
      if (escaped != 0) {
         appendUtf8(identifier, escaped);
         i += 7;
      } else {
         identifier.push_back(name[i++]);
      }
   }
   return identifier;
}

void appendEscaped(std::string& out, std::string_view text) {
   for (;;) {
      const size_t special = text.find_first_of("&<>\r");
      out.append(text.substr(0, special));
      if (special == std::string_view::npos) return;
      switch (text[special]) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      default: out += "&#x0d;";
      }
      text.remove_prefix(special + 1);
   }
}

void appendAttributeValue(std::string& out, std::string_view text) {
   out.push_back('"');
   while (!text.empty()) {
      const Character c = firstCharacter(text);
      switch (c.codePoint) {
      case '"': out += "&quot;"; break;
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '\n': out += "&#10;"; break;
      case '\r': out += "&#13;"; break;
      case '\t': out += "&#9;"; break;
      default:
         if (c.codePoint < 0x80)
            out.push_back(text[0]);
         else
            appendHex(out, "&#x%X;", c.codePoint);
      }
      text.remove_prefix(c.size);
   }
   out.push_back('"');
}

} // namespace ouzel::xml
