#include "storage/buffer/frame_cache.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <optional>
#include <random>
#include <thread>

#include "storage/buffer/memory_governor.hpp"

namespace ouzel::storage {
namespace {

constexpr size_t pageSize = 1024;

/// The content of a page, different for each page.
uint64_t markOf(const PageKey& key) {
   return key.segment << 40 ^ uint64_t { key.column } << 20 ^ key.page;
}
void write(const PageKey& key, char* page) {
   const uint64_t mark = markOf(key);
   for (size_t at = 0; at < pageSize; at += sizeof mark)
      std::memcpy(page + at, &mark, sizeof mark);
}
bool holds(const PagePin& pin, const PageKey& key) {
   const uint64_t mark = markOf(key);
   return std::memcmp(pin.data(), &mark, sizeof mark) == 0 &&
          std::memcmp(pin.data() + pageSize - sizeof mark, &mark, sizeof mark) == 0;
}

/// A stretch with the pages 0, 1, … of one column.
struct Stretch {
   char* data = nullptr; // declared before `pin`, whose initializer sets it
   PagePin pin;
   Stretch(FrameCache& cache, SegmentId segment, uint32_t column, uint32_t pages)
      : pin(cache.tryAllocate(pages * pageSize, data)) {
      for (uint32_t page = 0; pin && page < pages; ++page)
         write({segment, column, page}, data + page * pageSize);
   }
   PagePin adopt(FrameCache& cache, const PageKey& key) const {
      return cache.adopt(pin, key, data + key.page * pageSize);
   }
};

} // namespace

CATCH_TEST_CASE("pages of a stretch are found where they landed and go together") {
   MemoryGovernor governor(size_t{1} << 20);
   FrameCache& cache = governor.cache();
   {
      const Stretch stretch(cache, 1, 0, 4);
      CATCH_CHECK(governor.ledger().used() == 4 * pageSize);
      CATCH_CHECK(cache.cachedBytes() == 0);
      CATCH_CHECK(!cache.find({1, 0, 0}));
      for (const uint32_t page : {0U, 2U}) {
         const PagePin adopted = stretch.adopt(cache, {1, 0, page});
         CATCH_CHECK(adopted.data() == stretch.data + page * pageSize);
      }
      CATCH_CHECK(cache.cachedBytes() == 4 * pageSize);
      CATCH_CHECK(cache.pinnedBytes() == 4 * pageSize);
      CATCH_CHECK(governor.evictableBytes() == 0);
   }
   CATCH_CHECK(cache.pinnedBytes() == 0);
   CATCH_CHECK(governor.evictableBytes() == 4 * pageSize);
   CATCH_CHECK(holds(cache.find({1, 0, 0}), {1, 0, 0}));
   CATCH_CHECK(holds(cache.find({1, 0, 2}), {1, 0, 2}));
   CATCH_CHECK(!cache.contains({1, 0, 1})); // not requested
   {
      const PagePin pinned = cache.find({1, 0, 2});
      CATCH_CHECK(cache.evict(1) == 0);
      CATCH_CHECK(cache.contains({1, 0, 0}));
   }
   CATCH_CHECK(cache.evict(1) == 4 * pageSize);
   CATCH_CHECK(!cache.contains({1, 0, 0}));
   CATCH_CHECK(!cache.contains({1, 0, 2}));
   CATCH_CHECK(governor.ledger().used() == 0);
}

CATCH_TEST_CASE("a stretch of which no page was adopted goes with its pin") {
   MemoryGovernor governor(size_t{1} << 20);
   std::optional<Stretch> stretch(std::in_place, governor.cache(), 1, 0, 4);
   CATCH_CHECK(governor.cache().evict(SIZE_MAX) == 0);
   stretch.reset();
   CATCH_CHECK(governor.ledger().used() == 0);
   CATCH_CHECK(!Stretch(governor.cache(), 1, 0, 4096).pin); // the ledger refuses
}

CATCH_TEST_CASE("a page that is cached already is not replaced by one of a stretch") {
   MemoryGovernor governor(size_t{1} << 20);
   FrameCache& cache = governor.cache();
   const char* const first = cache.load({1, 0, 0}, pageSize, [](char* page) { write({1, 0, 0}, page); }).data();
   {
      const Stretch stretch(cache, 1, 0, 2);
      CATCH_CHECK(stretch.adopt(cache, {1, 0, 0}).data() == first);
   }
   CATCH_CHECK(cache.cachedBytes() == pageSize);
}

CATCH_TEST_CASE("a segment that is forgotten stays readable for those who hold its pages") {
   MemoryGovernor governor(size_t{1} << 20);
   FrameCache& cache = governor.cache();
   std::optional<Stretch> stretch(std::in_place, cache, 1, 0, 3);
   std::optional<PagePin> page(stretch->adopt(cache, {1, 0, 0}));
   stretch->adopt(cache, {1, 0, 1});
   const Stretch other(cache, 2, 0, 1);
   other.adopt(cache, {2, 0, 0});
   cache.evictSegment(1);
   CATCH_CHECK(!cache.contains({1, 0, 0}));
   CATCH_CHECK(!cache.contains({1, 0, 1}));
   CATCH_CHECK(cache.contains({2, 0, 0}));
   CATCH_CHECK(holds(*page, {1, 0, 0}));
   CATCH_CHECK(holds(stretch->adopt(cache, {1, 0, 2}), {1, 0, 2})); // usable, but must not be in the cache
   CATCH_CHECK(!cache.contains({1, 0, 2}));
   stretch.reset();
   CATCH_CHECK(cache.cachedBytes() == 4 * pageSize);
   CATCH_CHECK(cache.pinnedBytes() == 4 * pageSize); // `page` and `other`
   page.reset();
   CATCH_CHECK(cache.cachedBytes() == pageSize);
   CATCH_CHECK(cache.pinnedBytes() == pageSize);
}

CATCH_TEST_CASE("threads that load, adopt, evict and forget never see a wrong page") {
   MemoryGovernor governor(300 * pageSize); // not enough for all pages
   FrameCache& cache = governor.cache();
   std::atomic<uint64_t> wrong{0}, seen{0};
   const auto work = [&](uint32_t seed) {
      std::minstd_rand random(seed);
      for (int step = 0; step < 20'000; ++step) {
         const SegmentId segment = 1 + random() % 4;
         const auto column = static_cast<uint32_t>(random() % 16);
         const auto first = static_cast<uint32_t>(random() % 8);
         const uint32_t action = random() % 64;
         if (action == 0) {
            cache.evictSegment(segment);
         } else if (action == 1) {
            cache.evict(random() % 64 * pageSize);
         } else if (action < 10) {
            const Stretch stretch(cache, segment, column, 8);
            for (uint32_t page = first; stretch.pin && page < 8; ++page)
               wrong += !holds(stretch.adopt(cache, {segment, column, page}), {segment, column, page});
         } else {
            const PageKey key{segment, column, first};
            PagePin pin = cache.find(key);
            if (!pin) pin = cache.load(key, pageSize, [&](char* page) { write(key, page); });
            wrong += !holds(pin, key);
            ++seen;
         }
      }
   };
   std::vector<std::thread> threads;
   for (uint32_t seed = 1; seed <= 4; ++seed)
      threads.emplace_back(work, seed);
   for (std::thread& thread : threads)
      thread.join();
   CATCH_CHECK(wrong == 0);
   CATCH_CHECK(seen > 10'000);
   cache.evict(SIZE_MAX);
   CATCH_CHECK(cache.pinnedBytes() == 0);
   cache.evict(SIZE_MAX);
   CATCH_CHECK(cache.cachedBytes() == 0);
}

} // namespace ouzel::storage
