#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/doorkeeper.hpp"

// The first messages of a connection. See "Start-up" in PostgreSQL's protocol chapter.

namespace ouzel::protocol {

struct TlsRequest {};
struct GssEncryptionRequest {};
struct CancelRequest {
   BackendKey key;
};
struct StartupPacket {
   uint16_t minorVersion = 0;
   std::vector<std::string> unknownOptions; ///< `_pq_.` options; answered with NegotiateProtocolVersion
   StartupRequest request;
};
using FirstPacket = std::variant<TlsRequest, GssEncryptionRequest, CancelRequest, StartupPacket>;

/// Decode a packet of the startup phase. Throws 08P01, 0A000, 28000 and 22021, which are FATAL for the connection.
FirstPacket parseFirstPacket(std::string_view payload);

/// Take apart the `options` parameter: `-c name=value`, `-cname=value`, `--name=value`; blanks separate, a backslash
/// keeps the next character. 42601 for any other switch.
void parseCommandLineOptions(std::string_view options, std::vector<std::pair<std::string, std::string>>& settings);

} // namespace ouzel::protocol
