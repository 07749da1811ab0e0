#pragma once
// A self-signed certificate made at the server's start, so that clients can be tested with verification.
#include <memory>
#include <string>
#include <vector>

using SSL_CTX = struct ssl_ctx_st;

namespace ouzel::object_server {

/// Makes a server context with a new certificate for `names` (addresses or host names), and writes the certificate as
/// PEM to `path`, for clients to trust. Throws std::runtime_error.
std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> makeTlsContext(const std::vector<std::string>& names,
                                                            const std::string& path);

} // namespace ouzel::object_server
