// How jemalloc runs in the server. It reads malloc_conf before main(); MALLOC_CONF in the environment overrides it.

#include <jemalloc/jemalloc.h>
#include <string>

#include "server/allocator/allocator.hpp"

extern "C" {
/// jemalloc's options: a background thread returns freed memory to the system after a second. Otherwise arenas that
/// fall idle after a burst of queries keep their pages, and resident memory stays far above the ledger's. Until then
/// the next query takes the memory, also for small pieces of what was freed in one large piece: by default jemalloc
/// takes fresh memory for a piece of less than 1/64, at a page fault for every 4 KiB.
extern const char* malloc_conf;
const char* malloc_conf = "background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0,lg_extent_max_active_fit:16";
}

namespace ouzel::server {

namespace {

void purge() {
   static const std::string name = "arena." + std::to_string(MALLCTL_ARENAS_ALL) + ".purge";
   mallctl(name.c_str(), nullptr, nullptr, nullptr, 0);
}

size_t allocatedBytes() {
   uint64_t epoch = 1; // the statistics are as of the last change of the epoch
   size_t allocated = 0, size = sizeof epoch;
   mallctl("epoch", &epoch, &size, &epoch, size);
   size = sizeof allocated;
   return mallctl("stats.allocated", &allocated, &size, nullptr, 0) == 0 ? allocated : 0;
}

} // namespace

ProcessAllocator linkedAllocator() {
   if (hasSanitizer) return {.name = "sanitizer"};
   return {.name = "jemalloc", .purge = purge, .allocatedBytes = allocatedBytes};
}

} // namespace ouzel::server
