#include "engine/core/server_files.hpp"

#include <filesystem>

#include "catalog/pg_catalog/functions.hpp"
#include "io/store/open_store.hpp"

// The server's directories, for functions that read its files.

namespace ouzel::engine {

namespace {

namespace fs = std::filesystem;

/// Where relative paths begin: the database, or the log of a database in a bucket.
std::string baseDirectory(const DatabaseOptions& options) {
   return io::isRemoteStore(options.dataDirectory) ? options.walDirectory : options.dataDirectory;
}

bool isBelow(const fs::path& path, const fs::path& directory) {
   const fs::path relative = path.lexically_relative(directory);
   return !relative.empty() && *relative.begin() != "..";
}

} // namespace

std::string serverDirectory(SessionCore& core, std::string_view kind) {
   const DatabaseOptions& options = core.database.options;
   if (kind == "wal") {
      if (!options.walDirectory.empty()) return options.walDirectory;
      return io::isRemoteStore(options.dataDirectory) ? std::string() : options.dataDirectory + "/wal";
   }
   if (kind == "spill") {
      const auto devices = core.database.spill->devices();
      return devices.empty() || io::isRemoteStore(devices.front().name) ? std::string() : devices.front().name;
   }
   if (kind.empty()) return {};
   if (kind == "log") return (fs::path(baseDirectory(options)) / core.settings.show("log_directory")).string();
   return baseDirectory(options);
}

std::string serverFile(SessionCore& core, std::string_view path) {
   constexpr Oid readServerFiles = 4569; // pg_authid.dat
   const std::string base = baseDirectory(core.database.options);
   if (base.empty()) throwNotSupported("files of a server that keeps none");
   const fs::path home = fs::absolute(base).lexically_normal();
   const fs::path given(path), whole = (given.is_absolute() ? given : home / given).lexically_normal();
   if (catalog::hasRole(core.transaction.catalog(), core.role(), readServerFiles, "USAGE")) return whole.string();
   if (given.is_absolute() && !isBelow(whole, home) && !isBelow(whole, serverDirectory(core, "log")))
      throw SqlError(sqlstate::insufficientPrivilege, "absolute path not allowed");
   if (!given.is_absolute() && !isBelow(whole, home))
      throw SqlError(sqlstate::insufficientPrivilege, "path must be in or below the current directory");
   return whole.string();
}

} // namespace ouzel::engine
