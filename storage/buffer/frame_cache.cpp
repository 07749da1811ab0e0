#include "storage/buffer/frame_cache.hpp"

#include <cstdlib>
#include <memory>
#include <new>
#include <sys/mman.h>

#include "common/error/check.hpp"
#include "common/hash/hash.hpp"
#include "storage/buffer/frame_tally.hpp"

namespace ouzel::storage {

size_t FrameCache::KeyHash::operator()(const PageKey& key) const {
   return hashCombine(hashU64(key.segment), static_cast<uint64_t>(key.column) << 32 | key.page);
}

void PagePin::reset() {
   Frame* frame = std::exchange(frame_, nullptr);
   if (!frame) return;
   FrameCache& cache = *frame->cache;
   const size_t size = frame->size; // once the pin is gone, another thread may free the frame
   const uint32_t before = frame->state.fetch_sub(1, std::memory_order_acq_rel);
   CHECK((before & ~FrameCache::detachedBit) != 0);
   if ((before & ~FrameCache::detachedBit) != 1) return;
   const bool isLast = (before & FrameCache::detachedBit) != 0;
   if (!isLast || frame->place != Frame::Place::Private) cache.pinnedBytes_.fetch_sub(size, std::memory_order_relaxed);
   if (isLast) cache.free(frame);
}

FrameCache::~FrameCache() {
   for (Ring& ring : rings_)
      for (Frame* frame : ring.frames) {
         CHECK(frame->state.load() == 0);
         free(frame);
      }
}

FrameCache::Ring& FrameCache::ringOf(const Frame& frame) {
   return rings_[hashU64(reinterpret_cast<uintptr_t>(&frame)) % shardCount];
}

Frame* FrameCache::allocate(size_t size) {
   auto frame = std::make_unique<Frame>();
   frame->size = size;
   frame->cache = this;
   frame->state.store(detachedBit | 1, std::memory_order_relaxed);
   frame->data = static_cast<char*>(std::aligned_alloc(64, (size + 63) / 64 * 64));
   if (!frame->data) {
      reservation_.shrink(size);
      throw std::bad_alloc();
   }
   privateBytes_.fetch_add(size, std::memory_order_relaxed);
   return frame.release();
}

void FrameCache::free(Frame* frame) {
   std::free(frame->data);
   if (frame->place == Frame::Place::Private) privateBytes_.fetch_sub(frame->size, std::memory_order_relaxed);
   reservation_.shrink(frame->size);
   delete frame;
}

PagePin FrameCache::pinned(const Shard& shard, const PageKey& key) {
   const auto found = shard.pages.find(key);
   if (found == shard.pages.end()) return {};
   Frame* const frame = found->second.frame;
   if ((frame->state.fetch_add(1, std::memory_order_acq_rel) & ~detachedBit) == 0)
      pinnedBytes_.fetch_add(frame->size, std::memory_order_relaxed);
   // All threads that pin the frame share this cache line: write to it only when the flag changes.
   if (!frame->isReferenced.load(std::memory_order_relaxed)) frame->isReferenced.store(true, std::memory_order_relaxed);
   noteUse(*frame);
   return {frame, found->second.data};
}

void FrameCache::noteUse(Frame& frame) {
   const uint32_t turn = workingSet_.turn();
   if (frame.turn.load(std::memory_order_relaxed) == turn) return;
   if (frame.turn.exchange(turn, std::memory_order_relaxed) != turn) workingSet_.found(frame.size);
}

PagePin FrameCache::find(const PageKey& key) {
   Shard& shard = shardOf(key);
   const MutexLock lock(shard.mutex);
   PagePin pin = pinned(shard, key);
   (pin ? hits_ : misses_).fetch_add(1, std::memory_order_relaxed);
   if (FrameTally* const tally = FrameTallyScope::current())
      (pin ? tally->hits : tally->misses).fetch_add(1, std::memory_order_relaxed);
   return pin;
}

PagePin FrameCache::load(const PageKey& key, size_t size, const std::function<void(char*)>& load) {
   reservation_.grow(size);
   Frame* const frame = allocate(size);
   PagePin pin(frame, frame->data);
   {
      const FetchScope fetching(fetchCost_);
      load(frame->data);
   }
   return adopt(pin, key, frame->data);
}

namespace {
/// Make the kernel map all pages of new memory in one call. Faulting the pages in one by one would cost half as much
/// again, and the thread that receives from the network would have to wait for the faults.
void touch(char* data, size_t size) {
   constexpr uintptr_t pageSize = 4096;
   const uintptr_t first = (reinterpret_cast<uintptr_t>(data) + pageSize - 1) / pageSize * pageSize;
   const uintptr_t end = (reinterpret_cast<uintptr_t>(data) + size) / pageSize * pageSize;
   // Linux before 5.14 refuses this advice; the pages are then mapped as they are written to.
   if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_POPULATE_WRITE);
}
} // namespace

PagePin FrameCache::tryAllocate(size_t size, char*& data) {
   if (!reservation_.tryGrow(size)) return {};
   Frame* const frame = allocate(size);
   data = frame->data;
   touch(data, size);
   return {frame, frame->data};
}

PagePin FrameCache::adopt(const PagePin& stretch, const PageKey& key, const char* data) {
   Frame* const frame = stretch.frame_;
   DCHECK(data >= frame->data);
   DCHECK(data < frame->data + frame->size);
   Shard& shard = shardOf(key);
   const MutexLock lock(shard.mutex);
   if (PagePin other = pinned(shard, key)) return other; // another thread was faster
   if (list(*frame, key)) shard.pages.emplace(key, Place{frame, data});
   frame->state.fetch_add(1, std::memory_order_relaxed);
   return {frame, data};
}

/// Enter the frame under `key`. False: the frame was dropped meanwhile, and stays dropped. REQUIRES: the frame is
/// pinned; the mutex of the key's shard is held.
bool FrameCache::list(Frame& frame, const PageKey& key) {
   Ring& ring = ringOf(frame);
   const MutexLock lock(ring.mutex);
   if (frame.place == Frame::Place::Dropped) return false;
   if (frame.place == Frame::Place::Private) {
      frame.place = Frame::Place::Listed;
      frame.turn.store(workingSet_.turn(), std::memory_order_relaxed);
      fetchCost_.arrived(frame.size);
      workingSet_.fetched(KeyHash{}(key), frame.size, ledger_.wholeLimit() / 2);
      privateBytes_.fetch_sub(frame.size, std::memory_order_relaxed);
      pinnedBytes_.fetch_add(frame.size, std::memory_order_relaxed);
      frame.state.fetch_and(~detachedBit, std::memory_order_acq_rel);
      frame.ringIndex = static_cast<uint32_t>(ring.frames.size());
      ring.frames.push_back(&frame);
   }
   frame.keys.push_back(key);
   return true;
}

bool FrameCache::contains(const PageKey& key) {
   Shard& shard = shardOf(key);
   const MutexLock lock(shard.mutex);
   return shard.pages.contains(key);
}

/// Take the frame from its ring and mark it as dropped. REQUIRES: the frame is listed.
FrameCache::Dropped FrameCache::takeFromRing(Ring& ring, Frame& frame) {
   Frame* const last = ring.frames.back();
   ring.frames[frame.ringIndex] = last;
   last->ringIndex = frame.ringIndex;
   ring.frames.pop_back();
   frame.place = Frame::Place::Dropped;
   return {&frame, std::move(frame.keys)};
}

/// Take the frame out of the maps, so that find() does not reach it. Returns the bytes freed at once: 0 while the frame
/// is pinned, since its last pin frees it.
size_t FrameCache::drop(const Dropped& dropped) {
   for (const PageKey& key : dropped.keys) {
      Shard& shard = shardOf(key);
      const MutexLock lock(shard.mutex);
      shard.pages.erase(key);
   }
   const size_t size = dropped.frame->size;
   const uint32_t before = dropped.frame->state.fetch_or(detachedBit, std::memory_order_acq_rel);
   if (before != 0) return 0;
   free(dropped.frame);
   return size;
}

size_t FrameCache::evictFrom(Ring& ring, size_t bytes) {
   std::vector<Dropped> victims;
   {
      const MutexLock lock(ring.mutex);
      size_t chosen = 0;
      // Two rounds at most: the first round clears isReferenced.
      for (size_t steps = ring.frames.size() * 2; steps > 0 && chosen < bytes && !ring.frames.empty(); --steps) {
         ring.hand %= ring.frames.size();
         Frame* const frame = ring.frames[ring.hand];
         if (frame->state.load(std::memory_order_acquire) != 0 ||
             frame->isReferenced.exchange(false, std::memory_order_relaxed)) {
            ++ring.hand;
            continue;
         }
         chosen += frame->size;
         victims.push_back(takeFromRing(ring, *frame)); // the last frame moved to this place: look there next
      }
   }
   size_t freed = 0;
   for (const Dropped& victim : victims) {
      for (const PageKey& key : victim.keys)
         workingSet_.evicted(KeyHash{}(key), victim.frame->size / victim.keys.size());
      freed += drop(victim);
   }
   return freed;
}

size_t FrameCache::evict(size_t bytes) {
   size_t freed = 0;
   for (uint32_t i = 0; i < shardCount && freed < bytes; ++i)
      freed += evictFrom(rings_[nextRing_.fetch_add(1, std::memory_order_relaxed) % shardCount], bytes - freed);
   return freed;
}

void FrameCache::evictSegment(SegmentId segment) {
   for (Shard& shard : shards_) {
      std::vector<Dropped> victims;
      {
         const MutexLock lock(shard.mutex);
         for (const auto& [key, place] : shard.pages) {
            if (key.segment != segment) continue;
            Ring& ring = ringOf(*place.frame);
            const MutexLock ringLock(ring.mutex);
            if (place.frame->place == Frame::Place::Listed) victims.push_back(takeFromRing(ring, *place.frame));
         }
      }
      for (const Dropped& victim : victims)
         drop(victim);
   }
}

} // namespace ouzel::storage
