#include "server/server_log.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

#include "common/audit/audit.hpp"
#include "common/log/log.hpp"
#include "common/text/ascii.hpp"
#include "engine/setting/log_settings.hpp"
#include "io/store/open_store.hpp"

namespace ouzel::server {

namespace {

/// Where a relative log_directory begins.
std::string baseDirectory(const ServerOptions& options) {
   return io::isRemoteStore(options.dataDirectory) ? options.walDirectory : options.dataDirectory;
}

LogSettings logSettingsOf(const ServerOptions& options) {
   return engine::logSettings(configuredSettings(options), baseDirectory(options));
}

AuditSettings auditSettingsOf(const ServerOptions& options) {
   return engine::auditSettings(configuredSettings(options), baseDirectory(options));
}

} // namespace

std::vector<std::pair<std::string, std::string>> configuredSettings(const ServerOptions& options) {
   // What SHOW tells of the server. Which port is free is not known yet.
   std::vector<std::pair<std::string, std::string>> settings{
       {"listen_addresses", options.listen},
       {"max_connections", std::to_string(options.connectionsMax)},
       {"superuser_reserved_connections", std::to_string(options.reservedConnections)},
       {"data_directory", options.dataDirectory},
       {"hba_file", options.hbaFile},
       {"ident_file", options.identFile},
       {"unix_socket_directories", options.socketDirectory},
       {"ssl", options.tlsCertificateFile.empty() ? "off" : "on"},
       {"ssl_cert_file", options.tlsCertificateFile},
       {"ssl_key_file", options.tlsKeyFile},
       {"ssl_ca_file", options.tlsAuthoritiesFile}};
   if (options.checkpointWalSize != 0) { // PostgreSQL's has at least 2 MB
      const size_t megabytes = std::max<size_t>(options.checkpointWalSize >> 20, 2);
      settings.emplace_back("max_wal_size", std::to_string(megabytes) + "MB");
   }
   if (options.port != 0) settings.emplace_back("port", std::to_string(options.port));
   bool hasDirectory = false, hasCollector = false;
   for (const SessionSetting& setting : options.sessionSettings) {
      settings.emplace_back(setting.name, setting.value);
      hasDirectory = hasDirectory || lowerCase(setting.name) == "log_directory";
      hasCollector = hasCollector || lowerCase(setting.name) == "logging_collector";
   }
   if (hasDirectory && !hasCollector) settings.emplace_back("logging_collector", "on");
   return settings;
}

void checkSettings(const ServerOptions& options) {
   for (const SessionSetting& setting : options.sessionSettings) {
      try {
         engine::Database::checkSetting(setting.name, setting.value);
      } catch (const SqlError& error) {
         const std::string similar = similarOption(setting.name);
         throw UsageError(fmt::format("{}: {}{}{}", setting.source, error.what(),
                                      error.detailText().empty() ? "" : "; " + error.detailText(),
                                      similar.empty() ? "" : fmt::format("; perhaps you mean {}", similar)));
      }
   }
   try {
      static_cast<void>(logSettingsOf(options));
      static_cast<void>(auditSettingsOf(options));
   } catch (const SqlError& error) {
      throw UsageError(fmt::format("{}; {} {}", error.what(), error.detailText(), error.hintText()));
   }
}

void openLog(const ServerOptions& options) {
   const LogSettings settings = logSettingsOf(options);
   configureLog(LogSettings());
   if (settings.usesFiles)
      logRecord({.level = LogLevel::Log,
                 .message = "redirecting log output to files",
                 .hint = fmt::format("Future log output will appear in directory \"{}\".", settings.directory)});
   configureLog(settings);
}

void openAudit(const ServerOptions& options) {
   configureAudit(auditSettingsOf(options));
}

void logStart(const ServerOptions& options) {
   logLine(LogLevel::Log, fmt::format("starting Ouzel {} on {}, compiled by {} {}, {}-bit", OUZEL_VERSION,
                                      OUZEL_MACHINE, OUZEL_COMPILER, __VERSION__, sizeof(void*) * 8));
   std::string place = fmt::format("the database is in \"{}\"", options.dataDirectory);
   if (!options.walDirectory.empty()) place += fmt::format(", its log in \"{}\"", options.walDirectory);
   if (options.encryptionKey) place += ", encrypted";
   if (options.readOnly) place += ", read-only";
   logLine(LogLevel::Log, place);
   if (!options.hbaFile.empty())
      logLine(LogLevel::Log, fmt::format("who may come in is read from \"{}\"", options.hbaFile));
   if (!options.configurationFile.empty())
      logLine(LogLevel::Log, fmt::format("settings are read from \"{}\"", options.configurationFile));
   logLine(LogLevel::Log, fmt::format("at most {} connections, {} statements at a time", options.connectionsMax,
                                      options.sessionThreadsMax));
}

void logListeners(const Server& server) {
   for (const io::ListeningSocket& listener : server.listeners()) {
      if (listener.address.isLocal) {
         logLine(LogLevel::Log, fmt::format("listening on Unix socket \"{}\"", listener.address.text));
         continue;
      }
      const std::string& text = listener.address.text; // "127.0.0.1:5432", "[::1]:5432"
      std::string host = text.substr(0, text.rfind(':'));
      const bool isVersion6 = host.starts_with('[');
      if (isVersion6) host = host.substr(1, host.size() - 2);
      logLine(LogLevel::Log, fmt::format("listening on IPv{} address \"{}\", port {}", isVersion6 ? 6 : 4, host,
                                         listener.address.port));
   }
}

void reload(const std::vector<std::string>& arguments, engine::Database& database, Server& server) {
   logLine(LogLevel::Log, "received SIGHUP, reloading configuration files");
   try {
      const auto options =
          parseServeOptions(arguments, [](const char* name) -> const char* { return std::getenv(name); });
      checkSettings(*options);
      // Whether there are files is decided at the start. Files that cannot be opened leave all as it was.
      database.setDefaults(configuredSettings(*options),
                           [&](const std::vector<std::pair<std::string, std::string>>& settings) {
                              configureLog(engine::logSettings(settings, baseDirectory(*options)));
                              reopenLog();
                              configureAudit(engine::auditSettings(settings, baseDirectory(*options)));
                           });
      server.reload(*options);
   } catch (const UsageError& error) {
      logRecord({.level = LogLevel::Error,
                 .message = "the configuration contains errors; no changes were applied",
                 .detail = error.what()});
   } catch (const SqlError& error) {
      logRecord({.level = LogLevel::Error, .message = error.what(), .state = error.state().text()});
   }
}

} // namespace ouzel::server
