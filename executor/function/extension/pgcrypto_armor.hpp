#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The ASCII armor of OpenPGP (RFC 4880, section 6).

namespace ouzel::executor {

struct ArmorParts {
   std::vector<std::pair<std::string, std::string>> headers;
   std::string data;
};

/// Throws 39000 for a text that is no armor, or whose checksum is wrong.
ArmorParts readArmor(std::string_view text);
/// The headers alone; the data may be damaged.
std::vector<std::pair<std::string, std::string>> readArmorHeaders(std::string_view text);

} // namespace ouzel::executor
