#include "storage/buffer/residency_watch.hpp"

#include <algorithm>

#include "common/env/clock.hpp"
#include "common/memory/large_memory.hpp"
#include "common/memory/process_allocator.hpp"

namespace ouzel::storage {

namespace {

/// Time between two looks: short while much memory is charged. A look takes a few microseconds.
constexpr int64_t busyMs = 20, idleMs = 500;
constexpr int64_t purgeNanos = 250'000'000;
/// Memory that queries gave back and no query took again for so long goes back to the system.
constexpr int64_t unneededNanos = 10'000'000'000;
/// Each look lowers the withheld bytes by 1 / decayDivisor.
constexpr size_t decayDivisor = 256;

} // namespace

size_t ResidencyControl::target(size_t limit) {
   // The distance to the bound grows with the limit: larger machines fill memory faster between two looks.
   return limit + allowanceBytes - std::min(allowanceBytes / 6 * 5, allowanceBytes / 2 + limit / 16);
}

size_t ResidencyControl::observe(size_t resident, size_t limit) {
   const size_t wanted = target(limit);
   if (resident > wanted) {
      withheld_ = std::min(withheld_ + (resident - wanted), limit / 2);
   } else {
      withheld_ -= std::min(withheld_, std::max(withheld_ / decayDivisor, size_t{64} << 10));
   }
   return withheld_;
}

ResidencyWatch::ResidencyWatch(MemoryLedger& ledger, void (*purge)(), std::function<void()> shrink)
   : ledger_(ledger), purge_(purge), shrink_(std::move(shrink)) {
   task_.start(idleMs, [this] {
      look();
      return ledger_.used() + ResidencyControl::allowanceBytes > ledger_.wholeLimit() / 2 ? busyMs : idleMs;
   });
}

void ResidencyWatch::look() {
   const size_t limit = ledger_.wholeLimit();
   if (const int64_t now = steadyNanos(); now >= nextDrop_) {
      LargeMemory::dropUnneeded();
      nextDrop_ = now + unneededNanos;
   }
   size_t resident = residentBytes();
   const size_t target = ResidencyControl::target(limit);
   if (resident > target && purge_) {
      // Memory freed a moment ago is not in use, so it is purged before anything is withheld. But most of it is
      // allocated again soon, and then costs a page fault for every page: so purge() runs once in purgeNanos at most,
      // until half of the way from the target to the bound is gone. What is withheld adds up once in purgeNanos.
      const int64_t now = steadyNanos();
      const bool isDue = now >= nextPurge_;
      if (!isDue && resident < target + (limit + ResidencyControl::allowanceBytes - target) / 2) return;
      LargeMemory::dropKept();
      purge_();
      if (!isDue) return;
      nextPurge_ = now + purgeNanos;
      resident = residentBytes();
   }
   const size_t before = ledger_.withheld(), withheld = control_.observe(resident, limit);
   ledger_.withhold(withheld);
   if (withheld > before) shrink_();
}

} // namespace ouzel::storage
