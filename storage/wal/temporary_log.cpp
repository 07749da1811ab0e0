#include "storage/wal/temporary_log.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace ouzel::storage {

namespace {

constexpr const char* prefix = "ouzel-log-";
constexpr const char* aliveName = "/alive";

/// Whether the process that made the directory has ended. A directory without the file "alive" is still being made.
bool isLeftBehind(const std::string& directory) {
   try {
      io::File alive(directory + aliveName, io::File::Mode::Read);
      return alive.tryLock();
   } catch (const std::exception&) {
      return false;
   }
}

} // namespace

TemporaryLog::TemporaryLog() {
   std::error_code ignored;
   const std::filesystem::path root = std::filesystem::temp_directory_path();
   for (const auto& entry : std::filesystem::directory_iterator(root, ignored))
      if (entry.path().filename().string().starts_with(prefix) && isLeftBehind(entry.path().string()))
         std::filesystem::remove_all(entry.path(), ignored);
   path_ = (root / (std::string(prefix) + "XXXXXX")).string();
   if (::mkdtemp(path_.data()) == nullptr) io::throwIoError("could not create directory", path_, errno);
   // Locked first and renamed then: no other process sees the file unlocked.
   const std::string name = path_ + aliveName;
   alive_ = io::File(name + ".new", io::File::Mode::CreateNew);
   static_cast<void>(alive_.tryLock());
   io::renameFile(name + ".new", name);
}

TemporaryLog::~TemporaryLog() {
   std::error_code ignored;
   std::filesystem::remove_all(path_, ignored);
}

} // namespace ouzel::storage
