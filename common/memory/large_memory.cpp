#include "common/memory/large_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <vector>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/sync/mutex.hpp"

namespace ouzel {

namespace {

constexpr size_t hugePageSize = 2 << 20;
/// Allocations of this size or more use mmap: zero pages come for free and huge pages are possible.
constexpr size_t mapSizeMin = hugePageSize;
static_assert(mapSizeMin % LargeMemory::usualStep == 0, "a list for each usual size");
/// All pages of an allocation up to this size are made at once. A hash table reads a slot before it writes it: where
/// there are no huge pages, reading maps the kernel's page of zeros, and replacing that page interrupts every other
/// core to flush its TLB. Larger allocations are shared by workers, which make the pages in parallel.
constexpr size_t populatedMax = size_t{64} << 20;

/// Freed allocations of usual sizes, one list for each size. LargeMemory takes from it before it asks malloc().
/// Thread-safe.
class KeptMemory {
public:
   static bool isUsual(size_t bytes) { return bytes % LargeMemory::usualStep == 0 && bytes < mapSizeMin; }

   void* take(size_t bytes) {
      const MutexLock lock(mutex_);
      std::vector<void*>& list = lists_[bytes / LargeMemory::usualStep];
      if (list.empty()) return nullptr;
      void* data = list.back();
      list.pop_back();
      DCHECK(bytes_ >= bytes);
      bytes_ -= bytes;
      least_ = std::min(least_, bytes_);
      return data;
   }
   /// False: bytesMax_ would be exceeded, so that the caller frees the allocation.
   bool keep(void* data, size_t bytes) {
      DCHECK(isUsual(bytes));
      const MutexLock lock(mutex_);
      if (bytes_ + bytes > bytesMax_) return false;
      lists_[bytes / LargeMemory::usualStep].push_back(data);
      bytes_ += bytes;
      return true;
   }
   void keepAtMost(size_t bytes) {
      const MutexLock lock(mutex_);
      bytesMax_ = std::min(bytes, LargeMemory::keptBytesMax);
   }
   size_t bytes() {
      const MutexLock lock(mutex_);
      return bytes_;
   }
   void dropUnneeded() {
      std::vector<void*> dropped;
      {
         const MutexLock lock(mutex_);
         dropInto(dropped, least_);
         least_ = bytes_;
      }
      freeAll(dropped);
   }
   void dropAll() {
      std::vector<void*> dropped;
      {
         const MutexLock lock(mutex_);
         dropInto(dropped, bytes_);
         least_ = 0;
      }
      freeAll(dropped);
   }

private:
   /// Take `wanted` bytes or a little less out of the lists, large allocations first.
   void dropInto(std::vector<void*>& dropped, size_t wanted) REQUIRES(mutex_) {
      for (size_t size = std::size(lists_); size-- > 1;) {
         const size_t bytes = size * LargeMemory::usualStep;
         for (std::vector<void*>& list = lists_[size]; !list.empty() && bytes <= wanted; wanted -= bytes) {
            dropped.push_back(list.back());
            list.pop_back();
            bytes_ -= bytes;
         }
      }
   }
   static void freeAll(const std::vector<void*>& dropped) {
      for (void* data : dropped)
         std::free(data);
   }

   Mutex mutex_;
   size_t bytesMax_ GUARDED_BY(mutex_) = LargeMemory::keptBytesMax;
   std::vector<void*> lists_[mapSizeMin / LargeMemory::usualStep] GUARDED_BY(mutex_);
   size_t bytes_ GUARDED_BY(mutex_) = 0;
   size_t least_ GUARDED_BY(mutex_) = 0; ///< the smallest bytes_ since dropUnneeded()
};

KeptMemory& keptMemory() {
   static auto* kept = new KeptMemory; // never destroyed: allocations may outlive everything
   return *kept;
}

} // namespace

void LargeMemory::keepAtMost(size_t bytes) {
   keptMemory().keepAtMost(bytes);
}

void LargeMemory::dropUnneeded() {
   keptMemory().dropUnneeded();
}

size_t LargeMemory::keptBytes() {
   return keptMemory().bytes();
}

void LargeMemory::dropKept() {
   keptMemory().dropAll();
}

LargeMemory::LargeMemory(size_t bytes, Reservation& reservation, Fill fill)
   : bytes_(bytes), reservation_(&reservation) {
   if (bytes == 0) return;
   reservation.grow(bytes);
   if (bytes >= mapSizeMin) {
      void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      data_ = mapped == MAP_FAILED ? nullptr : mapped;
      if (data_) ::madvise(data_, bytes, MADV_HUGEPAGE);
      if (data_ && bytes <= populatedMax) ::madvise(data_, bytes, MADV_POPULATE_WRITE);
   } else {
      data_ = KeptMemory::isUsual(bytes) ? keptMemory().take(bytes) : nullptr;
      if (!data_) data_ = std::malloc(bytes);
      // Not calloc(): jemalloc returns memory that it has to the system to get zeros for it, which costs more than
      // writing these zeros. The compiler would turn a malloc() directly before a memset() into calloc().
      if (data_ && fill == Fill::Zero) std::memset(data_, 0, bytes);
   }
   if (!data_) {
      reservation.shrink(bytes);
      bytes_ = 0;
      throw SqlError(sqlstate::outOfMemory, "out of memory");
   }
}

void LargeMemory::release() {
   if (!data_) return;
   if (bytes_ >= mapSizeMin) {
      ::munmap(data_, bytes_);
   } else if (!KeptMemory::isUsual(bytes_) || !keptMemory().keep(data_, bytes_)) {
      std::free(data_);
   }
   reservation_->shrink(bytes_);
   data_ = nullptr;
   bytes_ = 0;
}

} // namespace ouzel
