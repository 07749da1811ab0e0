#pragma once
#include <string>
#include <vector>

#include "engine/core/database.hpp"
#include "server/options.hpp"
#include "server/server.hpp"

// What the process itself tells the log: its start, its addresses, the configuration that it reads.

namespace ouzel::server {

/// The values of settings that the configuration gives, for the engine. Files for the log are wanted when log_directory
/// is given, unless logging_collector says otherwise.
std::vector<std::pair<std::string, std::string>> configuredSettings(const ServerOptions& options);
/// Throws UsageError if a session could not begin with these settings, or the log could not be written so.
void checkSettings(const ServerOptions& options);
/// The log as the options want it, from the next line on. Throws SqlError when its files cannot be opened.
void openLog(const ServerOptions& options);
/// The same for the audit.
void openAudit(const ServerOptions& options);

void logStart(const ServerOptions& options);
void logListeners(const Server& server);
/// SIGHUP: read the configuration and certificates again, and open the log's files anew. A wrong configuration is told
/// to the log and changes nothing.
void reload(const std::vector<std::string>& arguments, engine::Database& database, Server& server);

} // namespace ouzel::server
