#pragma once
#include <cstdint>
#include <string>

namespace ouzel {

/// The two ends of a client's connection: numeric addresses and ports. Empty and -1: no client.
struct Endpoints {
   std::string clientAddress, serverAddress;
   int32_t clientPort = -1, serverPort = -1;
};

} // namespace ouzel
