#pragma once
#include <cstdint>
#include <string>

namespace ouzel::server {

/// Check that the server at this address takes clients: returns the reason why it does not, or an empty text. Opens a
/// session as a client would and leaves it at once. Any answer counts as ready, except 57P03 (the server starts or
/// shuts down). Blocks up to `timeoutMs`.
std::string whyNotReady(const std::string& host, uint16_t port, int timeoutMs);

} // namespace ouzel::server
