#include "common/log/files.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "common/env/clock.hpp"
#include "common/log/rotation.hpp"

namespace ouzel {

namespace {

constexpr int64_t second = 1'000'000;
constexpr int patienceFactor = 5; // for all of what is written, when each piece has its patience
constexpr std::string_view endings[logFormats] = {".log", ".csv", ".json"};

uint64_t countLines(std::string_view lines) {
   return static_cast<uint64_t>(std::count(lines.begin(), lines.end(), '\n'));
}

} // namespace

size_t writeFully(int handle, std::string_view bytes, int patienceMs) noexcept {
   struct stat status {};
   // A pipe that poll() calls writable takes this much at once; a file takes all.
   const bool isFile = ::fstat(handle, &status) == 0 && S_ISREG(status.st_mode);
   const int64_t giveUpAt = steadyNanos() + int64_t{patienceMs} * patienceFactor * 1'000'000;
   size_t done = 0;
   while (done < bytes.size()) {
      std::string_view piece = bytes.substr(done);
      if (!isFile) {
         pollfd entry{handle, POLLOUT, 0};
         const int ready = ::poll(&entry, 1, patienceMs);
         if (ready < 0 && errno == EINTR) continue;
         if (ready <= 0 || (patienceMs > 0 && steadyNanos() > giveUpAt)) {
            errno = EAGAIN;
            return done;
         }
         piece = piece.substr(0, PIPE_BUF);
         if (const size_t end = piece.rfind('\n'); end != std::string_view::npos) piece = piece.substr(0, end + 1);
      }
      const ssize_t written = ::write(handle, piece.data(), piece.size());
      if (written >= 0)
         done += static_cast<size_t>(written);
      else if (errno != EINTR && errno != EAGAIN)
         return done;
   }
   return done;
}

std::string LogFiles::pathAt(LogFormat format, int64_t time) const {
   std::string path = filePathAt(settings_, time);
   if (format == LogFormat::Text) return path;
   if (path.ends_with(endings[0])) path.resize(path.size() - endings[0].size());
   return path.append(endings[static_cast<size_t>(format)]);
}

std::string LogFiles::openOne(LogFormat format, const std::string& path, bool truncates) {
   File& file = files_[static_cast<size_t>(format)];
   const int handle = openAppending(path, settings_, truncates && path != file.path);
   if (handle < 0) return fileProblem("open log file", path);
   if (format == LogFormat::Text) {
      if (stderr_ < 0) stderr_ = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
      const int moved = ::dup2(handle, STDERR_FILENO);
      ::close(handle);
      if (moved < 0) return fileProblem("write to log file", path);
      file.handle = STDERR_FILENO;
   } else {
      if (file.handle >= 0) ::close(file.handle);
      file.handle = handle;
   }
   file.path = path;
   struct stat status {};
   file.bytes = ::fstat(file.handle, &status) == 0 ? status.st_size : 0;
   return "";
}

std::string LogFiles::openAll(int64_t time, bool truncates) {
   std::string failed;
   for (size_t i = 0; i < logFormats; ++i) {
      const auto format = static_cast<LogFormat>(i);
      File& file = files_[i];
      // The text file is there in any case, for what comes without a format.
      if (format == LogFormat::Text || settings_.writes[i]) {
         if (std::string why = openOne(format, pathAt(format, time), truncates); !why.empty()) failed = why;
      } else if (file.handle >= 0) {
         ::close(file.handle);
         file = File();
      }
   }
   return failed;
}

void LogFiles::closeAll() {
   if (stderr_ >= 0) {
      ::dup2(stderr_, STDERR_FILENO);
      ::close(std::exchange(stderr_, -1));
   }
   for (File& file : files_) {
      if (file.handle >= 0 && file.handle != STDERR_FILENO) ::close(file.handle);
      file = File();
   }
}

std::string LogFiles::configure(const LogSettings& settings, int64_t now) {
   const LogSettings before = std::exchange(settings_, settings);
   if (!settings_.usesFiles) {
      closeAll();
      return "";
   }
   std::string failure;
   if (!makeDirectories(settings_.directory))
      failure = fileProblem("create log directory", settings_.directory);
   else
      failure = openAll(now, false);
   if (!failure.empty()) settings_ = before; // the log goes on as it was
   rotateAt_ = nextRotation(settings_, now);
   return failure;
}

std::string LogFiles::reopen(int64_t now) {
   if (!settings_.usesFiles) return "";
   rotateAt_ = nextRotation(settings_, now);
   return openAll(now, false);
}

void LogFiles::rotateIfDue(int64_t now) {
   if (!settings_.usesFiles) return;
   if (now >= rotateAt_) {
      rotateAt_ = nextRotation(settings_, now);
      // The name is that of the last time when a turn was due, so that names are regular.
      static_cast<void>(openAll(rotateAt_ - settings_.rotationSeconds * second, settings_.truncates));
      return;
   }
   if (settings_.rotationBytes == 0) return;
   for (size_t i = 0; i < logFormats; ++i) {
      const auto format = static_cast<LogFormat>(i);
      if (files_[i].handle < 0 || files_[i].bytes < settings_.rotationBytes) continue;
      const std::string next = pathAt(format, now);
      if (next != files_[i].path) static_cast<void>(openOne(format, next, false));
   }
}

bool LogFiles::isStalled() const {
   pollfd entry{STDERR_FILENO, POLLOUT, 0};
   return isStalled_ && ::poll(&entry, 1, 0) == 0;
}

uint64_t LogFiles::write(LogFormat format, std::string_view lines, int64_t now) {
   rotateIfDue(now);
   File& file = files_[static_cast<size_t>(format)];
   int handle = file.handle;
   if (settings_.usesFiles && handle >= 0) {
      if (writeFully(handle, lines) == lines.size()) {
         file.bytes += static_cast<int64_t>(lines.size());
         return 0;
      }
      const std::string why = fileProblem("write to log file", file.path) + "\n";
      if (stderr_ < 0 || writeFully(stderr_, why) < why.size()) return countLines(lines);
      handle = stderr_;
   } else {
      handle = STDERR_FILENO;
   }
   const int patience = isStalled_ ? 0 : logPatienceMs;
   if (endsMidLine_ && writeFully(handle, "\n", patience) == 1) endsMidLine_ = false;
   const size_t written = endsMidLine_ ? 0 : writeFully(handle, lines, patience);
   isStalled_ = written < lines.size() && errno == EAGAIN;
   if (written > 0) endsMidLine_ = lines[written - 1] != '\n';
   return isStalled_ ? countLines(lines.substr(written)) : 0; // other errors: there is no other place to tell it
}

} // namespace ouzel
