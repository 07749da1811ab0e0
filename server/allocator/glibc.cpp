// The C library's allocator.

#include <malloc.h>

#include "server/allocator/allocator.hpp"

namespace ouzel::server {

namespace {

void purge() {
   malloc_trim(0);
}

size_t allocatedBytes() {
   const struct mallinfo2 info = mallinfo2();
   return info.uordblks + info.hblkhd;
}

} // namespace

ProcessAllocator linkedAllocator() {
   if (hasSanitizer) return {.name = "sanitizer"};
   return {.name = "glibc", .purge = purge, .allocatedBytes = allocatedBytes};
}

} // namespace ouzel::server
