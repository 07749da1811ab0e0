#pragma once
#include <openssl/types.h>
#include <string>
#include <vector>

namespace ouzel::io {

/// PEM files of a server.
struct TlsFiles {
   std::string certificate, key;
   std::string authorities; ///< whose certificates of clients are trusted; empty: clients are not asked for any
};

/// Load the files into a context. Throws F0000 when they cannot be used, or when others can read the key.
void loadTlsFiles(SSL_CTX* context, const TlsFiles& files);

/// What clients will complain of, though the files can be used: a certificate whose time is over or has not come.
std::vector<std::string> tlsWarnings(SSL_CTX* context, const TlsFiles& files);

} // namespace ouzel::io
