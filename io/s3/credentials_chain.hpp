#pragma once
#include <optional>
#include <string>

#include "io/http/blocking_call.hpp"
#include "io/s3/signer.hpp"

// What the places share in which credentials are looked for. For findCredentials() only.

namespace ouzel::io {

/// A role by web identity: the token of the file AWS_WEB_IDENTITY_TOKEN_FILE, read anew each time, is exchanged at STS
/// for credentials of the role AWS_ROLE_ARN. Nothing when no file is named; whatever else is missing or refused throws.
std::optional<Credentials> fromWebIdentity();

/// Empty when it is not set.
std::string environment(const char* name);
/// What a file holds, at most 64 KiB of it, without blanks around it. Throws 58030.
std::string readToken(const std::string& path);
/// A GET of an address that the environment gives. Throws 22023 with the setting's name when it is none.
HttpCall callTo(const std::string& url, const std::string& setting);

} // namespace ouzel::io
