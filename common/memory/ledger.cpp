#include "common/memory/ledger.hpp"

#include <algorithm>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/memory/memory_wait.hpp"

namespace ouzel {

namespace {
void raise(std::atomic<size_t>& peak, size_t value) {
   size_t seen = peak.load(std::memory_order_relaxed);
   while (seen < value && !peak.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
   }
}
} // namespace

bool MemoryLedger::tryCharge(size_t bytes) {
   const auto tryWithin = [&](size_t limit) {
      const size_t before = used_.fetch_add(bytes, std::memory_order_relaxed);
      if (before + bytes > limit) {
         used_.fetch_sub(bytes, std::memory_order_relaxed);
         return false;
      }
      raise(peak_, before + bytes);
      return true;
   };
   for (int attempt = 0; attempt < 6; ++attempt) {
      if (tryWithin(limit())) return true;
      MemoryReclaimer* reclaimer = reclaimer_.load();
      if (!reclaimer) break;
      // Another thread may have released some meanwhile, or take what was reclaimed.
      const size_t wanted = used() + bytes, most = limit();
      if (wanted > most && reclaimer->reclaim(attempt == 0 ? std::min(bytes, wanted - most) : bytes) == 0) break;
   }
   // Withheld memory is no reason to fail: operators that can spill have already seen limit().
   return tryWithin(limit()) || tryWithin(wholeLimit());
}

Reservation::~Reservation() {
   shrink(used());
}

bool Reservation::tryGrow(size_t bytes) {
   const bool granted = parent_ ? parent_->tryGrow(bytes) : ledger_->tryCharge(bytes);
   if (granted) raise(peak_, used_.fetch_add(bytes, std::memory_order_relaxed) + bytes);
   return granted;
}

void Reservation::grow(size_t bytes) {
   for (uint32_t times = 0; !tryGrow(bytes); ++times) {
      const Reservation* root = this;
      while (root->parent_)
         root = root->parent_;
      // What is more than all memory is not worth waiting for.
      const bool mayFit = used() + bytes <= root->ledger_->wholeLimit();
      MemoryWaiter* waiter = mayFit ? memoryWaiter() : nullptr;
      if (!waiter || !waiter->waitForMemory(times))
         throw SqlError(sqlstate::outOfMemory, "out of memory")
             .detail("Failed on request of size " + std::to_string(bytes) + ": memory_limit is reached.");
   }
}

void Reservation::shrink(size_t bytes) {
   [[maybe_unused]] const size_t before = used_.fetch_sub(bytes, std::memory_order_relaxed);
   DCHECK(before >= bytes);
   if (parent_)
      parent_->shrink(bytes);
   else
      ledger_->release(bytes);
}

} // namespace ouzel
