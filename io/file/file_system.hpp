#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace ouzel::io {

/// Kind, size and version of a file or directory.
struct FileStatus {
   bool isDirectory = false;
   uint64_t size = 0;
   std::string tag; ///< changes with the content
};

/// One name in a directory.
struct DirectoryEntry {
   std::string name; ///< last component of the path
   bool isDirectory = false;
};

/// The system calls below File and DirectoryStore, in one class so that tests can replace the disk by a simulated one
/// (io/sim). Calls return the system call's result or a negative errno, retry interrupted calls, and never throw.
/// Thread-safe. The cost of a virtual call is not measurable beside the system call's.
class FileSystem {
public:
   virtual ~FileSystem() = default;

   /// The file system in use: the kernel's, unless a test has replaced it.
   static FileSystem& current();
   /// Replaces the file system; null: back to the kernel's. REQUIRES: no file is open.
   static void replace(FileSystem* fileSystem);

   virtual int open(const std::string& path, int flags);
   virtual void close(int descriptor);
   virtual ssize_t read(int descriptor, void* target, size_t size, uint64_t offset);
   virtual ssize_t write(int descriptor, const void* source, size_t size, uint64_t offset);
   virtual int allocate(int descriptor, uint64_t offset, uint64_t size);
   virtual int syncData(int descriptor);
   virtual int truncate(int descriptor, uint64_t size);
   virtual int64_t size(int descriptor);
   virtual int lock(int descriptor);
   virtual void prefetch(int descriptor, uint64_t offset, uint64_t size);

   virtual int makeDirectory(const std::string& path);
   virtual int syncDirectory(const std::string& path);
   virtual int list(const std::string& path, std::vector<DirectoryEntry>& entries);
   virtual int status(const std::string& path, FileStatus& status);
   virtual int link(const std::string& from, const std::string& to);
   virtual int rename(const std::string& from, const std::string& to);
   virtual int unlink(const std::string& path);
};

} // namespace ouzel::io
