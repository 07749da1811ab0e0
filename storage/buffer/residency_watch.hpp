#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

#include "common/memory/ledger.hpp"
#include "common/thread/repeating_task.hpp"

namespace ouzel::storage {

/// Decides how much of the limit to withhold from those who charge the ledger, so that the process's resident memory
/// stays within limit + allowance, as long as what is not charged takes no more than the allowance and half of the
/// limit: the other half is left to queries in any case. Not thread-safe.
class ResidencyControl {
public:
   /// For what nobody charges: the program itself, sessions, plans, expression scratch, freed memory not yet given
   /// back.
   static constexpr size_t allowanceBytes = size_t{192} << 20;

   /// What should be resident at most: so far below what is promised as memory may grow between two looks.
   static size_t target(size_t limit);
   /// What to withhold from now on. `resident`: of the process. Rises at once by what is too much, falls by and by.
   size_t observe(size_t resident, size_t limit);

private:
   size_t withheld_ = 0;
};

/// Looks at the process's resident memory and corrects the ledger, from a thread of its own. One per process.
class ResidencyWatch {
public:
   /// `purge` gives freed memory that the allocator keeps back to the system. `shrink` makes what is charged fit the
   /// ledger's new limit. Both are called on the watch's thread.
   ResidencyWatch(MemoryLedger& ledger, void (*purge)(), std::function<void()> shrink);

private:
   void look();

   MemoryLedger& ledger_;
   void (*const purge_)();
   const std::function<void()> shrink_;
   ResidencyControl control_;
   int64_t nextPurge_ = 0; ///< not before this steadyNanos()
   RepeatingTask task_;    // last: stops before the others go
};

} // namespace ouzel::storage
