#include "common/text/encoding.hpp"

#include <iterator>

#include "common/error/sql_error.hpp"
#include "common/text/ascii.hpp"
#include "common/text/utf8.hpp"

namespace ouzel {

namespace {

constexpr std::string_view names[encodingCount] = {
    "SQL_ASCII",     "EUC_JP",  "EUC_CN",  "EUC_KR",  "EUC_TW",     "EUC_JIS_2004", "UTF8",
    "MULE_INTERNAL", "LATIN1",  "LATIN2",  "LATIN3",  "LATIN4",     "LATIN5",       "LATIN6",
    "LATIN7",        "LATIN8",  "LATIN9",  "LATIN10", "WIN1256",    "WIN1258",      "WIN866",
    "WIN874",        "KOI8R",   "WIN1251", "WIN1252", "ISO_8859_5", "ISO_8859_6",   "ISO_8859_7",
    "ISO_8859_8",    "WIN1250", "WIN1253", "WIN1254", "WIN1255",    "WIN1257",      "KOI8U",
    "SJIS",          "BIG5",    "GBK",     "UHC",     "GB18030",    "JOHAB",        "SHIFT_JIS_2004"};

struct Alias {
   std::string_view name;
   CharacterEncoding encoding;
};
/// Other names, in lower case and without what is no letter or digit.
constexpr Alias aliases[] = {{"unicode", CharacterEncoding::Utf8},        {"abc", CharacterEncoding::Win1258},
                             {"alt", CharacterEncoding::Win866},          {"iso88591", CharacterEncoding::Latin1},
                             {"iso885910", CharacterEncoding::Latin6},    {"iso885913", CharacterEncoding::Latin7},
                             {"iso885914", CharacterEncoding::Latin8},    {"iso885915", CharacterEncoding::Latin9},
                             {"iso885916", CharacterEncoding::Latin10},   {"iso88592", CharacterEncoding::Latin2},
                             {"iso88593", CharacterEncoding::Latin3},     {"iso88594", CharacterEncoding::Latin4},
                             {"iso88599", CharacterEncoding::Latin5},     {"koi8", CharacterEncoding::Koi8R},
                             {"mskanji", CharacterEncoding::Sjis},        {"shiftjis", CharacterEncoding::Sjis},
                             {"tcvn", CharacterEncoding::Win1258},        {"tcvn5712", CharacterEncoding::Win1258},
                             {"vscii", CharacterEncoding::Win1258},       {"win", CharacterEncoding::Win1251},
                             {"win932", CharacterEncoding::Sjis},         {"win936", CharacterEncoding::Gbk},
                             {"win949", CharacterEncoding::Uhc},          {"win950", CharacterEncoding::Big5},
                             {"windows1250", CharacterEncoding::Win1250}, {"windows1251", CharacterEncoding::Win1251},
                             {"windows1252", CharacterEncoding::Win1252}, {"windows1253", CharacterEncoding::Win1253},
                             {"windows1254", CharacterEncoding::Win1254}, {"windows1255", CharacterEncoding::Win1255},
                             {"windows1256", CharacterEncoding::Win1256}, {"windows1257", CharacterEncoding::Win1257},
                             {"windows1258", CharacterEncoding::Win1258}, {"windows866", CharacterEncoding::Win866},
                             {"windows874", CharacterEncoding::Win874},   {"windows932", CharacterEncoding::Sjis},
                             {"windows936", CharacterEncoding::Gbk},      {"windows949", CharacterEncoding::Uhc},
                             {"windows950", CharacterEncoding::Big5}};

std::string lettersOf(std::string_view name) {
   std::string letters;
   for (const char c : lowerCase(name))
      if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) letters.push_back(c);
   return letters;
}

constexpr uint8_t singleShift2 = 0x8e, singleShift3 = 0x8f;

bool isHigh(uint8_t byte) {
   return byte >= 0x80;
}
bool isWithin(uint8_t byte, uint8_t low, uint8_t high) {
   return byte >= low && byte <= high;
}
/// A byte of a character of EUC.
bool isEuc(uint8_t byte) {
   return isWithin(byte, 0xa1, 0xfe);
}

/// Bytes of a character by its first ones, as long as they may be more than there are; see PostgreSQL's pg_wchar_table.
size_t declaredBytes(CharacterEncoding encoding, std::string_view text) {
   const auto first = static_cast<uint8_t>(text[0]);
   if (!isHigh(first)) return 1;
   switch (encoding) {
   case CharacterEncoding::Utf8:
      return (first & 0xe0) == 0xc0 ? 2 : (first & 0xf0) == 0xe0 ? 3 : (first & 0xf8) == 0xf0 ? 4 : 1;
   case CharacterEncoding::EucJp:
   case CharacterEncoding::EucJis2004:
   case CharacterEncoding::EucKr:
   case CharacterEncoding::Johab: return first == singleShift3 ? 3 : 2;
   case CharacterEncoding::EucTw: return first == singleShift2 ? 4 : first == singleShift3 ? 3 : 2;
   case CharacterEncoding::EucCn:
   case CharacterEncoding::Big5:
   case CharacterEncoding::Gbk:
   case CharacterEncoding::Uhc: return 2;
   case CharacterEncoding::Sjis:
   case CharacterEncoding::ShiftJis2004: return isWithin(first, 0xa1, 0xdf) ? 1 : 2;
   case CharacterEncoding::Gb18030: return text.size() > 1 && isWithin(static_cast<uint8_t>(text[1]), '0', '9') ? 4 : 2;
   case CharacterEncoding::MuleInternal:
      return isWithin(first, 0x81, 0x8d) ? 2 : isWithin(first, 0x90, 0x9b) ? 3 : isWithin(first, 0x9c, 0x9d) ? 4 : 1;
   default: return 1;
   }
}

/// Whether these bytes, as many as declared, are a character of several bytes.
bool isCharacter(CharacterEncoding encoding, std::string_view text) {
   const auto at = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
   const auto restIsEuc = [&] {
      for (size_t i = 1; i < text.size(); ++i)
         if (!isEuc(at(i))) return false;
      return true;
   };
   switch (encoding) {
   case CharacterEncoding::EucJp:
   case CharacterEncoding::EucJis2004:
      if (at(0) == singleShift2) return isWithin(at(1), 0xa1, 0xdf);
      return (at(0) == singleShift3 || isEuc(at(0))) && restIsEuc();
   case CharacterEncoding::EucCn:
   case CharacterEncoding::EucKr: return isEuc(at(0)) && restIsEuc();
   case CharacterEncoding::EucTw:
      if (at(0) == singleShift2) return isWithin(at(1), 0xa1, 0xa7) && isEuc(at(2)) && isEuc(at(3));
      return at(0) != singleShift3 && isEuc(at(1));
   case CharacterEncoding::Johab: return restIsEuc();
   case CharacterEncoding::Sjis:
   case CharacterEncoding::ShiftJis2004:
      return (isWithin(at(0), 0x81, 0x9f) || isWithin(at(0), 0xe0, 0xfc)) &&
             (isWithin(at(1), 0x40, 0x7e) || isWithin(at(1), 0x80, 0xfc));
   case CharacterEncoding::Gb18030:
      if (!isWithin(at(0), 0x81, 0xfe)) return false;
      if (text.size() == 4) return isWithin(at(2), 0x81, 0xfe) && isWithin(at(3), '0', '9');
      return isWithin(at(1), 0x40, 0x7e) || isWithin(at(1), 0x80, 0xfe);
   case CharacterEncoding::MuleInternal:
      for (size_t i = 1; i < text.size(); ++i)
         if (!isHigh(at(i))) return false;
      return true;
   default: return text.find('\0') == std::string_view::npos; // Big5, Gbk, Uhc
   }
}

} // namespace

std::optional<CharacterEncoding> encodingOf(int32_t number) {
   if (number < 0 || number >= encodingCount) return std::nullopt;
   return static_cast<CharacterEncoding>(number);
}

std::optional<CharacterEncoding> encodingNamed(std::string_view name) {
   const std::string letters = lettersOf(name);
   for (int32_t i = 0; i < encodingCount; ++i)
      if (lettersOf(names[i]) == letters) return static_cast<CharacterEncoding>(i);
   for (const Alias& alias : aliases)
      if (alias.name == letters) return alias.encoding;
   return std::nullopt;
}

std::string_view encodingName(CharacterEncoding encoding) {
   return names[static_cast<size_t>(encoding)];
}

int32_t characterBytesMax(CharacterEncoding encoding) {
   switch (encoding) {
   case CharacterEncoding::EucTw:
   case CharacterEncoding::Utf8:
   case CharacterEncoding::MuleInternal:
   case CharacterEncoding::Gb18030: return 4;
   case CharacterEncoding::EucJp:
   case CharacterEncoding::EucCn:
   case CharacterEncoding::EucKr:
   case CharacterEncoding::EucJis2004:
   case CharacterEncoding::Johab: return 3;
   case CharacterEncoding::Sjis:
   case CharacterEncoding::Big5:
   case CharacterEncoding::Gbk:
   case CharacterEncoding::Uhc:
   case CharacterEncoding::ShiftJis2004: return 2;
   default: return 1;
   }
}

size_t characterBytes(CharacterEncoding encoding, std::string_view text) {
   return std::min(declaredBytes(encoding, text), text.size());
}

size_t wholeCharacterBytes(CharacterEncoding encoding, std::string_view text) {
   size_t whole = 0;
   while (whole < text.size()) {
      const size_t bytes = declaredBytes(encoding, text.substr(whole));
      if (bytes > text.size() - whole) break;
      whole += bytes;
   }
   return whole;
}

std::string bytesForError(std::string_view character) {
   constexpr char digits[] = "0123456789abcdef";
   std::string list;
   for (const char c : character) {
      const auto byte = static_cast<uint8_t>(c);
      list += {' ', '0', 'x', digits[byte >> 4], digits[byte & 15]};
   }
   return list;
}

void checkEncoded(CharacterEncoding encoding, std::string_view text) {
   if (encoding == CharacterEncoding::Utf8) return checkUtf8(text);
   while (!text.empty()) {
      const size_t declared = declaredBytes(encoding, text);
      const std::string_view character = text.substr(0, declared);
      const bool isValid =
          declared == 1 ? text[0] != '\0' : character.size() == declared && isCharacter(encoding, character);
      if (!isValid)
         throw SqlError(sqlstate::characterNotInRepertoire, "invalid byte sequence for encoding \"" +
                                                                std::string(encodingName(encoding)) +
                                                                "\":" + bytesForError(character));
      text.remove_prefix(declared);
   }
}

} // namespace ouzel
