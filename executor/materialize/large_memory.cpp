#include "executor/materialize/large_memory.hpp"

#include <cstdlib>
#include <new>
#include <sys/mman.h>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::executor {

namespace {
constexpr size_t hugePageSize = 2 << 20;
/// From here on mmap: zero pages come for free and huge pages are possible.
constexpr size_t mapSizeMin = 1 << 20;
} // namespace

LargeMemory::LargeMemory(size_t bytes, Reservation& reservation) : bytes_(bytes), reservation_(&reservation) {
   if (bytes == 0) return;
   reservation.grow(bytes);
   if (bytes < mapSizeMin) {
      data_ = std::calloc(1, bytes);
   } else {
      void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      data_ = mapped == MAP_FAILED ? nullptr : mapped;
      if (data_ && bytes >= hugePageSize) ::madvise(data_, bytes, MADV_HUGEPAGE);
   }
   if (!data_) {
      reservation.shrink(bytes);
      bytes_ = 0;
      throw SqlError(sqlstate::outOfMemory, "out of memory");
   }
}

void LargeMemory::release() {
   if (!data_) return;
   if (bytes_ < mapSizeMin) {
      std::free(data_);
   } else {
      ::munmap(data_, bytes_);
   }
   reservation_->shrink(bytes_);
   data_ = nullptr;
   bytes_ = 0;
}

} // namespace ouzel::executor
