#include "engine/core/server_files.hpp"

#include <filesystem>

#include "io/store/open_store.hpp"

// The server's directories, for functions that read its files.

namespace ouzel::engine {

namespace {

namespace fs = std::filesystem;

/// Where relative paths begin: the database, or the log of a database in a bucket.
std::string baseDirectory(const DatabaseOptions& options) {
   return io::isRemoteStore(options.dataDirectory) ? options.walDirectory : options.dataDirectory;
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
   if (kind == "log") return (fs::path(baseDirectory(options)) / core.settings.show("log_directory")).string();
   return {};
}

std::string serverFile(SessionCore& core, std::string_view path) {
   const std::string base = baseDirectory(core.database.options);
   if (base.empty()) throwNotSupported("files of a server that keeps none");
   return (fs::absolute(base) / path).lexically_normal().string();
}

} // namespace ouzel::engine
