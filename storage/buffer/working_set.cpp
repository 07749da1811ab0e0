#include "storage/buffer/working_set.hpp"

#include <algorithm>

namespace ouzel::storage {

void WorkingSet::evicted(uint64_t page, size_t bytes) {
   const uint64_t now = evictedBytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
   placeOf(page).store(tagOf(page) | (now >> unitBits & clockMask), std::memory_order_relaxed);
}

void WorkingSet::fetched(uint64_t page, size_t bytes, size_t reach) {
   std::atomic<uint64_t>& place = placeOf(page);
   uint64_t there = place.load(std::memory_order_relaxed);
   if (there == 0 || tagOf(there) != tagOf(page)) return;
   // Of two threads that fetch the page only one counts it.
   if (!place.compare_exchange_strong(there, 0, std::memory_order_relaxed)) return;
   const uint64_t now = evictedBytes_.load(std::memory_order_relaxed) >> unitBits;
   const uint64_t since = (now - (there & clockMask)) & clockMask; // the clock wraps around after 1 TiB
   if (since <= reach >> unitBits) used_.fetch_add(bytes, std::memory_order_relaxed);
}

void WorkingSet::endTurn(uint32_t begun) {
   if (!turn_.compare_exchange_strong(begun, begun + 1, std::memory_order_relaxed)) return;
   const size_t used = used_.exchange(0, std::memory_order_relaxed);
   bytes_.store(std::max(used, (bytes() + used) / 2), std::memory_order_relaxed);
}

} // namespace ouzel::storage
