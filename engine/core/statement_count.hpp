#pragma once
#include <atomic>
#include <cstdint>

#include "common/env/clock.hpp"

namespace ouzel::engine {

/// Counters of all sessions of a database together, since it was opened. Thread-safe.
struct StatementCounters {
   std::atomic<uint64_t> statements{0}; ///< ended, with or without an error
   std::atomic<uint64_t> nanos{0};      ///< run time of the statements
   std::atomic<uint64_t> errors{0};     ///< sent to clients
};

/// Counts a statement, or one Execute message of a portal, when the object ends.
class StatementCount {
public:
   explicit StatementCount(StatementCounters& counters) : counters_(counters), start_(steadyNanos()) {}
   ~StatementCount() {
      counters_.nanos.fetch_add(static_cast<uint64_t>(steadyNanos() - start_), std::memory_order_relaxed);
      if (isOver) counters_.statements.fetch_add(1, std::memory_order_relaxed);
   }
   StatementCount(const StatementCount&) = delete;
   StatementCount& operator=(const StatementCount&) = delete;

   bool isOver = true; ///< false: the portal goes on, or was empty

private:
   StatementCounters& counters_;
   const int64_t start_;
};

} // namespace ouzel::engine
