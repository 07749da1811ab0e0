#pragma once
#include <optional>
#include <string_view>

#include "common/base_type/network_address.hpp"

namespace ouzel {

/// Reads an address and its prefix as inet_net_pton() does, and networks as inet_cidr_pton(): "10.1" is 10.1.0.0/16.
/// Nullopt: the text is no address. The bits behind the prefix are not looked at.
std::optional<NetworkAddress> parseNetworkAddress(std::string_view text, bool isCidr);

} // namespace ouzel
