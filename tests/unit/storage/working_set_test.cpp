#include "storage/buffer/working_set.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "storage/buffer/frame_cache.hpp"
#include "storage/buffer/memory_governor.hpp"

namespace ouzel::storage {
namespace {

constexpr size_t mebibyte = size_t{1} << 20;

/// Reads pages of 1 MiB through the cache, as a scan does.
void scan(FrameCache& cache, uint32_t pages, int64_t nanosPerPage = 0) {
   for (uint32_t page = 0; page < pages; ++page) {
      const PageKey key{1, 0, page};
      if (cache.find(key)) continue;
      cache.load(key, mebibyte, [&](char*) { std::this_thread::sleep_for(std::chrono::nanoseconds(nanosPerPage)); });
   }
}

size_t keptBytes(const MemoryGovernor& governor, Eviction eviction) {
   return governor.bytes(eviction).kept;
}

} // namespace

CATCH_TEST_CASE("pages that are used once are no working set") {
   MemoryGovernor governor(64 * mebibyte);
   WorkingSet& set = governor.cache().workingSet();
   scan(governor.cache(), 16);
   scan(governor.cache(), 16); // in the same turn
   governor.endTurn(governor.turn());
   CATCH_CHECK(set.bytes() == 0);
   scan(governor.cache(), 200); // far more than there is memory
   governor.endTurn(governor.turn());
   CATCH_CHECK(set.bytes() <= 16 * mebibyte); // the first 16 pages were used again
}

CATCH_TEST_CASE("pages that are found again, or fetched again soon, are the working set") {
   MemoryGovernor governor(64 * mebibyte);
   FrameCache& cache = governor.cache();
   WorkingSet& set = cache.workingSet();
   scan(cache, 16);
   for (int turn = 0; turn < 12; ++turn) {
      governor.endTurn(governor.turn());
      if (turn % 2 == 0) cache.evict(SIZE_MAX);
      scan(cache, 16);
   }
   CATCH_CHECK(set.bytes() > 15 * mebibyte);
   CATCH_CHECK(set.bytes() <= 16 * mebibyte);
   for (int turn = 0; turn < 12; ++turn)
      governor.endTurn(governor.turn()); // nobody uses them any more
   CATCH_CHECK(set.bytes() < mebibyte);
}

CATCH_TEST_CASE("a page that comes back late does not count") {
   WorkingSet set;
   set.evicted(0x123456789abcdef, mebibyte);
   set.evicted(0xfedcba987654321, 40 * mebibyte);
   set.fetched(0x123456789abcdef, mebibyte, 32 * mebibyte);
   set.endTurn(set.turn());
   CATCH_CHECK(set.bytes() == 0);
   set.fetched(0x999999987654321, mebibyte, 32 * mebibyte); // was never there, but has the other one's place
   set.fetched(0xfedcba987654321, 40 * mebibyte, 32 * mebibyte);
   set.fetched(0xfedcba987654321, 40 * mebibyte, 32 * mebibyte); // by two threads
   const uint32_t turn = set.turn();
   set.endTurn(turn);
   set.endTurn(turn); // of a query that ran beside
   CATCH_CHECK(set.bytes() == 40 * mebibyte);
}

CATCH_TEST_CASE("the cost of a fetch is the time of all threads together") {
   FetchCost cost;
   CATCH_CHECK(cost.nanosPerByte() == 0);
   const auto begin = std::chrono::steady_clock::now();
   {
      const FetchScope first(cost);
      const FetchScope second(cost);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
   }
   const std::chrono::duration<double, std::nano> most = std::chrono::steady_clock::now() - begin;
   cost.arrived(8 * mebibyte);
   CATCH_CHECK(cost.nanosPerByte() >= 20e6 / (8 * mebibyte));
   CATCH_CHECK(cost.nanosPerByte() <= most.count() / (8 * mebibyte));
   // Samples are as good while somebody fetches all the time.
   const FetchScope always(cost);
   for (int sample = 0; sample < 20; ++sample) {
      std::this_thread::sleep_for(std::chrono::milliseconds(4));
      cost.arrived(4 * mebibyte);
   }
   CATCH_CHECK(cost.nanosPerByte() >= 4e6 / (4 * mebibyte));
}

CATCH_TEST_CASE("the cache keeps its working set if that is dearer than spilling") {
   MemoryGovernor governor(64 * mebibyte);
   FrameCache& cache = governor.cache();
   double spillCost = 0;
   const auto keep = [&](uint32_t pages) {
      cache.evict(SIZE_MAX);
      for (int turn = 0; turn < 8; ++turn) {
         scan(cache, pages, 100'000);
         governor.endTurn(governor.turn());
      }
   };
   keep(20);
   CATCH_CHECK(governor.evictableBytes() == 20 * mebibyte);
   CATCH_CHECK(keptBytes(governor, Eviction::Priced) == 0); // the cost of spilling is not known
   governor.setSpillCost([&] { return spillCost; });
   CATCH_CHECK(keptBytes(governor, Eviction::Priced) > 18 * mebibyte);
   CATCH_CHECK(keptBytes(governor, Eviction::TableFirst) == 0);
   CATCH_CHECK(keptBytes(governor, Eviction::Mixed) == 16 * mebibyte);
   CATCH_CHECK(keptBytes(governor, Eviction::TemporaryFirst) == 20 * mebibyte);
   spillCost = 1000; // 0.1 ms for 1 MiB are 0.1 ns per byte
   CATCH_CHECK(keptBytes(governor, Eviction::Priced) == 0);
   spillCost = 0;
   keep(50); // more than half of the memory
   CATCH_CHECK(keptBytes(governor, Eviction::Priced) == 0);
   CATCH_CHECK(keptBytes(governor, Eviction::TemporaryFirst) == 32 * mebibyte);
}

} // namespace ouzel::storage
