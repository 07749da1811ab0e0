#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/file/file_system.hpp"

namespace ouzel::io {

/// What an operator can do about an error of the system: a sentence; empty: that is not known.
std::string adviceFor(int error);
/// Throw for a failed system call on `path`: 53100 when the device is full, else 58030 with the errno's text.
[[noreturn, gnu::cold]] void throwIoError(const char* what, const std::string& path, int error);

/// An open file; the destructor closes it. Positioned calls are thread-safe. Calls throw on failure and continue
/// partial or interrupted transfers.
class File {
public:
   enum class Mode : uint8_t { Read, Write /* create or open */, CreateNew /* fails when it exists */ };

   File() = default;
   File(const std::string& path, Mode mode);
   ~File();
   File(File&& other) noexcept;
   File& operator=(File&& other) noexcept;

   bool isOpen() const { return fd_ >= 0; }
   int descriptor() const { return fd_; }
   const std::string& path() const { return path_; }

   /// Read exactly `size` bytes; 58030 at an early end of file.
   void readAt(void* target, size_t size, uint64_t offset) const;
   /// Read up to `size` bytes; fewer only at the end of the file.
   size_t readSome(void* target, size_t size, uint64_t offset) const;
   void writeAt(const void* source, size_t size, uint64_t offset);
   /// Reserve [offset, offset + size) on the device, extending the file with zeros. 53100 when it is full.
   void allocate(uint64_t offset, uint64_t size);
   /// Forces the data, and the metadata needed to read it back, to the device.
   void syncData();
   void truncate(uint64_t size);
   uint64_t size() const;
   /// A hint that the range will be read soon.
   void prefetch(uint64_t offset, uint64_t size) const;
   /// Take an exclusive lock for as long as the file is open; false when another process has it.
   [[nodiscard]] bool tryLock();

private:
   int fd_ = -1;
   std::string path_;
};

[[nodiscard]] bool exists(const std::string& path);
/// The names in a directory, in no order; none when there is no such directory.
std::vector<DirectoryEntry> listDirectory(const std::string& path);
/// Give a file a second name; false when that name is taken.
[[nodiscard]] bool createLink(const std::string& from, const std::string& to);
void renameFile(const std::string& from, const std::string& to);
/// Does nothing when there is no such file.
void removeFile(const std::string& path);
/// Make the directory and its parents; each new entry is forced to the device.
void makeDirectories(const std::string& path);
/// Force the entries of a directory to the device.
void syncDirectory(const std::string& path);

} // namespace ouzel::io
