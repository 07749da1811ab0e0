#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "common/sync/mutex.hpp"
#include "common/thread/task_runner.hpp"
#include "io/spill/flow.hpp"

// Spill devices are directories. A query has one unnamed file on each device that it uses.

namespace ouzel::io {

/// One directory to spill to, shared by all queries. Thread-safe.
struct SpillDevice {
   explicit SpillDevice(std::string path) : directory(std::move(path)) {}

   // PROPERTIES
   const std::string directory;
   uint64_t bytesMax = 0; ///< most bytes of all files together; 0: no limit

   // STATE
   Flow writes, reads;
   std::atomic<uint64_t> bytesAllocated{0}; ///< of all files
   std::atomic<uint64_t> bytesInUse{0};     ///< of pages, as a part of bytesAllocated
   std::atomic<uint64_t> rawBytesWritten{0}, bytesWritten{0}, rawBytesRead{0}, bytesRead{0};

   /// Closes a file and counts its bytes as free. The kernel takes seconds to free gigabytes, longer where it discards
   /// the blocks on the device, so a background thread closes large files.
   void close(int descriptor, uint64_t bytes);
   /// Waits for the files that are being closed. False: there were none.
   bool waitForClosing();

private:
   Mutex mutex_; ///< guards the members below
   CondVar closed_;
   uint32_t closing_ GUARDED_BY(mutex_) = 0;
   std::unique_ptr<ThreadTaskRunner>
       closer_ GUARDED_BY(mutex_); ///< made at first use; declared last: it uses the members above
};

/// A place in a file, in bytes.
struct SpillExtent {
   uint64_t offset = 0, size = 0;
};

/// The file of one query on one device, and its free extents. The file has no name: the kernel removes it when the
/// process ends. Thread-safe.
class SpillFile {
public:
   /// Throws 58030 or 53100.
   explicit SpillFile(SpillDevice& device);
   ~SpillFile();
   SpillFile(const SpillFile&) = delete;
   SpillFile& operator=(const SpillFile&) = delete;

   SpillDevice& device() const { return device_; }
   int descriptor() const { return descriptor_; }
   /// Unit of offsets, sizes and addresses of requests.
   uint32_t blockBytes() const { return blockBytes_; }

   /// Allocates from `min` to `want` bytes. Freed extents are used before the file grows. The space on the device is
   /// reserved. Throws 53100.
   SpillExtent allocate(uint64_t min, uint64_t want);
   void free(SpillExtent extent);

private:
   void grow(uint64_t min) REQUIRES(mutex_);
   void addFree(SpillExtent extent) REQUIRES(mutex_);

   // PROPERTIES
   SpillDevice& device_;
   int descriptor_ = -1;
   uint32_t blockBytes_ = 512;

   // STATE
   Mutex mutex_; // guards the members below
   uint64_t end_ GUARDED_BY(mutex_) = 0;
   uint64_t inUse_ GUARDED_BY(mutex_) = 0;
   std::map<uint64_t, uint64_t> freeByOffset_ GUARDED_BY(mutex_);          // neighbours are merged
   std::set<std::pair<uint64_t, uint64_t>> freeBySize_ GUARDED_BY(mutex_); // (size, offset) of the same
};

} // namespace ouzel::io
