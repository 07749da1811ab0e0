#pragma once

namespace ouzel::server {

/// Tell systemd, or what else speaks its protocol, about the process: "READY=1", "STOPPING=1" (sd_notify(3)). Does
/// nothing when the environment names no socket (NOTIFY_SOCKET). A manager that does not listen is not worth an error.
void notifyServiceManager(const char* state);

} // namespace ouzel::server
