#pragma once
#include <string>
#include <string_view>

// Messages of OpenPGP (RFC 4880) that are encrypted with a password.

namespace ouzel::executor {

struct PgpOptions {
   int cipher = 7;    ///< AES with 128 bits
   int s2kMode = 3;   ///< 0 simple, 1 salted, 3 iterated and salted
   int s2kCount = 0;  ///< bytes to hash; 0: some number between 65,536 and 253,952
   int s2kDigest = 2; ///< SHA-1
   int s2kCipher = 0; ///< of the session key; 0: `cipher`
   int compression = 0, compressionLevel = 6;
   bool convertsLineEnds = false, hasChecksum = true, hasSessionKey = false, isUnicode = false;
};

/// Reads "cipher-algo=aes256, compress-algo=1". Throws 39000 for what is no option.
PgpOptions pgpOptions(std::string_view text);
std::string pgpEncrypt(std::string_view data, bool isText, std::string_view password, const PgpOptions& options);
/// Throws 39000 for a wrong password, a damaged message, or binary data where text is wanted.
std::string pgpDecrypt(std::string_view message, bool isText, std::string_view password, const PgpOptions& options);

} // namespace ouzel::executor
