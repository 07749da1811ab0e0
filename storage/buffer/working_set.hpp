#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ouzel::storage {

/// The pages that are worth their memory: those used again from one turn to the next (Denning 1968). A turn ends when a
/// query ends that had much memory, since pages and such queries compete for it. A page is used in a turn when it is
/// found in the cache, or fetched again shortly after it was evicted. A page that is fetched for the first time is not:
/// a table that is scanned once has no working set. Thread-safe.
class WorkingSet {
public:
   /// Number of the turn, for the holder of a page to remember when the page was used.
   uint32_t turn() const { return turn_.load(std::memory_order_relaxed); }
   /// A page was found in the cache, for the first time in this turn.
   void found(size_t bytes) { used_.fetch_add(bytes, std::memory_order_relaxed); }
   /// `page` is a hash of the page's key.
   void evicted(uint64_t page, size_t bytes);
   /// A page that was not in the cache is there now. `reach`: when more bytes were evicted after it, it could not have
   /// been kept, and does not count.
   void fetched(uint64_t page, size_t bytes, size_t reach);
   /// Ends the turn `begun`, unless it has ended already: of queries that ran together, the first one ends their turn.
   void endTurn(uint32_t begun);
   /// Bytes of the working set. Grows at once, since a part of it is not worth much, and halves from turn to turn.
   size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

private:
   static constexpr size_t rememberedMax = size_t{1} << 15; ///< evicted pages; a newer one takes an older one's place
   /// A remembered page: 40 bits of its hash, and the bytes evicted until then in units of 64 KiB.
   static constexpr uint32_t unitBits = 16, clockBits = 24;
   static constexpr uint64_t clockMask = (uint64_t{1} << clockBits) - 1;

   std::atomic<uint64_t>& placeOf(uint64_t page) { return remembered_[page % rememberedMax]; }
   static uint64_t tagOf(uint64_t page) { return page >> clockBits << clockBits; }

   std::atomic<uint32_t> turn_{1};
   std::atomic<size_t> used_{0}, bytes_{0};
   std::atomic<uint64_t> evictedBytes_{0}; ///< of all pages ever
   std::array<std::atomic<uint64_t>, rememberedMax> remembered_{};
};

} // namespace ouzel::storage
