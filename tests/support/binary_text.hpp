#pragma once
#include <optional>
#include <string>
#include <string_view>

// The runner's own decoder of binary result values. It is written from PostgreSQL's send functions and not from Ouzel's
// codec, so that each checks the other.

namespace ouzel::slt {

/// Converts a binary value of type `type` (an OID) to its text under PostgreSQL's default settings and in UTC. None for
/// bytes that are no value of the type.
std::optional<std::string> textOfBinary(unsigned type, std::string_view bytes);
/// Whether textOfBinary() knows the type.
bool hasBinaryText(unsigned type);

} // namespace ouzel::slt
