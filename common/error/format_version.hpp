#pragma once
#include <cstdint>
#include <string>

namespace ouzel {

/// Throw 0A000: a stored object has a format that this server does not read. `object` begins the sentence of the
/// detail: "Block \"x\"". The hint tells which way to go.
[[noreturn, gnu::cold]] void throwUnknownFormat(const std::string& object, uint64_t found, uint64_t known);

} // namespace ouzel
