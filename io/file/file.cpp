#include "io/file/file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include "common/error/sql_error.hpp"
#include "io/file/file_system.hpp"

namespace ouzel::io {

namespace {

FileSystem& system() {
   return FileSystem::current();
}

} // namespace

std::string adviceFor(int error) {
   switch (error) {
   case ENOSPC:
   case EDQUOT: return "Make room on that file system.";
   case EACCES:
   case EPERM: return "The server runs as user " + std::to_string(::geteuid()) + ", who needs the right to do so.";
   case EROFS: return "Mount that file system so that it can be written to.";
   case EFBIG: return "Raise the limit of the size of files (`ulimit -f`, LimitFSIZE of a service).";
   case EMFILE: return "Raise the limit of open files (`ulimit -n`, LimitNOFILE of a service).";
   case ENFILE: return "Raise the machine's limit of open files (fs.file-max).";
   default: return "";
   }
}

void throwIoError(const char* what, const std::string& path, int error) {
   const bool isFull = error == ENOSPC || error == EDQUOT;
   throw SqlError(isFull ? sqlstate::diskFull : sqlstate::ioError,
                  std::string(what) + " \"" + path + "\": " + std::strerror(error))
       .hint(adviceFor(error));
}

File::File(const std::string& path, Mode mode) : path_(path) {
   const int flags = mode == Mode::Read ? O_RDONLY : mode == Mode::Write ? O_RDWR | O_CREAT : O_RDWR | O_CREAT | O_EXCL;
   const int result = system().open(path, flags);
   if (result < 0) throwIoError("could not open file", path, -result);
   fd_ = result;
}

File::~File() {
   if (fd_ >= 0) system().close(fd_);
}

File::File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

File& File::operator=(File&& other) noexcept {
   std::swap(fd_, other.fd_);
   std::swap(path_, other.path_);
   return *this;
}

size_t File::readSome(void* target, size_t size, uint64_t offset) const {
   size_t done = 0;
   while (done < size) {
      const ssize_t n = system().read(fd_, static_cast<char*>(target) + done, size - done, offset + done);
      if (n < 0) throwIoError("could not read file", path_, static_cast<int>(-n));
      if (n == 0) break;
      done += static_cast<size_t>(n);
   }
   return done;
}

void File::readAt(void* target, size_t size, uint64_t offset) const {
   if (readSome(target, size, offset) != size)
      throw SqlError(sqlstate::ioError, "could not read file \"" + path_ + "\": unexpected end of file");
}

void File::writeAt(const void* source, size_t size, uint64_t offset) {
   size_t done = 0;
   while (done < size) {
      const ssize_t n = system().write(fd_, static_cast<const char*>(source) + done, size - done, offset + done);
      if (n < 0) throwIoError("could not write file", path_, static_cast<int>(-n));
      done += static_cast<size_t>(n);
   }
}

void File::allocate(uint64_t offset, uint64_t size) {
   if (const int result = system().allocate(fd_, offset, size); result < 0)
      throwIoError("could not extend file", path_, -result);
}

void File::syncData() {
   if (const int result = system().syncData(fd_); result < 0) throwIoError("could not fsync file", path_, -result);
}

void File::truncate(uint64_t size) {
   if (const int result = system().truncate(fd_, size); result < 0)
      throwIoError("could not truncate file", path_, -result);
}

uint64_t File::size() const {
   const int64_t result = system().size(fd_);
   if (result < 0) throwIoError("could not stat file", path_, static_cast<int>(-result));
   return static_cast<uint64_t>(result);
}

void File::prefetch(uint64_t offset, uint64_t size) const {
   system().prefetch(fd_, offset, size);
}

bool File::tryLock() {
   return system().lock(fd_) == 0;
}

bool exists(const std::string& path) {
   FileStatus status;
   const int result = system().status(path, status);
   if (result < 0 && result != -ENOENT && result != -ENOTDIR) throwIoError("could not stat file", path, -result);
   return result == 0;
}

std::vector<DirectoryEntry> listDirectory(const std::string& path) {
   std::vector<DirectoryEntry> entries;
   const int result = system().list(path, entries);
   if (result < 0 && result != -ENOENT) throwIoError("could not read directory", path, -result);
   return entries;
}

bool createLink(const std::string& from, const std::string& to) {
   const int result = system().link(from, to);
   if (result < 0 && result != -EEXIST) throwIoError("could not create file", to, -result);
   return result == 0;
}

void renameFile(const std::string& from, const std::string& to) {
   if (const int result = system().rename(from, to); result < 0) throwIoError("could not rename file", to, -result);
}

void removeFile(const std::string& path) {
   const int result = system().unlink(path);
   if (result < 0 && result != -ENOENT) throwIoError("could not remove file", path, -result);
}

void syncDirectory(const std::string& path) {
   if (const int result = system().syncDirectory(path); result < 0)
      throwIoError("could not fsync directory", path, -result);
}

void makeDirectories(const std::string& path) {
   if (path.empty()) return;
   FileStatus status;
   if (system().status(path, status) == 0) {
      if (!status.isDirectory) throwIoError("could not create directory", path, ENOTDIR);
      return;
   }
   const size_t slash = path.find_last_of('/');
   const std::string parent = slash == std::string::npos ? "" : slash == 0 ? "/" : path.substr(0, slash);
   makeDirectories(parent);
   const int result = system().makeDirectory(path);
   if (result < 0 && result != -EEXIST) throwIoError("could not create directory", path, -result);
   syncDirectory(parent);
}

} // namespace ouzel::io
