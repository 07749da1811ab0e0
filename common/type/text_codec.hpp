#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "common/memory/arena.hpp"
#include "common/text/parse_status.hpp"
#include "common/type/session_format.hpp"
#include "common/value/sql_type.hpp"
#include "common/value/value.hpp"
#include "common/value/vector.hpp"

// Values as text, as PostgreSQL's input and output functions. bpchar(n) lies in memory without its trailing blanks;
// the functions here and of blanks.hpp pad it to n characters. An array's text is that of array.hpp's bytes.

namespace ouzel {

/// Append the text of one value (not NULL), which lies at `value` in the given representation.
void appendText(std::string& out, const SqlType& type, Representation representation, const void* value,
                const SessionFormat& format);

/// Append the values of the selected rows one after the other, and the size of `bytes` after the i-th to ends[i]. NULL
/// rows append nothing. One branch on the type per call.
void appendTextColumn(std::string& bytes, uint32_t* ends, const SqlType& type, Representation representation,
                      const Vector& values, const Selection& selection, const SessionFormat& format);

/// The input function: a value in storedRepresentation(type). The typmod is applied as on assignment (22001 for a
/// varchar that is too long). Throws 22P02, 22003, 22007, 22008, 22P03, ... with PostgreSQL's words.
Value parseText(const SqlType& type, std::string_view text, const SessionFormat& format);
/// parseText to a place in a flat vector of storedRepresentation(type); bytes of long strings go to the arena.
void parseTextInto(void* target, const SqlType& type, std::string_view text, const SessionFormat& format, Arena& arena);

/// parseText for an element of an array or a field of a row: a numeric is a Decimal even where a column of its type
/// would be scaled, and a character(n) has its blanks.
Value parsePart(const SqlType& type, std::string_view text, const SessionFormat& format);

std::string textOf(const SqlType& type, const Value& value, const SessionFormat& format);

// ---- length modifiers of strings ----

/// varchar(n), bpchar(n) from a typmod; -1: none.
constexpr int32_t stringLengthLimit(int32_t typmod) {
   return typmod < 4 ? -1 : typmod - 4;
}
/// Bytes of the first `count` characters.
size_t bytesOfCharacters(std::string_view text, uint32_t count);
/// varchar(n): an explicit cast cuts the text; an assignment may cut only blanks and otherwise throws 22001.
std::string_view applyVarcharTypmod(std::string_view text, int32_t typmod, bool isExplicit);
/// bpchar(n): as varchar(n), and the result has no trailing blanks. Without n the text stays as it is.
std::string_view applyBpcharTypmod(std::string_view text, int32_t typmod, bool isExplicit);
std::string_view trimTrailingBlanks(std::string_view text);
/// name: at most 63 bytes, whole characters.
std::string_view truncateName(std::string_view text);

// ---- single types, for kernels ----

ParseStatus parseBoolean(std::string_view text, bool& out);
bool parseUuid(std::string_view text, int128& out); ///< in the I128 form of physical_type.hpp
void appendUuid(std::string& out, int128 v);
/// "char": the byte that \ooo names in octal, or the first one; a zero byte is the empty text. `byte`: where to put it.
std::string_view parseChar(std::string_view text, char& byte);
/// Bytes from 0x80 on, of which a text has several for a character, as \ooo.
void appendChar(std::string& out, std::string_view byte);
void appendBytea(std::string& out, std::string_view bytes, ByteaOutput style);
/// bytea_in: \x hex or the escape form. Throws 22P02, 22023.
std::string parseBytea(std::string_view text);

// ---- columns of COPY: no exceptions, no session, only the plain forms; on false the caller calls parseText ----

/// Parse one field into a flat vector of storedRepresentation(type). False: not a plain form, call parseTextInto.
using FieldParser = bool (*)(void* target, std::string_view text, int32_t typmod, Arena& arena);
/// Null if the type has none.
FieldParser fieldParser(const SqlType& type);
/// [-]digits[.digits] with at most `scale` digits after the point and `precision` in all.
bool parseScaled(std::string_view text, int32_t precision, int32_t scale, int64_t& out);
bool parseScaled(std::string_view text, int32_t precision, int32_t scale, int128& out);

} // namespace ouzel
