#include "server/places.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error/sql_error.hpp"
#include "io/file/file.hpp"
#include "io/file/file_system.hpp"
#include "io/net/stream.hpp"
#include "io/spill/spill_target.hpp"
#include "io/store/open_store.hpp"
#include "server/access_rules.hpp"

namespace ouzel::server {

namespace {

[[noreturn, gnu::cold]] void fail(const char* what, const std::string& path, const char* flag, int error) {
   const std::string hint = error == ENOTDIR
                                ? fmt::format("Name a directory with {}.", flag)
                                : fmt::format("{} Or name another directory with {}.", io::adviceFor(error), flag);
   throw SqlError(sqlstate::ioError, fmt::format("cannot use {} \"{}\": {}", what, path, std::strerror(error)))
       .hint(hint);
}

std::string parentOf(const std::string& path) {
   const size_t slash = path.find_last_of('/');
   return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// A directory that the server may write to, or may make.
void requireDirectory(const char* what, std::string path, const char* flag) {
   while (path.size() > 1 && path.ends_with('/'))
      path.pop_back();
   std::string existing = path;
   struct stat status {};
   while (::stat(existing.c_str(), &status) != 0) {
      if (errno != ENOENT || existing == "." || existing == "/") fail(what, path, flag, errno);
      existing = parentOf(existing);
   }
   if (!S_ISDIR(status.st_mode)) fail(what, path, flag, ENOTDIR);
   if (::faccessat(AT_FDCWD, existing.c_str(), R_OK | W_OK | X_OK, AT_EACCESS) != 0) fail(what, path, flag, errno);
}

/// Whether a path that the options name is this entry of the directory, or below it.
bool isNamed(const ServerOptions& options, const std::string& entry) {
   const auto isBelow = [&](const std::string& path) { return path == entry || path.starts_with(entry + "/"); };
   std::string logs;
   for (const SessionSetting& setting : options.sessionSettings)
      if (setting.name == "log_directory") logs = setting.value;
   if (!logs.starts_with('/')) logs = options.dataDirectory + "/" + logs;
   return isBelow(logs) || isBelow(options.walDirectory) || isBelow(options.configurationFile) ||
          isBelow(options.passwordFile) || isBelow(options.encryptionKeyFile) || isBelow(options.tlsCertificateFile) ||
          isBelow(options.tlsKeyFile) || isBelow(options.hbaFile) || isBelow(options.identFile) ||
          isBelow(options.socketDirectory) ||
          std::any_of(options.spillTargets.begin(), options.spillTargets.end(), isBelow);
}

/// A directory without a database may hold what a start that was interrupted has left, and nothing else.
void requireNoOtherFiles(const ServerOptions& options) {
   constexpr std::string_view own[] = {"ouzel.lock", "spill",    "wal",     "writer",
                                       "table",      "database", "catalog", "lost+found"};
   for (const io::DirectoryEntry& entry : io::listDirectory(options.dataDirectory)) {
      if (entry.name.starts_with('.') || std::find(std::begin(own), std::end(own), entry.name) != std::end(own) ||
          isNamed(options, options.dataDirectory + "/" + entry.name))
         continue;
      const char* whose = entry.name == "PG_VERSION" || io::exists(options.dataDirectory + "/PG_VERSION")
                              ? "; it is a data directory of PostgreSQL, whose files Ouzel does not read"
                              : "";
      throw SqlError(sqlstate::objectNotInPrerequisiteState,
                     fmt::format("data directory \"{}\" is not empty, and holds no database", options.dataDirectory))
          .detail(fmt::format("It has \"{}\"{}.", entry.name, whose))
          .hint("Name the directory of a database with --data, or an empty one, or one that does not exist, for a new "
                "database.");
   }
}

} // namespace

void requireUsablePlaces(const ServerOptions& options) {
   bool isNew = false;
   if (!io::isRemoteStore(options.dataDirectory) && !options.readOnly) {
      requireDirectory("data directory", options.dataDirectory, "--data");
      isNew = !io::exists(options.dataDirectory + "/manifest");
      if (isNew && io::exists(options.dataDirectory)) requireNoOtherFiles(options);
   }
   if (!options.walDirectory.empty()) requireDirectory("directory of the log", options.walDirectory, "--wal");
   for (const std::string& target : options.spillTargets)
      if (!io::requireSpillAddress(target)) requireDirectory("spill directory", target, "--spill");
   if (!options.tlsCertificateFile.empty()) static_cast<void>(io::TlsContext(tlsFiles(options)));
   if (!options.hbaFile.empty()) static_cast<void>(AccessFiles::read(options));
   if (!options.socketDirectory.empty()) {
      if (!io::exists(options.socketDirectory)) fail("socket directory", options.socketDirectory, "--socket", ENOENT);
      requireDirectory("socket directory", options.socketDirectory, "--socket");
   }
   if (isNew && options.password.empty() && needsPassword(options)) throwNoPassword(options);
}

bool needsPassword(const ServerOptions& options) {
   if (!options.hbaFile.empty()) return false; // its rules decide
   return !options.trustsLoopback || !io::isLoopbackHost(options.listen);
}

void throwNoPassword(const ServerOptions& options) {
   if (!options.trustsLoopback)
      throw SqlError(sqlstate::invalidPassword,
                     "--trust-loopback off asks everybody for a password, but the user postgres has none")
          .hint("Start once with --password-file, or set OUZEL_PASSWORD_FILE or OUZEL_PASSWORD.");
   throw SqlError(sqlstate::invalidPassword,
                  fmt::format("listening on \"{}\" lets other machines connect, but the user postgres has no password",
                              options.listen))
       .hint("Start once with --password-file, or set OUZEL_PASSWORD_FILE or OUZEL_PASSWORD.");
}

} // namespace ouzel::server
