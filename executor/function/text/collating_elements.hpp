#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace ouzel::executor {

/// The character that POSIX's portable character set gives this name, as in [[.hyphen.]].
std::optional<uint32_t> collatingElement(std::string_view name);

} // namespace ouzel::executor
