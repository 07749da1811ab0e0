#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// UTF-8: the only encoding of text inside the server.

namespace ouzel {

/// Offset of the first byte that is not valid UTF-8 as PostgreSQL defines it (shortest form, no surrogates, at most
/// U+10FFFF, no NUL byte); text.size() when the whole text is valid.
size_t findInvalidUtf8(std::string_view text);

/// Throw 22021 `invalid byte sequence for encoding "UTF8": 0x..` unless the text is valid.
void checkUtf8(std::string_view text);

/// Append the bytes of a code point. REQUIRES: it is one: at most U+10FFFF and no surrogate.
void appendUtf8(std::string& out, uint32_t codePoint);

/// Characters (code points) in valid UTF-8. A long text takes a tenth of a millisecond for a megabyte; after each
/// sixteen of them checkInterrupted() is called.
uint32_t characterCount(std::string_view text);

} // namespace ouzel
