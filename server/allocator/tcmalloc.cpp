// gperftools' TCMalloc.

#include <gperftools/malloc_extension_c.h>

#include "server/allocator/allocator.hpp"

namespace ouzel::server {

namespace {

void purge() {
   MallocExtension_ReleaseFreeMemory();
}

size_t allocatedBytes() {
   size_t bytes = 0;
   return MallocExtension_GetNumericProperty("generic.current_allocated_bytes", &bytes) != 0 ? bytes : 0;
}

} // namespace

ProcessAllocator linkedAllocator() {
   if (hasSanitizer) return {.name = "sanitizer"};
   return {.name = "tcmalloc", .purge = purge, .allocatedBytes = allocatedBytes};
}

} // namespace ouzel::server
