#include "storage/buffer/frame_cache.hpp"

#include <cstdlib>
#include <new>

#include "common/error/check.hpp"
#include "common/hash/hash.hpp"

namespace ouzel::storage {

size_t FrameCache::KeyHash::operator()(const PageKey& key) const {
   return hashCombine(hashU64(key.segment), static_cast<uint64_t>(key.column) << 32 | key.page);
}

void PagePin::reset() {
   Frame* frame = std::exchange(frame_, nullptr);
   if (!frame) return;
   const uint32_t before = frame->state.fetch_sub(1, std::memory_order_acq_rel);
   CHECK((before & ~FrameCache::detachedBit) != 0);
   if (before == (FrameCache::detachedBit | 1)) frame->cache->free(frame);
}

FrameCache::~FrameCache() {
   for (Shard& shard : shards_)
      for (Frame* frame : shard.ring) {
         CHECK(frame->state.load() == 0);
         free(frame);
      }
}

void FrameCache::free(Frame* frame) {
   std::free(frame->data);
   reservation_.shrink(frame->size);
   delete frame;
}

Frame* FrameCache::findPinned(Shard& shard, const PageKey& key) {
   const auto it = shard.frames.find(key);
   if (it == shard.frames.end()) return nullptr;
   it->second->state.fetch_add(1, std::memory_order_acq_rel);
   it->second->isReferenced.store(true, std::memory_order_relaxed);
   return it->second;
}

PagePin FrameCache::pin(const PageKey& key, size_t size, const std::function<void(char*)>& load) {
   Shard& shard = shards_[KeyHash{}(key) % shardCount];
   {
      const std::lock_guard lock(shard.mutex);
      if (Frame* frame = findPinned(shard, key)) {
         hits_.fetch_add(1, std::memory_order_relaxed);
         return PagePin(frame);
      }
   }
   misses_.fetch_add(1, std::memory_order_relaxed);
   reservation_.grow(size);
   auto* frame = new Frame;
   frame->key = key;
   frame->size = size;
   frame->cache = this;
   frame->data = static_cast<char*>(std::aligned_alloc(64, (size + 63) / 64 * 64));
   try {
      if (!frame->data) throw std::bad_alloc();
      load(frame->data);
   } catch (...) {
      free(frame);
      throw;
   }
   frame->state.store(1);
   const std::lock_guard lock(shard.mutex);
   if (Frame* other = findPinned(shard, key)) { // somebody was faster
      free(frame);
      return PagePin(other);
   }
   frame->ringIndex = static_cast<uint32_t>(shard.ring.size());
   shard.ring.push_back(frame);
   shard.frames.emplace(key, frame);
   return PagePin(frame);
}

bool FrameCache::contains(const PageKey& key) {
   Shard& shard = shards_[KeyHash{}(key) % shardCount];
   const std::lock_guard lock(shard.mutex);
   return shard.frames.contains(key);
}

void FrameCache::detach(Shard& shard, Frame* frame) {
   shard.frames.erase(frame->key);
   Frame* last = shard.ring.back();
   shard.ring[frame->ringIndex] = last;
   last->ringIndex = frame->ringIndex;
   shard.ring.pop_back();
   const uint32_t before = frame->state.fetch_or(detachedBit, std::memory_order_acq_rel);
   if (before == 0) free(frame);
}

size_t FrameCache::evictFrom(Shard& shard, size_t bytes) {
   const std::lock_guard lock(shard.mutex);
   size_t freed = 0;
   // Two rounds at most: the first takes the second chances away.
   for (size_t steps = shard.ring.size() * 2; steps > 0 && freed < bytes && !shard.ring.empty(); --steps) {
      shard.hand %= shard.ring.size();
      Frame* frame = shard.ring[shard.hand];
      if (frame->state.load(std::memory_order_acquire) != 0 ||
          frame->isReferenced.exchange(false, std::memory_order_relaxed)) {
         ++shard.hand;
         continue;
      }
      freed += frame->size;
      detach(shard, frame); // the last frame moved to this place: look there next
   }
   return freed;
}

size_t FrameCache::evict(size_t bytes) {
   size_t freed = 0;
   for (uint32_t i = 0; i < shardCount && freed < bytes; ++i)
      freed += evictFrom(shards_[nextShard_.fetch_add(1, std::memory_order_relaxed) % shardCount], bytes - freed);
   return freed;
}

void FrameCache::evictSegment(SegmentId segment) {
   for (Shard& shard : shards_) {
      const std::lock_guard lock(shard.mutex);
      for (size_t i = 0; i < shard.ring.size();) {
         if (shard.ring[i]->key.segment == segment)
            detach(shard, shard.ring[i]);
         else
            ++i;
      }
   }
}

} // namespace ouzel::storage
