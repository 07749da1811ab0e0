#pragma once
#include <cstdint>
#include <string>

namespace ouzel::server {

/// Why the server at this address does not take clients now; empty: it does. Opens a session as a client would and
/// leaves it at once: an answer of any kind will do, but for 57P03 (it starts or shuts down). Blocks up to `timeoutMs`.
std::string whyNotReady(const std::string& host, uint16_t port, int timeoutMs);

} // namespace ouzel::server
