#include "io/spill/spill_device.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/error/check.hpp"
#include "common/error/test_point.hpp"
#include "io/file/file.hpp"

namespace ouzel::io {

namespace {

/// Step by which files grow: one call for 64 MiB is not measurable, and a query that spills little takes little.
constexpr uint64_t growBytes = uint64_t{64} << 20;
constexpr uint64_t growAlignment = 4096;

int openWithoutName(const std::string& directory, int flags) {
   int descriptor = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600);
   if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)) return descriptor;
   // The file system does not support O_TMPFILE: make a named file and unlink it.
   std::string path = directory + "/ouzel-spill-XXXXXX";
   descriptor = ::mkostemp(path.data(), O_CLOEXEC | flags);
   if (descriptor >= 0) ::unlink(path.c_str());
   return descriptor;
}

/// Alignment that O_DIRECT requires for this file; 0: the kernel does not tell.
uint32_t directAlignment([[maybe_unused]] int descriptor) {
#ifdef STATX_DIOALIGN
   struct statx status {};
   if (::syscall(SYS_statx, descriptor, "", AT_EMPTY_PATH, STATX_DIOALIGN, &status) == 0 &&
       (status.stx_mask & STATX_DIOALIGN) != 0)
      return std::max(status.stx_dio_offset_align, status.stx_dio_mem_align);
#endif
   return 0;
}

} // namespace

void SpillDevice::close(int descriptor, uint64_t bytes) {
   const auto finish = [this, descriptor, bytes] {
      ::close(descriptor);
      bytesAllocated.fetch_sub(bytes, std::memory_order_relaxed);
   };
   if (bytes <= growBytes) return finish();
   const MutexLock guard(mutex_);
   if (!closer_) closer_ = std::make_unique<ThreadTaskRunner>(1);
   ++closing_;
   closer_->submit([this, finish] {
      finish();
      const MutexLock done(mutex_);
      --closing_;
      closed_.notify_all();
   });
}

bool SpillDevice::waitForClosing() {
   UniqueLock guard(mutex_);
   if (closing_ == 0) return false;
   closed_.wait(guard, [this]() REQUIRES(mutex_) { return closing_ == 0; });
   return true;
}

SpillFile::SpillFile(SpillDevice& device) : device_(device) {
   descriptor_ = openWithoutName(device.directory, O_DIRECT);
   if (descriptor_ < 0 && errno == EINVAL) descriptor_ = openWithoutName(device.directory, 0); // buffered
   if (descriptor_ < 0) throwIoError("could not create file in directory", device.directory, errno);
   const uint32_t alignment = directAlignment(descriptor_);
   if (alignment > growAlignment)
      ::fcntl(descriptor_, F_SETFL, 0);
   else
      blockBytes_ = std::max(blockBytes_, alignment);
}

SpillFile::~SpillFile() {
   device_.bytesInUse.fetch_sub(inUse_, std::memory_order_relaxed);
   device_.close(descriptor_, end_);
}

SpillExtent SpillFile::allocate(uint64_t min, uint64_t want) {
   DCHECK(min > 0 && min <= want && min % blockBytes_ == 0);
   const MutexLock guard(mutex_);
   auto it = freeBySize_.lower_bound({want, 0});
   if (it == freeBySize_.end() && (freeBySize_.empty() || std::prev(it)->first < min)) {
      grow(min);
      it = freeBySize_.lower_bound({want, 0});
   }
   if (it == freeBySize_.end()) --it; // none is large enough for `want`: take the largest
   const auto [size, offset] = *it;
   DCHECK(size >= min);
   freeBySize_.erase(it);
   freeByOffset_.erase(offset);
   const uint64_t taken = std::min(size, want);
   if (taken < size) addFree({offset + taken, size - taken});
   inUse_ += taken;
   device_.bytesInUse.fetch_add(taken, std::memory_order_relaxed);
   return {offset, taken};
}

void SpillFile::grow(uint64_t min) {
   // Free space at the end of the file counts as part of the new space.
   uint64_t atEnd = 0;
   if (!freeByOffset_.empty() && std::prev(freeByOffset_.end())->first + std::prev(freeByOffset_.end())->second == end_)
      atEnd = std::prev(freeByOffset_.end())->second;
   const uint64_t least = (min - atEnd + growAlignment - 1) / growAlignment * growAlignment;
   int error = 0;
   // A nearly full device grants a smaller step.
   for (uint64_t step = std::max(growBytes, least);; step = std::max(step / 4 / growAlignment * growAlignment, least)) {
      error = TEST_POINT("spill.allocate");
      const uint64_t before = device_.bytesAllocated.fetch_add(step, std::memory_order_relaxed);
      if (error == 0 && device_.bytesMax > 0 && before + step > device_.bytesMax) error = ENOSPC;
      if (error == 0 && ::fallocate(descriptor_, 0, static_cast<off_t>(end_), static_cast<off_t>(step)) != 0) {
         error = errno;
         // The file system cannot reserve space: a full device fails when the page is written.
         if (error == EOPNOTSUPP) error = ::ftruncate(descriptor_, static_cast<off_t>(end_ + step)) == 0 ? 0 : errno;
      }
      if (error == 0) {
         const uint64_t offset = end_;
         end_ += step;
         addFree({offset, step});
         return;
      }
      device_.bytesAllocated.fetch_sub(step, std::memory_order_relaxed);
      if (error == ENOSPC && step == least && device_.waitForClosing()) continue;
      if (error != EINTR && (error != ENOSPC || step == least)) break;
   }
   throwIoError("could not extend temporary file in directory", device_.directory, error);
}

void SpillFile::free(SpillExtent extent) {
   if (extent.size == 0) return;
   const MutexLock guard(mutex_);
   DCHECK(inUse_ >= extent.size);
   inUse_ -= extent.size;
   device_.bytesInUse.fetch_sub(extent.size, std::memory_order_relaxed);
   addFree(extent);
}

void SpillFile::addFree(SpillExtent extent) {
   auto next = freeByOffset_.lower_bound(extent.offset);
   DCHECK(next == freeByOffset_.end() || next->first >= extent.offset + extent.size); // else an extent was freed twice
   if (next != freeByOffset_.end() && next->first == extent.offset + extent.size) {
      extent.size += next->second;
      freeBySize_.erase({next->second, next->first});
      next = freeByOffset_.erase(next);
   }
   if (next != freeByOffset_.begin()) {
      const auto previous = std::prev(next);
      DCHECK(previous->first + previous->second <= extent.offset);
      if (previous->first + previous->second == extent.offset) {
         extent = {previous->first, previous->second + extent.size};
         freeBySize_.erase({previous->second, previous->first});
         freeByOffset_.erase(previous);
      }
   }
   freeByOffset_.emplace(extent.offset, extent.size);
   freeBySize_.emplace(extent.size, extent.offset);
}

} // namespace ouzel::io
