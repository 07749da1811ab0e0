#pragma once
#include "server/options.hpp"

namespace ouzel::server {

/// What keeps a server with these options from working is told before it makes anything: directories that cannot be
/// used, or that hold something else, certificates, and a missing password. Throws SqlError.
void requireUsablePlaces(const ServerOptions& options);

/// The error of a server that others can reach though its superuser has no password.
[[noreturn]] void throwNoPassword(const ServerOptions& options);

} // namespace ouzel::server
