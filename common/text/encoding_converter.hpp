#pragma once
#include <functional>
#include <string_view>

#include "common/text/encoding.hpp"

namespace ouzel {

/// Takes a part of the result; the parts come in order.
using TextSink = std::function<void(std::string_view)>;

/// Whether characters of the encoding can be converted to UTF-8 and back. Not: SQL_ASCII, whose bytes have no meaning,
/// and those that ICU does not have.
bool canConvert(CharacterEncoding encoding);
/// Converts between an encoding and UTF-8. Throw 22P05 for a character that the other one does not have. REQUIRES:
/// canConvert(encoding), and the text is valid.
void toUtf8(CharacterEncoding encoding, std::string_view text, const TextSink& sink);
void fromUtf8(CharacterEncoding encoding, std::string_view text, const TextSink& sink);

} // namespace ouzel
