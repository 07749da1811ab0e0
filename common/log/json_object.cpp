#include "common/log/json_object.hpp"

#include <fmt/format.h>

namespace ouzel {

void appendJsonText(std::string& out, std::string_view text) {
   out += '"';
   size_t plain = 0; // what needs no escape is appended at once
   for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\') continue;
      out.append(text.substr(plain, i - plain));
      plain = i + 1;
      switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default: out += fmt::format("\\u{:04x}", c);
      }
   }
   out.append(text.substr(plain)) += '"';
}

} // namespace ouzel
