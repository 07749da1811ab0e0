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

bool isMapped(size_t bytes) {
   return bytes >= mapSizeMin;
}

/// What an allocation takes: if it is mapped, whole huge pages.
size_t sizeOf(size_t bytes) {
   return isMapped(bytes) ? (bytes + hugePageSize - 1) / hugePageSize * hugePageSize : bytes;
}

void giveBack(void* data, size_t size) {
   if (isMapped(size))
      ::munmap(data, size);
   else
      std::free(data);
}

/// Freed allocations of usual sizes, one list for each size. LargeMemory takes from it before it asks the system.
/// Thread-safe.
class KeptMemory {
public:
   static bool isUsual(size_t size) {
      return isMapped(size) ? size <= populatedMax : size % LargeMemory::usualStep == 0;
   }

   void* take(size_t size) {
      DCHECK(isUsual(size));
      const MutexLock lock(mutex_);
      std::vector<void*>& list = lists_[numberOf(size)];
      if (list.empty()) return nullptr;
      void* data = list.back();
      list.pop_back();
      DCHECK(bytes_ >= size);
      bytes_ -= size;
      least_ = std::min(least_, bytes_);
      return data;
   }
   /// False: bytesMax_ would be exceeded, so that the caller frees the allocation.
   bool keep(void* data, size_t size) {
      DCHECK(isUsual(size));
      const MutexLock lock(mutex_);
      if (bytes_ + size > bytesMax_) return false;
      lists_[numberOf(size)].push_back(data);
      bytes_ += size;
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
      std::vector<Dropped> dropped;
      {
         const MutexLock lock(mutex_);
         dropInto(dropped, least_);
         least_ = bytes_;
      }
      freeAll(dropped);
   }
   void dropAll() {
      std::vector<Dropped> dropped;
      {
         const MutexLock lock(mutex_);
         dropInto(dropped, bytes_);
         least_ = 0;
      }
      freeAll(dropped);
   }

private:
   struct Dropped {
      void* data;
      size_t size;
   };
   /// Multiples of usualStep come first, then those of hugePageSize.
   static constexpr size_t smallLists = mapSizeMin / LargeMemory::usualStep;
   static constexpr size_t listCount = smallLists + populatedMax / hugePageSize + 1;
   static size_t numberOf(size_t size) {
      return isMapped(size) ? smallLists + size / hugePageSize : size / LargeMemory::usualStep;
   }
   static size_t sizeOfList(size_t number) {
      return number < smallLists ? number * LargeMemory::usualStep : (number - smallLists) * hugePageSize;
   }

   /// Take `wanted` bytes or a little less out of the lists, large allocations first.
   void dropInto(std::vector<Dropped>& dropped, size_t wanted) REQUIRES(mutex_) {
      for (size_t number = listCount; number-- > 1;) {
         const size_t size = sizeOfList(number);
         for (std::vector<void*>& list = lists_[number]; !list.empty() && size <= wanted; wanted -= size) {
            dropped.push_back({list.back(), size});
            list.pop_back();
            bytes_ -= size;
         }
      }
   }
   static void freeAll(const std::vector<Dropped>& dropped) {
      for (const Dropped& one : dropped)
         giveBack(one.data, one.size);
   }

   Mutex mutex_;
   size_t bytesMax_ GUARDED_BY(mutex_) = LargeMemory::keptBytesMax;
   std::vector<void*> lists_[listCount] GUARDED_BY(mutex_);
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
   const size_t size = sizeOf(bytes);
   data_ = KeptMemory::isUsual(size) ? keptMemory().take(size) : nullptr;
   bool isZero = false;
   if (!data_ && isMapped(size)) {
      void* mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      data_ = mapped == MAP_FAILED ? nullptr : mapped;
      if (data_) ::madvise(data_, size, MADV_HUGEPAGE);
      if (data_ && size <= populatedMax) ::madvise(data_, size, MADV_POPULATE_WRITE);
      isZero = true;
   } else if (!data_) {
      data_ = std::malloc(size);
   }
   // Not calloc(): jemalloc returns memory that it has to the system to get zeros for it, which costs more than writing
   // these zeros. The compiler would turn a malloc() directly before a memset() into calloc().
   if (data_ && fill == Fill::Zero && !isZero) std::memset(data_, 0, bytes);
   if (!data_) {
      reservation.shrink(bytes);
      bytes_ = 0;
      throw SqlError(sqlstate::outOfMemory, "out of memory");
   }
}

void LargeMemory::release() {
   if (!data_) return;
   const size_t size = sizeOf(bytes_);
   if (!KeptMemory::isUsual(size) || !keptMemory().keep(data_, size)) giveBack(data_, size);
   reservation_->shrink(bytes_);
   data_ = nullptr;
   bytes_ = 0;
}

} // namespace ouzel
