#pragma once
#include <atomic>
#include <cstdint>

namespace ouzel::server {

/// What all sessions count together, since the start. Thread-safe.
struct StatementCounters {
   std::atomic<uint64_t> statements{0}; ///< that have ended, well or not
   std::atomic<uint64_t> nanos{0};      ///< they ran
   std::atomic<uint64_t> errors{0};     ///< told to clients
};

} // namespace ouzel::server
