#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/configuration_file.hpp"
#include "server/usage_error.hpp"

// Settings of the process. One table (options.cpp) defines them for the command line (`--memory-limit 4GB`), the
// configuration file (`memory_limit = 4GB`) and the environment (`OUZEL_MEMORY_LIMIT=4GB`); the command line wins over
// the environment, the environment over the file.

namespace ouzel::io {
class EncryptionKey;
struct TlsFiles;
} // namespace ouzel::io

namespace ouzel::server {

/// A default of a session setting.
struct SessionSetting {
   std::string name, value;
   std::string source; ///< where it was given, for errors: "ouzel.conf:3: work_mem"
};

struct ServerOptions {
   std::string dataDirectory;
   std::string walDirectory; ///< empty: inside the data directory, or no log for a bucket
   std::string encryptionKeyFile;
   std::shared_ptr<const io::EncryptionKey> encryptionKey; ///< null: the database is not encrypted
   size_t checkpointWalSize = 0;                           ///< bytes; 0: storage's default
   uint32_t leaseSeconds = 10;
   bool readOnly = false;
   bool takeOver = false;
   std::string listen = "127.0.0.1";
   uint16_t port = 5432;
   std::optional<uint16_t> metricsPort; ///< none: no metrics
   uint32_t threads = 0;                ///< 0: one per core
   size_t memoryLimit = 0;              ///< bytes; 0: 80 % of the machine's
   std::vector<std::string> spillTargets;
   std::string cacheDirectory; ///< empty: no cache of the bucket's objects
   size_t cacheSize = 0;       ///< bytes
   uint32_t connectionsMax = 2000;
   uint32_t reservedConnections = 3; ///< of connectionsMax, for superusers
   uint32_t sessionThreadsMax = 256;
   std::string password;     ///< for the superuser, stored at start when given
   std::string passwordFile; ///< where `password` was read from
   std::string tlsCertificateFile, tlsKeyFile;
   std::string tlsAuthoritiesFile; ///< empty: certificates of clients are not asked for
   enum class ClientCertificates : uint8_t { Off, VerifyCa, VerifyFull };
   ClientCertificates clientCertificates = ClientCertificates::Off; ///< what clients of TLS have to show
   bool requiresTls = false;
   bool trustsLoopback = true; ///< clients of this machine need no password
   bool isLoopbackGiven = false;
   std::string hbaFile, identFile;           ///< empty: none; without hbaFile the options above decide
   std::string socketDirectory;              ///< empty: no Unix-domain socket
   uint32_t authenticationDelayMillis = 100; ///< before the answer to a first wrong password
   std::string configurationFile;            ///< empty: none
   /// Other settings of the configuration file: defaults of session settings. The engine knows which there are
   /// (engine::Database::checkSetting).
   std::vector<SessionSetting> sessionSettings;
   struct Warning {
      std::string message, hint;
   };
   std::vector<Warning> warnings; ///< what is allowed, but hardly meant; for the log
};

using EnvironmentLookup = const char* (*)(const char* name);

/// The variables of the environment that begin with OUZEL_ and that nothing reads: misspelt ones. Those that Kubernetes
/// makes for a service named ouzel are not among them.
std::vector<std::string> unknownVariables(const char* const* environment);
/// An option whose name in the configuration file begins with `name` or differs from it by at most two letters; empty:
/// there is none.
std::string similarOption(std::string_view name);

/// `arguments` without program name and command. Reads the configuration file when one is named. nullopt: --help.
std::optional<ServerOptions> parseServeOptions(const std::vector<std::string>& arguments,
                                               EnvironmentLookup environment);
/// The key in the file, or, when none is named, in OUZEL_ENCRYPTION_KEY; null: there is none. Throws UsageError.
std::shared_ptr<const io::EncryptionKey> readEncryptionKey(const std::string& file, EnvironmentLookup environment);
io::TlsFiles tlsFiles(const ServerOptions& options);
/// The help text of `ouzel serve`.
std::string serveHelp();

/// "4GB", "512MB", "100kB", "1TB", "1073741824": a size in bytes, units of 1024. Throws UsageError.
size_t parseSize(std::string_view text);

} // namespace ouzel::server
