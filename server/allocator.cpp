// How jemalloc runs in the server. It reads this symbol before main(); MALLOC_CONF in the environment overrides it.

extern "C" {
/// Freed memory goes back to the system after a second, by a thread of jemalloc's own: otherwise arenas that fall idle
/// after a burst of queries keep their pages, and resident memory stays far above what the ledger holds.
extern const char* malloc_conf;
const char* malloc_conf = "background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0";
}
