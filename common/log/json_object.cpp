#include "common/log/json_object.hpp"

#include <fmt/format.h>

namespace ouzel {

void appendJsonText(std::string& out, std::string_view text) {
   out += '"';
   for (const char c : text) {
      switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
         if (static_cast<unsigned char>(c) < 0x20)
            out += fmt::format("\\u{:04x}", c);
         else
            out += c;
      }
   }
   out += '"';
}

} // namespace ouzel
