#pragma once
#include <atomic>
#include <cstdint>

namespace ouzel::server {

/// Counters of all sessions together, since the start of the process. Thread-safe.
struct StatementCounters {
   std::atomic<uint64_t> statements{0}; ///< ended, with or without an error
   std::atomic<uint64_t> nanos{0};      ///< run time of the statements
   std::atomic<uint64_t> errors{0};     ///< sent to clients
};

} // namespace ouzel::server
