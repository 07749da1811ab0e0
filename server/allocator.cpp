// How jemalloc runs in the server. It reads this symbol before main(); MALLOC_CONF in the environment overrides it.

#include "server/allocator.hpp"

#include <jemalloc/jemalloc.h>
#include <string>

extern "C" {
/// Freed memory goes back to the system after a second, by a thread of jemalloc's own: otherwise arenas that fall idle
/// after a burst of queries keep their pages, and resident memory stays far above what the ledger holds.
extern const char* malloc_conf;
const char* malloc_conf = "background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0";
}

namespace ouzel::server {

void (*purgeAllocator())() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
   return nullptr;
#else
   return [] {
      static const std::string name = "arena." + std::to_string(MALLCTL_ARENAS_ALL) + ".purge";
      mallctl(name.c_str(), nullptr, nullptr, nullptr, 0);
   };
#endif
}

} // namespace ouzel::server
