#include <cstdio>

#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/text/utf8_text.hpp"
#include "executor/function/value_builder.hpp"

// unistr(): a text with escapes for characters by their numbers in Unicode.

namespace ouzel::executor {

namespace {

[[noreturn, gnu::cold]] void throwInvalidPair() {
   throw SqlError(sqlstate::syntaxError, "invalid Unicode surrogate pair");
}

bool isHigh(uint32_t c) {
   return c >= 0xd800 && c <= 0xdbff;
}
bool isLow(uint32_t c) {
   return c >= 0xdc00 && c <= 0xdfff;
}

/// The number of `digits` hexadecimal digits at the beginning of the text.
std::optional<uint32_t> hexNumber(std::string_view text, size_t digits) {
   if (text.size() < digits) return std::nullopt;
   uint32_t value = 0;
   for (const char c : text.substr(0, digits)) {
      const char lower = asciiLower(c);
      if (c >= '0' && c <= '9')
         value = value * 16 + static_cast<uint32_t>(c - '0');
      else if (lower >= 'a' && lower <= 'f')
         value = value * 16 + static_cast<uint32_t>(lower - 'a' + 10);
      else
         return std::nullopt;
   }
   return value;
}

/// The character of the escape at the beginning of `rest`, which is taken off. Throws 42601 for another one.
uint32_t takeEscape(std::string_view& rest) {
   struct Form {
      std::string_view prefix;
      size_t digits;
   };
   constexpr Form forms[] = {{"\\+", 6}, {"\\u", 4}, {"\\U", 8}, {"\\", 4}};
   for (const auto& [prefix, digits] : forms) {
      if (!rest.starts_with(prefix)) continue;
      const auto number = hexNumber(rest.substr(prefix.size()), digits);
      if (!number) continue;
      rest.remove_prefix(prefix.size() + digits);
      return *number;
   }
   throw SqlError(sqlstate::syntaxError, "invalid Unicode escape")
       .hint("Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.");
}

void requireCodePoint(uint32_t c) {
   if (c > 0 && c <= 0x10ffff) return;
   char number[16];
   std::snprintf(number, sizeof number, "%04X", c);
   throw SqlError(sqlstate::invalidParameterValue, std::string("invalid Unicode code point: ") + number);
}

StringView unescape(const StringView& text, KernelEnv& env) {
   ValueBuilder out(env.strings);
   std::string_view rest = text.view();
   uint32_t high = 0; // waits for the other half of its pair
   while (!rest.empty()) {
      const bool isBackslash = rest.starts_with("\\\\");
      if (rest[0] != '\\' || isBackslash) {
         if (high != 0) throwInvalidPair();
         const size_t plain = isBackslash ? 1 : std::min(rest.find('\\'), rest.size());
         out.append(rest.substr(0, plain));
         rest.remove_prefix(isBackslash ? 2 : plain);
         continue;
      }
      uint32_t c = takeEscape(rest);
      requireCodePoint(c);
      if (isLow(c) != (high != 0)) throwInvalidPair();
      if (isLow(c)) c = 0x10000 + ((high - 0xd800) << 10) + (c - 0xdc00);
      high = isHigh(c) ? c : 0;
      if (high != 0) continue;
      std::string character;
      appendCharacter(character, c);
      out.append(character);
   }
   if (high != 0) throwInvalidPair();
   return out.finish();
}

} // namespace

void registerUnicodeEscapes() {
   addKernel<unescape>("unistr");
}

} // namespace ouzel::executor
