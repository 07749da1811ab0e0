// mimalloc, which does not tell how many bytes are allocated.

#include <mimalloc.h>

#include "server/allocator/allocator.hpp"

namespace ouzel::server {

namespace {

void purge() {
   mi_collect(true);
}

} // namespace

ProcessAllocator linkedAllocator() {
   if (hasSanitizer) return {.name = "sanitizer"};
   return {.name = "mimalloc", .purge = purge};
}

} // namespace ouzel::server
