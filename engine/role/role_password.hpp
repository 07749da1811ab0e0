#pragma once
#include <string>

#include "engine/core/session_core.hpp"

namespace ouzel::engine {

/// What the catalog keeps of the password in CREATE and ALTER ROLE: a SCRAM-SHA-256 verifier, made here of a plain
/// password or by the client. A text that only resembles a verifier is a plain password. Empty: no password, which is
/// also what an empty one becomes, with a notice. Throws 0A000 for MD5.
std::string storedPassword(SessionCore& core, const std::string& password);

} // namespace ouzel::engine
