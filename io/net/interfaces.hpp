#pragma once
#include <string>
#include <vector>

namespace ouzel::io {

/// An address of this machine and the mask of its network, both numeric: "192.168.1.7", "255.255.255.0".
struct InterfaceAddress {
   std::string address, mask;
};

/// The IPv4 and IPv6 addresses of all interfaces that have one; empty if the system does not tell.
std::vector<InterfaceAddress> interfaceAddresses();

} // namespace ouzel::io
