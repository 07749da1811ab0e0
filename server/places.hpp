#pragma once
#include "server/options.hpp"

namespace ouzel::server {

/// What keeps a server with these options from working is told before it makes anything: directories that cannot be
/// used, or that hold something else, certificates, and a missing password. Throws SqlError.
void requireUsablePlaces(const ServerOptions& options);

/// Whether somebody has to know the password of the superuser to get in.
bool needsPassword(const ServerOptions& options);
/// The error of a server that asks for a password which its superuser does not have.
[[noreturn]] void throwNoPassword(const ServerOptions& options);

} // namespace ouzel::server
