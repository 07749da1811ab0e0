#include <algorithm>
#include <cstring>

#include "common/error/sql_error.hpp"
#include "common/text/ascii.hpp"
#include "common/text/number_text.hpp"
#include "common/text/utf8.hpp"
#include "common/thread/interruption.hpp"
#include "common/type/text_codec.hpp"

// Texts of booleans, strings of limited length, uuid and bytea.

namespace ouzel {

namespace {

/// Is `text`, in any case, a beginning of `word` of at least `lengthMin` letters?
bool abbreviates(std::string_view text, std::string_view word, size_t lengthMin) {
   if (text.size() < lengthMin || text.size() > word.size()) return false;
   for (size_t i = 0; i < text.size(); ++i)
      if (asciiLower(text[i]) != word[i]) return false;
   return true;
}

constexpr char hexDigits[] = "0123456789abcdef";
constexpr uint128 topBit = static_cast<uint128>(1) << 127;

/// A long value can be cancelled while it is read.
constexpr size_t bytesBetweenChecks = size_t{1} << 22;

std::string parseByteaHex(std::string_view text) {
   std::string out;
   out.reserve(text.size() / 2);
   for (size_t p = 0, checkedAt = 0; p < text.size();) {
      if (p - checkedAt > bytesBetweenChecks) {
         checkInterrupted();
         checkedAt = p;
      }
      if (isBlank(text[p])) {
         ++p;
         continue;
      }
      const auto digit = [&](size_t at) {
         const int value = hexDigit(text[at]);
         if (value >= 0) return value;
         size_t length = 1;
         while (at + length < text.size() && (static_cast<unsigned char>(text[at + length]) & 0xc0) == 0x80)
            ++length;
         throw SqlError(sqlstate::invalidParameterValue,
                        "invalid hexadecimal digit: \"" + std::string(text.substr(at, length)) + '"');
      };
      const int high = digit(p);
      if (p + 1 >= text.size())
         throw SqlError(sqlstate::invalidParameterValue, "invalid hexadecimal data: odd number of digits");
      out.push_back(static_cast<char>(high * 16 + digit(p + 1)));
      p += 2;
   }
   return out;
}

} // namespace

ParseStatus parseBoolean(std::string_view text, bool& out) {
   text = trimBlanks(text);
   out = abbreviates(text, "true", 1) || abbreviates(text, "yes", 1) || abbreviates(text, "on", 2) || text == "1";
   if (out) return ParseStatus::Ok;
   const bool isFalse =
       abbreviates(text, "false", 1) || abbreviates(text, "no", 1) || abbreviates(text, "off", 2) || text == "0";
   return isFalse ? ParseStatus::Ok : ParseStatus::Malformed;
}

bool parseUuid(std::string_view text, int128& out) {
   bool hasBraces = false;
   if (!text.empty() && text[0] == '{') {
      text.remove_prefix(1);
      hasBraces = true;
   }
   uint128 value = 0;
   size_t p = 0;
   for (int byte = 0; byte < 16; ++byte) {
      if (p + 1 >= text.size()) return false;
      const int high = hexDigit(text[p]), low = hexDigit(text[p + 1]);
      if (high < 0 || low < 0) return false;
      value = (value << 8) | static_cast<uint128>(high * 16 + low);
      p += 2;
      if (byte % 2 == 1 && byte < 15 && p < text.size() && text[p] == '-') ++p;
   }
   if (hasBraces) {
      if (p >= text.size() || text[p] != '}') return false;
      ++p;
   }
   if (p != text.size()) return false;
   out = static_cast<int128>(value ^ topBit);
   return true;
}

std::string_view parseChar(std::string_view text, char& byte) {
   const auto isOctal = [](char c) { return c >= '0' && c <= '7'; };
   if (text.empty()) return {};
   byte = text[0];
   if (text.size() == 4 && byte == '\\' && isOctal(text[1]) && isOctal(text[2]) && isOctal(text[3]))
      byte = static_cast<char>((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0'));
   return {&byte, byte == '\0' ? size_t{0} : size_t{1}};
}

void appendChar(std::string& out, std::string_view byte) {
   if (byte.empty()) return;
   const auto value = static_cast<uint8_t>(byte[0]);
   if (value < 0x80) {
      out += byte[0];
      return;
   }
   out += '\\';
   for (const int shift : {6, 3, 0})
      out += static_cast<char>('0' + (value >> shift & 7));
}

void appendUuid(std::string& out, int128 v) {
   const uint128 value = static_cast<uint128>(v) ^ topBit;
   char buffer[36];
   char* p = buffer;
   for (int byte = 0; byte < 16; ++byte) {
      if (byte == 4 || byte == 6 || byte == 8 || byte == 10) *p++ = '-';
      const unsigned b = static_cast<unsigned>(value >> (120 - 8 * byte)) & 0xff;
      *p++ = hexDigits[b >> 4];
      *p++ = hexDigits[b & 15];
   }
   out.append(buffer, sizeof buffer);
}

void appendBytea(std::string& out, std::string_view bytes, ByteaOutput style) {
   if (style == ByteaOutput::Hex) {
      const size_t start = out.size();
      out.resize(start + 2 + bytes.size() * 2);
      char* p = out.data() + start;
      *p++ = '\\';
      *p++ = 'x';
      for (const char c : bytes) {
         const unsigned b = static_cast<unsigned char>(c);
         *p++ = hexDigits[b >> 4];
         *p++ = hexDigits[b & 15];
      }
      return;
   }
   for (const char c : bytes) {
      const unsigned b = static_cast<unsigned char>(c);
      if (c == '\\') {
         out.append("\\\\");
      } else if (b < 0x20 || b > 0x7e) {
         out.push_back('\\');
         out.push_back(static_cast<char>('0' + (b >> 6)));
         out.push_back(static_cast<char>('0' + ((b >> 3) & 7)));
         out.push_back(static_cast<char>('0' + (b & 7)));
      } else {
         out.push_back(c);
      }
   }
}

std::string parseBytea(std::string_view text) {
   if (text.size() >= 2 && text[0] == '\\' && text[1] == 'x') return parseByteaHex(text.substr(2));
   std::string out;
   const auto isOctal = [&text](size_t at, char max) { return at < text.size() && text[at] >= '0' && text[at] <= max; };
   for (size_t p = 0; p < text.size();) {
      if (text[p] != '\\') {
         const size_t end = std::min({text.find('\\', p), text.size(), p + bytesBetweenChecks});
         out.append(text, p, end - p);
         if (end - p == bytesBetweenChecks) checkInterrupted();
         p = end;
      } else if (isOctal(p + 1, '3') && isOctal(p + 2, '7') && isOctal(p + 3, '7')) {
         out.push_back(static_cast<char>((text[p + 1] - '0') * 64 + (text[p + 2] - '0') * 8 + (text[p + 3] - '0')));
         p += 4;
      } else if (p + 1 < text.size() && text[p + 1] == '\\') {
         out.push_back('\\');
         p += 2;
      } else {
         throw SqlError(sqlstate::invalidTextRepresentation, "invalid input syntax for type bytea");
      }
   }
   return out;
}

size_t bytesOfCharacters(std::string_view text, uint32_t count) {
   size_t p = 0;
   for (; p < text.size(); ++p)
      if ((static_cast<unsigned char>(text[p]) & 0xc0) != 0x80 && count-- == 0) break;
   return p;
}

std::string_view trimTrailingBlanks(std::string_view text) {
   while (!text.empty() && text.back() == ' ')
      text.remove_suffix(1);
   return text;
}

namespace {

std::string_view limit(std::string_view text, int32_t typmod, bool isExplicit, const char* typeName) {
   const int32_t length = stringLengthLimit(typmod);
   if (length < 0 || text.size() <= static_cast<size_t>(length)) return text;
   const size_t bytes = bytesOfCharacters(text, static_cast<uint32_t>(length));
   if (bytes == text.size()) return text;
   if (!isExplicit && text.find_first_not_of(' ', bytes) != std::string_view::npos)
      throw SqlError(sqlstate::stringDataRightTruncation,
                     std::string("value too long for type ") + typeName + '(' + std::to_string(length) + ')');
   return text.substr(0, bytes);
}

} // namespace

std::string_view applyVarcharTypmod(std::string_view text, int32_t typmod, bool isExplicit) {
   return limit(text, typmod, isExplicit, "character varying");
}

std::string_view applyBpcharTypmod(std::string_view text, int32_t typmod, bool isExplicit) {
   return typmod < 0 ? text : trimTrailingBlanks(limit(text, typmod, isExplicit, "character"));
}

std::string_view truncateName(std::string_view text) {
   constexpr size_t bytesMax = 63;
   if (text.size() <= bytesMax) return text;
   size_t end = bytesMax;
   while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
      --end;
   return text.substr(0, end);
}

} // namespace ouzel
