#include "io/spill/directory_device.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <linux/stat.h>
#include <poll.h>
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
/// A local round is small beside the time of an extent. Where it is not, as on a disk that has to seek, the measured
/// bandwidth tells.
constexpr double roundNanosMax = 500'000;

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

/// Requests by io_uring.
class DirectoryChannel final : public SpillChannel {
public:
   DirectoryChannel(DirectoryDevice& device, uint32_t depth) : device_(device), ring_(depth) {}

   uint32_t inFlight() const override { return ring_.inFlight(); }
   bool hasRoom() const override { return ring_.hasRoom(); }
   void write(SpillFile& file, uint64_t offset, std::span<const std::byte> bytes, uint64_t userData) override {
      device_.countWrites(1);
      // The ring only reads from the buffer of a write.
      prepare(RingRequest::Kind::Write, file, offset, const_cast<std::byte*>(bytes.data()), bytes.size(), userData);
   }
   void read(SpillFile& file, SpillExtent extent, std::byte* target, uint64_t userData) override {
      device_.countReads(1);
      prepare(RingRequest::Kind::Read, file, extent.offset, target, extent.size, userData);
   }
   void submit() override { ring_.submit(); }
   size_t reap(std::span<RingCompletion> completions, bool mustWait) override {
      const size_t count = ring_.reap(completions, mustWait ? 1 : 0);
      for (const RingCompletion& completion : completions.first(count))
         if (const int error = -completion.result; error > 0 && error != EINTR && error != EAGAIN)
            device_.failed(error);
      return count;
   }
   void abandon() override {
      for (RingCompletion completion; ring_.inFlight() > 0;)
         ring_.reap(std::span(&completion, 1), 1);
   }
   Wait wait() const override { return {ring_.handle(), POLLIN, 0}; }

private:
   void prepare(RingRequest::Kind kind, SpillFile& file, uint64_t offset, std::byte* bytes, size_t size,
                uint64_t userData) {
      ring_.prepare(
          {kind, static_cast<DirectoryFile&>(file).descriptor(), bytes, static_cast<uint32_t>(size), offset, userData});
   }

   DirectoryDevice& device_;
   Ring ring_;
};

} // namespace

DirectoryDevice::DirectoryDevice(const std::string& directory) : SpillDevice(directory, {1e9, 100'000, roundNanosMax}) {
   makeDirectories(directory);
}

std::unique_ptr<SpillFile> DirectoryDevice::makeFile() {
   return std::make_unique<DirectoryFile>(*this);
}

std::unique_ptr<SpillChannel> DirectoryDevice::makeChannel(uint32_t depth) {
   return std::make_unique<DirectoryChannel>(*this, depth);
}

void DirectoryDevice::throwFailure(Doing doing, int error) const {
   const char* const what = doing == Doing::Create   ? "could not create file in directory"
                            : doing == Doing::Extend ? "could not extend temporary file in directory"
                            : doing == Doing::Write  ? "could not write to temporary file in directory"
                                                     : "could not read from temporary file in directory";
   throwIoError(what, name, error);
}

std::string DirectoryDevice::damageText() const {
   return "invalid page in temporary file in directory \"" + name + "\"";
}

void DirectoryDevice::close(int descriptor, uint64_t bytes) {
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

bool DirectoryDevice::waitForClosing() {
   UniqueLock guard(mutex_);
   if (closing_ == 0) return false;
   closed_.wait(guard, [this]() REQUIRES(mutex_) { return closing_ == 0; });
   return true;
}

DirectoryFile::DirectoryFile(DirectoryDevice& device) : SpillFile(device), directory_(device) {
   descriptor_ = openWithoutName(device.name, O_DIRECT);
   if (descriptor_ < 0 && errno == EINVAL) descriptor_ = openWithoutName(device.name, 0); // buffered
   if (descriptor_ < 0) device.throwFailure(SpillDevice::Doing::Create, errno);
   const uint32_t alignment = directAlignment(descriptor_);
   if (alignment > growAlignment)
      ::fcntl(descriptor_, F_SETFL, 0);
   else
      blockBytes_ = std::max(blockBytes_, alignment);
}

DirectoryFile::~DirectoryFile() {
   device_.bytesInUse.fetch_sub(inUse_, std::memory_order_relaxed);
   directory_.close(descriptor_, end_);
}

SpillExtent DirectoryFile::allocate(uint64_t min, uint64_t want) {
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

void DirectoryFile::grow(uint64_t min) {
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
      if (error == ENOSPC && step == least && directory_.waitForClosing()) continue;
      if (error != EINTR && (error != ENOSPC || step == least)) break;
   }
   device_.throwFailure(SpillDevice::Doing::Extend, error);
}

void DirectoryFile::free(SpillExtent extent) {
   if (extent.size == 0) return;
   const MutexLock guard(mutex_);
   DCHECK(inUse_ >= extent.size);
   inUse_ -= extent.size;
   device_.bytesInUse.fetch_sub(extent.size, std::memory_order_relaxed);
   addFree(extent);
}

void DirectoryFile::addFree(SpillExtent extent) {
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
