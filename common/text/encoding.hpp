#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// The character set encodings that PostgreSQL knows: names, and which bytes are characters. Text inside the server is
// UTF-8; encoding_converter.hpp converts the others.

namespace ouzel {

/// By PostgreSQL's numbers.
enum class CharacterEncoding : uint8_t {
   SqlAscii,
   EucJp,
   EucCn,
   EucKr,
   EucTw,
   EucJis2004,
   Utf8,
   MuleInternal,
   Latin1,
   Latin2,
   Latin3,
   Latin4,
   Latin5,
   Latin6,
   Latin7,
   Latin8,
   Latin9,
   Latin10,
   Win1256,
   Win1258,
   Win866,
   Win874,
   Koi8R,
   Win1251,
   Win1252,
   Iso8859_5,
   Iso8859_6,
   Iso8859_7,
   Iso8859_8,
   Win1250,
   Win1253,
   Win1254,
   Win1255,
   Win1257,
   Koi8U,
   Sjis, ///< from here on: of clients only
   Big5,
   Gbk,
   Uhc,
   Gb18030,
   Johab,
   ShiftJis2004,
};
inline constexpr int32_t encodingCount = 42;

std::optional<CharacterEncoding> encodingOf(int32_t number);
/// The encoding of a name or another name of it; letters and digits count, in any case.
std::optional<CharacterEncoding> encodingNamed(std::string_view name);
std::string_view encodingName(CharacterEncoding encoding);
/// Whether a database may have it.
constexpr bool isServerEncoding(CharacterEncoding encoding) {
   return encoding < CharacterEncoding::Sjis;
}
/// Bytes of the longest character.
int32_t characterBytesMax(CharacterEncoding encoding);

/// Bytes of the character at the start of `text`, at most text.size(). REQUIRES: text is not empty.
size_t characterBytes(CharacterEncoding encoding, std::string_view text);
/// Bytes of `text` without a character at its end of which there is only the beginning.
size_t wholeCharacterBytes(CharacterEncoding encoding, std::string_view text);
/// Throws 22021 `invalid byte sequence for encoding "EUC_JP": 0x..` unless all bytes are characters.
void checkEncoded(CharacterEncoding encoding, std::string_view text);
/// " 0x8f 0x41": the bytes of a character as errors show them.
std::string bytesForError(std::string_view character);

} // namespace ouzel
