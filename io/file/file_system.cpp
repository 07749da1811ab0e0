#include "io/file/file_system.hpp"

#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ouzel::io {

namespace {

FileSystem kernel;
FileSystem* inUse = &kernel;

template <typename Call>
auto retried(Call call) {
   while (true) {
      const auto result = call();
      if (result >= 0) return result;
      if (errno != EINTR) return static_cast<decltype(result)>(-errno);
   }
}

} // namespace

FileSystem& FileSystem::current() {
   return *inUse;
}

void FileSystem::replace(FileSystem* fileSystem) {
   inUse = fileSystem ? fileSystem : &kernel;
}

int FileSystem::open(const std::string& path, int flags) {
   return retried([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0600); });
}

void FileSystem::close(int descriptor) {
   ::close(descriptor);
}

ssize_t FileSystem::read(int descriptor, void* target, size_t size, uint64_t offset) {
   return retried([&] { return ::pread(descriptor, target, size, static_cast<off_t>(offset)); });
}

ssize_t FileSystem::write(int descriptor, const void* source, size_t size, uint64_t offset) {
   return retried([&] { return ::pwrite(descriptor, source, size, static_cast<off_t>(offset)); });
}

int FileSystem::allocate(int descriptor, uint64_t offset, uint64_t size) {
   int error;
   do {
      error = ::posix_fallocate(descriptor, static_cast<off_t>(offset), static_cast<off_t>(size));
   } while (error == EINTR);
   return -error;
}

int FileSystem::syncData(int descriptor) {
   return retried([&] { return ::fdatasync(descriptor); });
}

int FileSystem::truncate(int descriptor, uint64_t size) {
   return retried([&] { return ::ftruncate(descriptor, static_cast<off_t>(size)); });
}

int64_t FileSystem::size(int descriptor) {
   struct stat status {};
   return ::fstat(descriptor, &status) != 0 ? -errno : static_cast<int64_t>(status.st_size);
}

int FileSystem::lock(int descriptor) {
   return retried([&] { return ::flock(descriptor, LOCK_EX | LOCK_NB); });
}

void FileSystem::prefetch(int descriptor, uint64_t offset, uint64_t size) {
   ::posix_fadvise(descriptor, static_cast<off_t>(offset), static_cast<off_t>(size), POSIX_FADV_WILLNEED);
}

int FileSystem::makeDirectory(const std::string& path) {
   return retried([&] { return ::mkdir(path.c_str(), 0700); });
}

int FileSystem::syncDirectory(const std::string& path) {
   const int descriptor = open(path.empty() ? "." : path, O_RDONLY | O_DIRECTORY);
   if (descriptor < 0) return descriptor;
   const int result = retried([&] { return ::fsync(descriptor); });
   ::close(descriptor);
   return result;
}

int FileSystem::list(const std::string& path, std::vector<DirectoryEntry>& entries) {
   DIR* directory = ::opendir(path.c_str());
   if (!directory) return -errno;
   errno = 0;
   while (const dirent* entry = ::readdir(directory)) {
      DirectoryEntry found{entry->d_name, entry->d_type == DT_DIR};
      if (found.name == "." || found.name == "..") continue;
      if (entry->d_type == DT_UNKNOWN || entry->d_type == DT_LNK) {
         struct stat status {};
         if (::stat((path + "/" + found.name).c_str(), &status) == 0) found.isDirectory = S_ISDIR(status.st_mode);
      }
      entries.push_back(std::move(found));
      errno = 0;
   }
   const int error = errno;
   ::closedir(directory);
   return -error;
}

int FileSystem::status(const std::string& path, FileStatus& result) {
   struct stat status {};
   if (::stat(path.c_str(), &status) != 0) return -errno;
   result.isDirectory = S_ISDIR(status.st_mode);
   result.size = static_cast<uint64_t>(status.st_size);
   result.tag = std::to_string(status.st_ino) + "-" + std::to_string(status.st_mtim.tv_sec) + "." +
                std::to_string(status.st_mtim.tv_nsec) + "-" + std::to_string(status.st_size);
   return 0;
}

int FileSystem::link(const std::string& from, const std::string& to) {
   return ::link(from.c_str(), to.c_str()) != 0 ? -errno : 0;
}

int FileSystem::rename(const std::string& from, const std::string& to) {
   return ::rename(from.c_str(), to.c_str()) != 0 ? -errno : 0;
}

int FileSystem::unlink(const std::string& path) {
   return ::unlink(path.c_str()) != 0 ? -errno : 0;
}

} // namespace ouzel::io
