#pragma once
#include <optional>
#include <string>
#include <string_view>

// The runner's own reading of binary result values, written from PostgreSQL's send functions and not from our codec, so
// that one checks the other.

namespace ouzel::slt {

/// The text that a value of type `type` (an OID) has under PostgreSQL's default settings and in UTC, from its binary
/// form. Nothing for bytes that are no such value.
std::optional<std::string> textOfBinary(unsigned type, std::string_view bytes);
/// Whether textOfBinary() knows the type.
bool hasBinaryText(unsigned type);

} // namespace ouzel::slt
