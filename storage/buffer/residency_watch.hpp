#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

#include "common/memory/ledger.hpp"
#include "common/thread/repeating_task.hpp"

namespace ouzel::storage {

/// Decides how much of the limit to withhold from owners that charge the ledger, so that the process's resident memory
/// stays within limit + allowance. This holds as long as uncharged memory takes no more than the allowance and half of
/// the limit: queries can always use the other half. Not thread-safe.
class ResidencyControl {
public:
   /// Uncharged memory to expect: the program itself, sessions, plans, expression scratch, memory that the allocator
   /// has not given back yet.
   static constexpr size_t allowanceBytes = size_t{192} << 20;

   /// The resident bytes to stay below: limit + allowance, less the growth to expect between two looks.
   static size_t target(size_t limit);
   /// Bytes to withhold from now on. `resident`: bytes of the process. The result rises at once by the excess over
   /// target(), and falls slowly.
   size_t observe(size_t resident, size_t limit);

private:
   size_t withheld_ = 0;
};

/// Measures the process's resident memory from a thread of its own, and has the ledger withhold as ResidencyControl
/// decides. One per process.
class ResidencyWatch {
public:
   /// `purge` gives memory that the allocator keeps back to the system; may be null. `shrink` reduces the charged bytes
   /// to the ledger's new limit. Both are called on the watch's thread.
   ResidencyWatch(MemoryLedger& ledger, void (*purge)(), std::function<void()> shrink);

private:
   void look();

   MemoryLedger& ledger_;
   void (*const purge_)();
   const std::function<void()> shrink_;
   ResidencyControl control_;
   int64_t nextPurge_ = 0; ///< not before this steadyNanos()
   int64_t nextDrop_ = 0;  ///< as nextPurge_, of memory that is kept and not needed
   RepeatingTask task_;    // last: its thread stops before the other members are destroyed
};

} // namespace ouzel::storage
