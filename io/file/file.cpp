#include "io/file/file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "common/error/sql_error.hpp"

namespace ouzel::io {

void throwIoError(const char* what, const std::string& path, int error) {
   const bool isFull = error == ENOSPC || error == EDQUOT;
   throw SqlError(isFull ? sqlstate::diskFull : sqlstate::ioError,
                  std::string(what) + " \"" + path + "\": " + std::strerror(error));
}

File::File(const std::string& path, Mode mode) : path_(path) {
   const int flags = mode == Mode::Read ? O_RDONLY : mode == Mode::Write ? O_RDWR | O_CREAT : O_RDWR | O_CREAT | O_EXCL;
   do {
      fd_ = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
   } while (fd_ < 0 && errno == EINTR);
   if (fd_ < 0) throwIoError("could not open file", path, errno);
}

File::~File() {
   if (fd_ >= 0) ::close(fd_);
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
      const ssize_t n = ::pread(fd_, static_cast<char*>(target) + done, size - done, static_cast<off_t>(offset + done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) throwIoError("could not read file", path_, errno);
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
      const ssize_t n =
          ::pwrite(fd_, static_cast<const char*>(source) + done, size - done, static_cast<off_t>(offset + done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) throwIoError("could not write file", path_, errno);
      done += static_cast<size_t>(n);
   }
}

void File::allocate(uint64_t offset, uint64_t size) {
   int error;
   do {
      error = ::posix_fallocate(fd_, static_cast<off_t>(offset), static_cast<off_t>(size));
   } while (error == EINTR);
   if (error != 0) throwIoError("could not extend file", path_, error);
}

void File::syncData() {
   int result;
   do {
      result = ::fdatasync(fd_);
   } while (result != 0 && errno == EINTR);
   if (result != 0) throwIoError("could not fsync file", path_, errno);
}

void File::truncate(uint64_t size) {
   if (::ftruncate(fd_, static_cast<off_t>(size)) != 0) throwIoError("could not truncate file", path_, errno);
}

uint64_t File::size() const {
   struct stat status {};
   if (::fstat(fd_, &status) != 0) throwIoError("could not stat file", path_, errno);
   return static_cast<uint64_t>(status.st_size);
}

bool File::tryLock() {
   return ::flock(fd_, LOCK_EX | LOCK_NB) == 0;
}

void syncDirectory(const std::string& path) {
   const int fd = ::open(path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
   if (fd < 0) throwIoError("could not open directory", path, errno);
   const int result = ::fsync(fd);
   const int error = errno;
   ::close(fd);
   if (result != 0) throwIoError("could not fsync directory", path, error);
}

void makeDirectories(const std::string& path) {
   if (path.empty()) return;
   struct stat status {};
   if (::stat(path.c_str(), &status) == 0) {
      if (!S_ISDIR(status.st_mode)) throwIoError("could not create directory", path, ENOTDIR);
      return;
   }
   const size_t slash = path.find_last_of('/');
   const std::string parent = slash == std::string::npos ? "" : slash == 0 ? "/" : path.substr(0, slash);
   makeDirectories(parent);
   if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) throwIoError("could not create directory", path, errno);
   syncDirectory(parent);
}

} // namespace ouzel::io
