// How jemalloc runs in the server. It reads this symbol before main(); MALLOC_CONF in the environment overrides it.

#include "server/allocator.hpp"

#include <jemalloc/jemalloc.h>
#include <string>

extern "C" {
/// jemalloc's options: a background thread returns freed memory to the system after a second. Otherwise arenas that
/// fall idle after a burst of queries keep their pages, and resident memory stays far above the ledger's.
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
