#include "common/log/rotation.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "common/log/time_text.hpp"

namespace ouzel {

namespace {
constexpr int64_t second = 1'000'000;
} // namespace

std::string filePathAt(const LogFileSettings& settings, int64_t time) {
   return settings.directory + "/" + timeText(settings.zone, time, settings.filename);
}

int64_t nextRotation(const LogFileSettings& settings, int64_t now) {
   if (settings.rotationSeconds == 0) return INT64_MAX;
   const int64_t offset = settings.zone ? settings.zone(now).seconds : 0;
   const int64_t local = unixSeconds(now) + offset;
   const int64_t next = local - local % settings.rotationSeconds + settings.rotationSeconds;
   const int64_t at = now + (next - local) * second;
   return at - at % second;
}

int openAppending(const std::string& path, const LogFileSettings& settings, bool truncates) {
   const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (truncates ? O_TRUNC : 0);
   const int handle = ::open(path.c_str(), flags, static_cast<mode_t>(settings.fileMode));
   if (handle >= 0) ::fchmod(handle, static_cast<mode_t>(settings.fileMode)); // in spite of the umask, as PostgreSQL's
   return handle;
}

bool makeDirectories(const std::string& path) {
   for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
      if (::mkdir(path.substr(0, slash).c_str(), 0700) != 0 && errno != EEXIST) return false;
      if (slash == std::string::npos) return true;
   }
}

std::string fileProblem(const char* what, const std::string& path) {
   return fmt::format("could not {} \"{}\": {}", what, path, std::strerror(errno));
}

} // namespace ouzel
