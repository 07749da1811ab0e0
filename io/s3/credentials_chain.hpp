#pragma once
#include <optional>
#include <string>

#include "io/http/blocking_call.hpp"
#include "io/s3/signer.hpp"

// Helpers of the sources in which findCredentials() looks. For this folder only.

namespace ouzel::io {

/// Credentials of the role AWS_ROLE_ARN from STS, in exchange for the token in the file AWS_WEB_IDENTITY_TOKEN_FILE,
/// which is read anew each time. None when no file is named; other missing settings and refusals throw.
std::optional<Credentials> fromWebIdentity();

/// The value of an environment variable; empty when it is not set.
std::string environment(const char* name);
/// The first 64 KiB of a file, without blanks around the text. Throws 58030.
std::string readToken(const std::string& path);
/// A GET of an URL from the environment. Throws 22023 with the setting's name when the text is no URL.
HttpCall callTo(const std::string& url, const std::string& setting);

} // namespace ouzel::io
