#pragma once
#include <string>

#include "engine/core/session_core.hpp"

namespace ouzel::engine {

/// What the catalog keeps of the password in CREATE and ALTER ROLE: a SCRAM-SHA-256 verifier or, with
/// password_encryption = md5, an MD5 password, made here of a plain password or by the client. A text that only
/// resembles one is a plain password. Empty: no password, which is also what an empty one becomes, with a notice.
std::string storedPassword(SessionCore& core, const std::string& role, const std::string& password);

} // namespace ouzel::engine
