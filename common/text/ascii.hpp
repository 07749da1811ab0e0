#pragma once
#include <string>
#include <string_view>

// Letters and digits of ASCII, independent of the locale.

namespace ouzel {

constexpr char asciiLower(char c) {
   return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}
constexpr char asciiUpper(char c) {
   return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
}

inline std::string lowerCase(std::string_view text) {
   std::string lower(text);
   for (char& c : lower)
      c = asciiLower(c);
   return lower;
}

/// The value of a hexadecimal digit, -1 for another character.
constexpr int hexDigit(char c) {
   return c >= '0' && c <= '9'   ? c - '0'
          : c >= 'a' && c <= 'f' ? c - 'a' + 10
          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                 : -1;
}

/// The letter by which a backslash writes a control character in JSON and in COPY ("n" for a line feed); 0: none.
constexpr char controlLetter(char c) {
   constexpr std::string_view characters = "\b\f\n\r\t", letters = "bfnrt";
   const size_t found = characters.find(c);
   return found == std::string_view::npos ? '\0' : letters[found];
}

/// Characters of which HTTP makes names of fields and methods (RFC 9110, section 5.6.2).
constexpr bool isHttpTokenChar(char c) {
   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
          std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

} // namespace ouzel
