#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/error/check.hpp"

// The account every large allocation is charged to before it is made. One process-wide ledger holds the limit;
// storage/buffer's governor owns it and hooks in reclaimers; operators, arenas and queues hold Reservations.

namespace ouzel {

/// Frees memory when the ledger runs out: drops cached frames, or asks an owner to spill. Registered by the governor.
class MemoryReclaimer {
public:
   virtual ~MemoryReclaimer() = default;
   /// Try to release at least `bytes`; return what was released. Called on the requesting thread, which holds no mutex
   /// of the ledger.
   virtual size_t reclaim(size_t bytes) = 0;
};

/// Process-wide count of reserved bytes against one limit. Thread-safe, lock-free.
///
///    0 ............ used() ............ limit() ..... wholeLimit()
///                                       |  withheld  |
///
/// Memory that the process has without charging it (fragmentation, libraries) is withheld from the limit: charges ask
/// the reclaimer from limit() on, and fail only at wholeLimit().
class MemoryLedger {
public:
   explicit MemoryLedger(size_t limit) : limit_(limit) {}

   /// Charge `bytes`; ask the reclaimer when limit() is reached. False: wholeLimit() is reached too, and nothing was
   /// charged.
   [[nodiscard]] bool tryCharge(size_t bytes);
   /// REQUIRES: `bytes` were charged and not released yet.
   void release(size_t bytes) {
      [[maybe_unused]] const size_t before = used_.fetch_sub(bytes, std::memory_order_relaxed);
      DCHECK(before >= bytes);
   }
   size_t used() const { return used_.load(std::memory_order_relaxed); }
   size_t peak() const { return peak_.load(std::memory_order_relaxed); }
   /// Bytes that should be charged at most: wholeLimit() without withheld(), but never less than half of wholeLimit().
   size_t limit() const {
      const size_t limit = limit_.load(std::memory_order_relaxed), withheld = withheld_.load(std::memory_order_relaxed);
      return limit - (withheld < limit / 2 ? withheld : limit / 2);
   }
   size_t wholeLimit() const { return limit_.load(std::memory_order_relaxed); }
   void setLimit(size_t limit) { limit_.store(limit, std::memory_order_relaxed); }
   /// Set how many bytes of the limit are taken by memory that is not charged. Set by
   /// storage/buffer/residency_watch.hpp.
   void withhold(size_t bytes) { withheld_.store(bytes, std::memory_order_relaxed); }
   size_t withheld() const { return withheld_.load(std::memory_order_relaxed); }
   void setReclaimer(MemoryReclaimer* reclaimer) { reclaimer_.store(reclaimer); }

private:
   std::atomic<size_t> limit_, withheld_{0}, used_{0}, peak_{0};
   std::atomic<MemoryReclaimer*> reclaimer_{nullptr};
};

/// The bytes that one owner (a query, an operator, a cache) has charged; the destructor releases them. Thread-safe. A
/// child charges its parent, so that a query's and an operator's use are both visible; the root charges the ledger.
class Reservation {
public:
   explicit Reservation(MemoryLedger& ledger) : ledger_(&ledger) {}
   explicit Reservation(Reservation& parent) : parent_(&parent) {}
   ~Reservation();
   Reservation(const Reservation&) = delete;
   Reservation& operator=(const Reservation&) = delete;

   [[nodiscard]] bool tryGrow(size_t bytes);
   /// Throws 53200 "out of memory" when refused.
   void grow(size_t bytes);
   void shrink(size_t bytes);
   size_t used() const { return used_.load(std::memory_order_relaxed); }
   size_t peak() const { return peak_.load(std::memory_order_relaxed); }
   /// The limit() of the ledger that is charged in the end.
   size_t limit() const { return parent_ ? parent_->limit() : ledger_->limit(); }

private:
   MemoryLedger* ledger_ = nullptr;
   Reservation* parent_ = nullptr;
   std::atomic<size_t> used_{0}, peak_{0};
};

} // namespace ouzel
