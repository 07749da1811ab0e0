#include "io/format/file_set.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fnmatch.h>
#include <unistd.h>

#include "common/error/sql_error.hpp"
#include "common/thread/interruption.hpp"
#include "io/directory/file_reader.hpp"
#include "io/format/object_files.hpp"

namespace ouzel::io {

namespace {

[[noreturn]] void throwCannotOpen(const std::string& path, const char* purpose, int error) {
   throw SqlError(error == ENOENT || error == ENOTDIR ? sqlstate::undefinedFile
                  : error == EACCES || error == EPERM ? sqlstate::insufficientPrivilege
                                                      : sqlstate::ioError,
                  "could not open file \"" + path + "\" for " + purpose + ": " + std::strerror(error));
}

class LocalOutput final : public OutputFile {
public:
   explicit LocalOutput(const std::string& path) : file_(path, File::Mode::Write) { file_.truncate(0); }
   void write(std::string_view bytes) override {
      file_.writeAt(bytes.data(), bytes.size(), size_);
      size_ += bytes.size();
   }
   void finish() override { file_ = File(); }

private:
   File file_;
   uint64_t size_ = 0;
};

bool hasWildcard(std::string_view text) {
   return text.find_first_of("*?[") != std::string_view::npos;
}

/// Finds the files of one pattern: descends the directories component by component.
class Matcher {
public:
   explicit Matcher(const std::string& pattern) {
      for (size_t begin = 0; begin <= pattern.size();) {
         const size_t end = std::min(pattern.find('/', begin), pattern.size());
         std::string component = pattern.substr(begin, end - begin);
         const bool isRepeated = component == "**" && !components_.empty() && components_.back() == "**";
         if (!isRepeated) components_.push_back(std::move(component));
         begin = end + 1;
      }
   }
   std::vector<InputFile> find() {
      descend("", 0);
      std::sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
      // `**` may reach a file in more than one way.
      found_.erase(
          std::unique(found_.begin(), found_.end(), [](const auto& a, const auto& b) { return a.path == b.path; }),
          found_.end());
      return std::move(found_);
   }

private:
   void descend(const std::string& prefix, size_t index) {
      checkInterrupted();
      const std::string& component = components_[index];
      const bool isLast = index + 1 == components_.size();
      if (component == "**" && !isLast) descend(prefix, index + 1);
      if (!hasWildcard(component)) {
         const std::string path = prefix + component;
         if (!isLast) return descend(path + "/", index + 1);
         FileStatus status;
         if (FileSystem::current().status(path, status) == 0 && !status.isDirectory)
            found_.push_back({path, status.size});
         return;
      }
      std::vector<DirectoryEntry> entries;
      // A directory that cannot be listed has no matches, as in a shell.
      if (FileSystem::current().list(prefix.empty() ? "." : prefix, entries) != 0) return;
      for (const DirectoryEntry& entry : entries) {
         if (entry.name == "." || entry.name == "..") continue;
         const std::string path = prefix + entry.name;
         if (component == "**" && entry.isDirectory && entry.name[0] != '.') descend(path + "/", index);
         if (component == "**" ? !isLast || entry.name[0] == '.'
                               : ::fnmatch(component.c_str(), entry.name.c_str(), FNM_PERIOD) != 0)
            continue;
         FileStatus status;
         if (FileSystem::current().status(path, status) != 0) continue;
         if (!isLast && status.isDirectory) descend(path + "/", index + 1);
         if (isLast && !status.isDirectory) found_.push_back({path, status.size});
      }
   }

   std::vector<std::string> components_;
   std::vector<InputFile> found_;
};

} // namespace

bool isObjectUrl(std::string_view path) {
   return path.starts_with("s3://");
}

std::vector<InputFile> findFiles(const std::vector<std::string>& patterns, const ObjectAccessPtr& access) {
   std::vector<InputFile> files;
   for (const std::string& pattern : patterns) {
      if (isObjectUrl(pattern)) {
         std::vector<InputFile> found = findObjects(pattern, access);
         std::move(found.begin(), found.end(), std::back_inserter(files));
         continue;
      }
      if (hasWildcard(pattern)) {
         std::vector<InputFile> found = Matcher(pattern).find();
         if (found.empty()) throw SqlError(sqlstate::undefinedFile, "no file matches \"" + pattern + "\"");
         std::move(found.begin(), found.end(), std::back_inserter(files));
         continue;
      }
      FileStatus status;
      if (const int error = FileSystem::current().status(pattern, status); error != 0)
         throwCannotOpen(pattern, "reading", -error);
      if (status.isDirectory) throw SqlError(sqlstate::wrongObjectType, "\"" + pattern + "\" is a directory");
      files.push_back({pattern, status.size});
   }
   return files;
}

std::unique_ptr<ObjectReader> openInput(const std::string& path, const ObjectAccessPtr& access) {
   if (isObjectUrl(path)) return openObject(path, access);
   const int descriptor = FileSystem::current().open(path, O_RDONLY | O_CLOEXEC);
   if (descriptor < 0) throwCannotOpen(path, "reading", -descriptor);
   FileSystem::current().close(descriptor);
   return std::make_unique<FileReader>(File(path, File::Mode::Read));
}

std::unique_ptr<OutputFile> openOutput(const std::string& path, const ObjectAccessPtr& access, Reservation& memory) {
   if (isObjectUrl(path)) return createObject(path, access, memory);
   // Readable as the umask says, as PostgreSQL's COPY TO does; the server's own files are not.
   const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
   if (descriptor < 0) throwCannotOpen(path, "writing", errno);
   ::close(descriptor);
   return std::make_unique<LocalOutput>(path);
}

} // namespace ouzel::io
