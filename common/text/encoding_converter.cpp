#include "common/text/encoding_converter.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <unicode/ucnv.h>
#include <unicode/ucnv_err.h>
#include <utility>
#include <vector>

#include "common/error/sql_error.hpp"
#include "common/text/utf8.hpp"
#include "common/thread/interruption.hpp"

// ICU has the tables. They are PostgreSQL's but for a few characters of East Asian encodings.

namespace ouzel {

namespace {

/// ICU's converter of an encoding; null: none.
const char* converterName(CharacterEncoding encoding) {
   switch (encoding) {
   case CharacterEncoding::EucJp: return "euc-jp-2007";
   case CharacterEncoding::EucCn: return "ibm-1383_P110-1999";
   case CharacterEncoding::EucKr:
   case CharacterEncoding::Uhc: return "windows-949-2000";
   case CharacterEncoding::EucTw: return "ibm-964_P110-1999";
   case CharacterEncoding::Utf8: return "UTF-8";
   case CharacterEncoding::Latin1: return "ISO-8859-1";
   case CharacterEncoding::Latin2: return "ibm-912_P100-1995";
   case CharacterEncoding::Latin3: return "ibm-913_P100-2000";
   case CharacterEncoding::Latin4: return "ibm-914_P100-1995";
   case CharacterEncoding::Latin5: return "ibm-920_P100-1995";
   case CharacterEncoding::Latin6: return "iso-8859_10-1998";
   case CharacterEncoding::Latin7: return "ibm-921_P100-1995";
   case CharacterEncoding::Latin8: return "iso-8859_14-1998";
   case CharacterEncoding::Latin9: return "ibm-923_P100-1998";
   case CharacterEncoding::Win1256: return "ibm-9448_X100-2005";
   case CharacterEncoding::Win1258: return "ibm-5354_P100-1998";
   case CharacterEncoding::Win866: return "ibm-866_P100-1995";
   case CharacterEncoding::Win874: return "ibm-1162_P100-1999";
   case CharacterEncoding::Koi8R: return "ibm-878_P100-1996";
   case CharacterEncoding::Win1251: return "ibm-5347_P100-1998";
   case CharacterEncoding::Win1252: return "ibm-5348_P100-1997";
   case CharacterEncoding::Iso8859_5: return "ibm-915_P100-1995";
   case CharacterEncoding::Iso8859_6: return "ibm-1089_P100-1995";
   case CharacterEncoding::Iso8859_7: return "ibm-9005_X110-2007";
   case CharacterEncoding::Iso8859_8: return "ibm-5012_P100-1999";
   case CharacterEncoding::Win1250: return "ibm-5346_P100-1998";
   case CharacterEncoding::Win1253: return "ibm-5349_P100-1998";
   case CharacterEncoding::Win1254: return "ibm-5350_P100-1998";
   case CharacterEncoding::Win1255: return "ibm-9447_P100-2002";
   case CharacterEncoding::Win1257: return "ibm-9449_P100-2002";
   case CharacterEncoding::Koi8U: return "ibm-1168_P100-2002";
   case CharacterEncoding::Sjis: return "ibm-943_P15A-2003";
   case CharacterEncoding::Big5: return "windows-950-2000";
   case CharacterEncoding::Gbk: return "windows-936-2000";
   case CharacterEncoding::Gb18030: return "gb18030";
   case CharacterEncoding::Latin10: return converterName(CharacterEncoding::Latin9); // see latin10
   default: return nullptr;
   }
}

/// Where LATIN10, which ICU does not have, differs from LATIN9: byte and character.
constexpr std::pair<uint8_t, char32_t> latin10[] = {
    {0xa1, 0x104}, {0xa2, 0x105}, {0xa3, 0x141}, {0xa5, 0x201e}, {0xaa, 0x218}, {0xac, 0x179}, {0xae, 0x17a},
    {0xaf, 0x17b}, {0xb2, 0x10c}, {0xb3, 0x142}, {0xb5, 0x201d}, {0xb9, 0x10d}, {0xba, 0x219}, {0xbf, 0x17c},
    {0xc3, 0x102}, {0xc5, 0x106}, {0xd0, 0x110}, {0xd1, 0x143},  {0xd5, 0x150}, {0xd7, 0x15a}, {0xd8, 0x170},
    {0xdd, 0x118}, {0xde, 0x21a}, {0xe3, 0x103}, {0xe5, 0x107},  {0xf0, 0x111}, {0xf1, 0x144}, {0xf5, 0x151},
    {0xf7, 0x15b}, {0xf8, 0x171}, {0xfd, 0x119}, {0xfe, 0x21b}};

/// Microsoft's encodings leave bytes without a character, for which ICU gives control characters.
bool hasControls(CharacterEncoding encoding) {
   const std::string_view name = encodingName(encoding);
   return !name.starts_with("WIN") || encoding == CharacterEncoding::Win866;
}

struct CloseConverter {
   void operator()(UConverter* converter) const { ucnv_close(converter); }
};
using Converter = std::unique_ptr<UConverter, CloseConverter>;

Converter open(CharacterEncoding encoding) {
   UErrorCode status = U_ZERO_ERROR;
   Converter converter(ucnv_open(converterName(encoding), &status));
   if (U_SUCCESS(status)) {
      ucnv_setToUCallBack(converter.get(), UCNV_TO_U_CALLBACK_STOP, nullptr, nullptr, nullptr, &status);
      ucnv_setFromUCallBack(converter.get(), UCNV_FROM_U_CALLBACK_STOP, nullptr, nullptr, nullptr, &status);
   }
   if (U_FAILURE(status)) throwInternal("ICU has no converter for an encoding");
   return converter;
}

/// The converter of this thread.
UConverter* converterOf(CharacterEncoding encoding) {
   static thread_local std::array<Converter, encodingCount> converters;
   Converter& converter = converters[static_cast<size_t>(encoding)];
   if (!converter) converter = open(encoding);
   return converter.get();
}

/// The characters of an encoding in which each has one byte, both ways.
struct ByteTable {
   std::array<char32_t, 256> characters{}; ///< 0: none
   std::vector<std::pair<char32_t, uint8_t>> bytes;

   explicit ByteTable(CharacterEncoding encoding) {
      UConverter* converter = converterOf(encoding);
      for (uint32_t byte = 1; byte < 256; ++byte) {
         char32_t& character = characters[byte];
         if (byte < 0x80) {
            character = byte;
         } else {
            UErrorCode status = U_ZERO_ERROR;
            const char text = static_cast<char>(byte);
            UChar units[2];
            const int32_t count = ucnv_toUChars(converter, units, 2, &text, 1, &status);
            character = U_SUCCESS(status) && count == 1 ? units[0] : 0;
         }
         const bool isControl = character >= 0x80 && character < 0xa0;
         if (isControl && !hasControls(encoding)) character = 0;
         // The byte of the feminine ordinal indicator is none of WIN1253.
         if (encoding == CharacterEncoding::Win1253 && byte == 0xaa) character = 0;
      }
      if (encoding == CharacterEncoding::Latin10)
         for (const auto& [byte, character] : latin10)
            characters[byte] = character;
      for (uint32_t byte = 0x80; byte < 256; ++byte)
         if (characters[byte]) bytes.emplace_back(characters[byte], static_cast<uint8_t>(byte));
      std::sort(bytes.begin(), bytes.end());
   }
};

const ByteTable& byteTable(CharacterEncoding encoding) {
   static thread_local std::array<std::unique_ptr<ByteTable>, encodingCount> tables;
   auto& table = tables[static_cast<size_t>(encoding)];
   if (!table) table = std::make_unique<ByteTable>(encoding);
   return *table;
}

[[noreturn]] void throwNoEquivalent(std::string_view character, CharacterEncoding from, CharacterEncoding to) {
   throw SqlError(sqlstate::untranslatableCharacter, "character with byte sequence" + bytesForError(character) +
                                                         " in encoding \"" + std::string(encodingName(from)) +
                                                         "\" has no equivalent in encoding \"" +
                                                         std::string(encodingName(to)) + "\"");
}

/// Calls `convert` for each character that is not ASCII; runs of ASCII are the same in all encodings.
template <typename Convert>
void forEachCharacter(CharacterEncoding encoding, std::string_view text, const TextSink& sink, Convert&& convert) {
   constexpr size_t bytesBetweenChecks = size_t{1} << 20;
   size_t nextCheck = bytesBetweenChecks;
   for (size_t at = 0; at < text.size();) {
      if (at >= nextCheck) {
         checkInterrupted();
         nextCheck = at + bytesBetweenChecks;
      }
      size_t end = at;
      while (end < text.size() && end < nextCheck && static_cast<uint8_t>(text[end]) < 0x80)
         ++end;
      if (end > at) sink(text.substr(at, end - at));
      at = end;
      if (at == text.size() || static_cast<uint8_t>(text[at]) < 0x80) continue;
      const std::string_view character = text.substr(at, characterBytes(encoding, text.substr(at)));
      convert(character);
      at += character.size();
   }
}

/// REQUIRES: a valid character of several bytes.
char32_t codePointOf(std::string_view utf8) {
   auto codePoint = static_cast<char32_t>(static_cast<uint8_t>(utf8[0]) & (0x7fu >> utf8.size()));
   for (const char c : utf8.substr(1))
      codePoint = codePoint << 6 | (static_cast<uint8_t>(c) & 0x3fu);
   return codePoint;
}

} // namespace

bool canConvert(CharacterEncoding encoding) {
   return converterName(encoding) != nullptr;
}

void toUtf8(CharacterEncoding encoding, std::string_view text, const TextSink& sink) {
   if (encoding == CharacterEncoding::Utf8) return sink(text);
   std::string utf8;
   const bool hasBytes = characterBytesMax(encoding) == 1;
   const ByteTable* table = hasBytes ? &byteTable(encoding) : nullptr;
   UConverter* converter = hasBytes ? nullptr : converterOf(encoding);
   forEachCharacter(encoding, text, sink, [&](std::string_view character) {
      utf8.clear();
      if (table) {
         const char32_t codePoint = table->characters[static_cast<uint8_t>(character[0])];
         if (!codePoint) throwNoEquivalent(character, encoding, CharacterEncoding::Utf8);
         appendUtf8(utf8, codePoint);
      } else {
         UErrorCode status = U_ZERO_ERROR;
         UChar units[8];
         const int32_t count =
             ucnv_toUChars(converter, units, 8, character.data(), static_cast<int32_t>(character.size()), &status);
         if (U_FAILURE(status) || count == 0) throwNoEquivalent(character, encoding, CharacterEncoding::Utf8);
         for (int32_t i = 0; i < count;) {
            UChar32 codePoint;
            U16_NEXT(units, i, count, codePoint);
            appendUtf8(utf8, static_cast<uint32_t>(codePoint));
         }
      }
      sink(utf8);
   });
}

void fromUtf8(CharacterEncoding encoding, std::string_view text, const TextSink& sink) {
   if (encoding == CharacterEncoding::Utf8) return sink(text);
   const bool hasBytes = characterBytesMax(encoding) == 1;
   const ByteTable* table = hasBytes ? &byteTable(encoding) : nullptr;
   UConverter* converter = hasBytes ? nullptr : converterOf(encoding);
   forEachCharacter(CharacterEncoding::Utf8, text, sink, [&](std::string_view character) {
      const char32_t codePoint = codePointOf(character);
      if (table) {
         const auto found =
             std::lower_bound(table->bytes.begin(), table->bytes.end(), std::pair(codePoint, uint8_t{0}));
         if (found == table->bytes.end() || found->first != codePoint)
            throwNoEquivalent(character, CharacterEncoding::Utf8, encoding);
         const char byte = static_cast<char>(found->second);
         return sink({&byte, 1});
      }
      UChar units[2];
      int32_t count = 0;
      U16_APPEND_UNSAFE(units, count, codePoint);
      UErrorCode status = U_ZERO_ERROR;
      char bytes[16];
      const int32_t size = ucnv_fromUChars(converter, bytes, sizeof bytes, units, count, &status);
      if (U_FAILURE(status) || size == 0) throwNoEquivalent(character, CharacterEncoding::Utf8, encoding);
      sink({bytes, static_cast<size_t>(size)});
   });
}

} // namespace ouzel
