#pragma once
#include <map>
#include <set>

#include "common/sync/mutex.hpp"
#include "common/thread/task_runner.hpp"
#include "io/spill/spill_device.hpp"

// Spilling to a local directory: one unnamed file per query, which the kernel removes when the process ends, written
// and read by io_uring with O_DIRECT.

namespace ouzel::io {

class DirectoryDevice final : public SpillDevice {
public:
   /// Makes the directory if it is missing.
   explicit DirectoryDevice(const std::string& directory);

   std::unique_ptr<SpillFile> makeFile() override;
   std::unique_ptr<SpillChannel> makeChannel(uint32_t depth) override;
   [[noreturn]] void throwFailure(Doing doing, int error) const override;
   std::string damageText() const override;

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

/// The file of one query in one directory, and its free extents.
class DirectoryFile final : public SpillFile {
public:
   /// Throws 58030 or 53100.
   explicit DirectoryFile(DirectoryDevice& device);
   ~DirectoryFile() override;

   int descriptor() const { return descriptor_; }
   /// To write a part of a physical block, a disk reads the block first.
   uint32_t borderBytes() const override { return 4096; }
   /// Freed extents are used before the file grows. The space on the device is reserved.
   SpillExtent allocate(uint64_t min, uint64_t want) override;
   void free(SpillExtent extent) override;

private:
   void grow(uint64_t min) REQUIRES(mutex_);
   void addFree(SpillExtent extent) REQUIRES(mutex_);

   // PROPERTIES
   DirectoryDevice& directory_;
   int descriptor_ = -1;

   // STATE
   Mutex mutex_; // guards the members below
   uint64_t end_ GUARDED_BY(mutex_) = 0;
   uint64_t inUse_ GUARDED_BY(mutex_) = 0;
   std::map<uint64_t, uint64_t> freeByOffset_ GUARDED_BY(mutex_);          // neighbours are merged
   std::set<std::pair<uint64_t, uint64_t>> freeBySize_ GUARDED_BY(mutex_); // (size, offset) of the same
};

} // namespace ouzel::io
