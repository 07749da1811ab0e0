#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "common/memory/ledger.hpp"

// Memory of parse trees, bound trees and plans: millions of small allocations by libraries and containers that nobody
// can charge one by one. The allocator counts what each thread allocates and frees; a meter reads these counters from
// time to time and charges the difference.

namespace ouzel {

/// Bytes charged to a ledger; the destructor releases them. Belongs to one thread at a time.
class MemoryCharge {
public:
   MemoryCharge() = default;
   explicit MemoryCharge(MemoryLedger& ledger) : ledger_(&ledger) {}
   MemoryCharge(MemoryCharge&& other) noexcept
      : ledger_(other.ledger_), bytes_(std::exchange(other.bytes_, size_t{0})) {}
   MemoryCharge& operator=(MemoryCharge&& other) noexcept {
      release();
      ledger_ = other.ledger_;
      bytes_ = std::exchange(other.bytes_, size_t{0});
      return *this;
   }
   ~MemoryCharge() { release(); }

   size_t bytes() const { return bytes_; }
   /// Charge or release the difference. Throws 53200 when the ledger refuses. REQUIRES: made with a ledger.
   void resize(size_t bytes);

private:
   void release() {
      if (bytes_ > 0) ledger_->release(bytes_);
   }

   MemoryLedger* ledger_ = nullptr;
   size_t bytes_ = 0;
};

/// Charges what the thread that made it allocates and does not free while the meter lives. Code that allocates much
/// calls look() often. Meters nest: what an inner meter has settled is not the outer's. Without jemalloc, as in
/// sanitizer builds, a meter measures nothing. Used and ended by the thread that made it.
class AllocationMeter {
public:
   explicit AllocationMeter(MemoryLedger& ledger);
   ~AllocationMeter();
   AllocationMeter(const AllocationMeter&) = delete;
   AllocationMeter& operator=(const AllocationMeter&) = delete;

   /// Charge the thread's innermost meter, if there is one, when much has been allocated since the last look. Throws
   /// 53200 when the ledger refuses. Costs a few instructions.
   static void look() {
      AllocationMeter* const meter = innermost_;
      if (meter && meter->threadBytes() >= meter->chargeFrom_) meter->charge();
   }
   /// The exact charge for what is allocated now; the meter measures no more. Throws 53200.
   MemoryCharge settle();
   /// False: the process has no allocator that counts.
   static bool canMeasure();

private:
   /// What the thread has allocated and not freed. Negative when it frees what other threads have allocated.
   int64_t threadBytes() const { return static_cast<int64_t>(*allocated_ - *freed_); }
   size_t net() const;
   void charge();
   void end();

   inline static constinit thread_local AllocationMeter* innermost_ = nullptr;
   // PROPERTIES
   const uint64_t *allocated_, *freed_; ///< where the allocator counts the thread's bytes
   AllocationMeter* const outer_;
   // STATE
   MemoryCharge charge_;
   int64_t begin_;      ///< the thread's bytes when the meter began, and the bytes that inner meters have charged
   int64_t chargeFrom_; ///< threadBytes() from which look() charges
   bool hasEnded_ = false;
};

} // namespace ouzel
