#include "common/audit/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "common/error/check.hpp"
#include "common/log/files.hpp"
#include "common/log/rotation.hpp"

namespace ouzel {

namespace {

constexpr int64_t second = 1'000'000;

/// The pattern of strftime as one of fnmatch().
std::string wildcardOf(const std::string& filename) {
   std::string out;
   for (size_t i = 0; i < filename.size(); ++i) {
      if (filename[i] != '%') {
         if (std::strchr("*?[\\", filename[i])) out += '\\';
         out += filename[i];
      } else if (i + 1 < filename.size()) {
         out += filename[++i] == '%' ? '%' : '*';
      }
   }
   return out;
}

/// The file's bytes from `from` on; empty if it cannot be read.
std::string readFrom(int handle, int64_t from, int64_t to) {
   std::string out(static_cast<size_t>(to - from), '\0');
   size_t done = 0;
   while (done < out.size()) {
      const ssize_t got = ::pread(handle, out.data() + done, out.size() - done, from + static_cast<int64_t>(done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return "";
      done += static_cast<size_t>(got);
   }
   return out;
}

int64_t sizeOf(int handle) {
   struct stat status {};
   return ::fstat(handle, &status) == 0 ? status.st_size : 0;
}

} // namespace

LastRecord lastRecord(const std::string& path) {
   const int handle = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
   if (handle < 0) return {};
   LastRecord found;
   const int64_t size = sizeOf(handle);
   // A record is as long as its statement: look at more and more of the file's end.
   for (int64_t wanted = 64 << 10;; wanted *= 8) {
      const int64_t from = std::max<int64_t>(size - wanted, 0);
      const std::string text = readFrom(handle, from, size);
      for (size_t end = text.rfind('\n'); end != std::string::npos && found.number == 0;) {
         const size_t before = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
         if (before == std::string::npos && from > 0) break; // the line may begin further before
         const size_t begin = before == std::string::npos ? 0 : before + 1;
         if (const auto line = parseAuditLine(std::string_view(text).substr(begin, end - begin)))
            found = {line->number, std::string(line->hash.value_or(""))};
         end = before;
      }
      if (found.number != 0 || from == 0) break;
   }
   ::close(handle);
   return found;
}

AuditFiles::~AuditFiles() {
   if (handle_ >= 0) ::close(handle_);
}

void AuditFiles::findLast(const LogFileSettings& settings) {
   const std::string wildcard = wildcardOf(settings.filename);
   LastRecord last;
   std::error_code error;
   for (const auto& entry : std::filesystem::directory_iterator(settings.directory, error)) {
      if (::fnmatch(wildcard.c_str(), entry.path().filename().c_str(), 0) != 0) continue;
      LastRecord record = lastRecord(entry.path().string());
      if (record.number > last.number) last = std::move(record);
   }
   if (last.number <= lastNumber_) return;
   lastNumber_ = last.number;
   chain_ = AuditChain(last.hash.empty() ? firstChainHash() : last.hash);
}

std::string AuditFiles::open(const std::string& path) {
   const int handle = openAppending(path, settings_.files, false);
   if (handle < 0) return fileProblem("open audit file", path);
   if (handle_ >= 0) ::close(handle_);
   handle_ = handle;
   path_ = path;
   bytes_ = sizeOf(handle);
   endsMidLine_ = false;
   if (bytes_ > 0) { // the handle is for writing only
      const int reader = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
      endsMidLine_ = reader >= 0 && readFrom(reader, bytes_ - 1, bytes_) != "\n";
      if (reader >= 0) ::close(reader);
   }
   chain_.beginFile();
   return "";
}

std::string AuditFiles::configure(const AuditSettings& settings, int64_t now) {
   const AuditSettings before = std::exchange(settings_, settings);
   if (!settings_.isOn) {
      if (handle_ >= 0) ::close(std::exchange(handle_, -1));
      path_.clear();
      return "";
   }
   std::string failure;
   if (!makeDirectories(settings_.files.directory)) {
      failure = fileProblem("create audit directory", settings_.files.directory);
   } else {
      if (handle_ < 0 || before.files.directory != settings_.files.directory) findLast(settings_.files);
      failure = open(filePathAt(settings_.files, now));
   }
   if (!failure.empty()) settings_ = before;
   rotateAt_ = nextRotation(settings_.files, now);
   return failure;
}

void AuditFiles::rotateIfDue(int64_t now) {
   std::string next = path_;
   if (now >= rotateAt_) {
      rotateAt_ = nextRotation(settings_.files, now);
      next = filePathAt(settings_.files, rotateAt_ - settings_.files.rotationSeconds * second);
   } else if (settings_.files.rotationBytes > 0 && bytes_ >= settings_.files.rotationBytes) {
      next = filePathAt(settings_.files, now);
   }
   // A file that cannot be opened is tried again when its turn comes; records go on to the one before.
   if (next != path_) static_cast<void>(open(next));
}

std::string AuditFiles::link(std::string_view lines, std::vector<Line>& marks) {
   std::string out;
   for (size_t begin = 0; begin < lines.size();) {
      const size_t end = lines.find('\n', begin);
      DCHECK(end != std::string_view::npos);
      const std::string_view line = lines.substr(begin, end - begin);
      if (settings_.chains)
         out += chain_.link(line);
      else
         out += line;
      out += '\n';
      begin = end + 1;
      marks.push_back({begin, out.size(), chain_.last()});
   }
   return out;
}

AuditFiles::Written AuditFiles::write(std::string_view lines, int64_t now) {
   DCHECK(handle_ >= 0);
   rotateIfDue(now);
   if (endsMidLine_ && writeFully(handle_, "\n") == 1) {
      endsMidLine_ = false;
      ++bytes_;
      chain_.beginFile(); // the checker takes the line before for one that a crash has cut
   }
   const std::string before = chain_.last();
   std::vector<Line> marks;
   const std::string out = link(lines, marks);
   const size_t done = endsMidLine_ ? 0 : writeFully(handle_, out);
   Written written;
   if (done == out.size()) {
      written.bytes = lines.size();
      bytes_ += static_cast<int64_t>(done);
      return written;
   }
   written.failure = fileProblem("write to audit file", path_);
   Line last{0, 0, before}; // the last one that is whole in the file
   for (Line& mark : marks)
      if (mark.outEnd <= done) last = std::move(mark);
   chain_.returnTo(std::move(last.hash));
   if (last.end == 0) chain_.beginFile();
   written.bytes = last.end;
   bytes_ += static_cast<int64_t>(last.outEnd);
   if (done > last.outEnd && ::ftruncate(handle_, sizeOf(handle_) - static_cast<int64_t>(done - last.outEnd)) != 0)
      endsMidLine_ = true;
   return written;
}

} // namespace ouzel
