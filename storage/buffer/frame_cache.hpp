#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/memory/ledger.hpp"
#include "storage/ids.hpp"

namespace ouzel::storage {

/// Names a page: pages of a chunk are numbered, chunks by row group.
struct PageKey {
   SegmentId segment = 0;
   uint32_t column = 0;
   uint32_t page = 0; ///< row group << 16 | page of the chunk
   bool operator==(const PageKey&) const = default;
};

/// A page in memory, as the cache keeps it. Its bytes do not change while it exists.
struct Frame {
   PageKey key;
   char* data = nullptr; // 64-byte aligned
   size_t size = 0;
   /// Pins, plus detachedBit once the cache has forgotten the frame: whoever takes the last pin frees it.
   std::atomic<uint32_t> state{0};
   std::atomic<bool> isReferenced{true};
   uint32_t ringIndex = 0; // in its shard
   class FrameCache* cache = nullptr;
};

/// Keeps one frame from being evicted. Movable, not copyable.
class PagePin {
public:
   PagePin() = default;
   explicit PagePin(Frame* frame) : frame_(frame) {}
   PagePin(PagePin&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
   PagePin& operator=(PagePin&& other) noexcept {
      std::swap(frame_, other.frame_);
      return *this;
   }
   ~PagePin() { reset(); }
   void reset();
   const char* data() const { return frame_->data; }
   explicit operator bool() const { return frame_ != nullptr; }

private:
   Frame* frame_ = nullptr;
};

/// Cached pages of blocks: LZ4 removed, still encoded. Everything is charged to the ledger; when that runs out,
/// unpinned frames go by second chance (clock). Thread-safe; a page missing is loaded outside all locks, so that two
/// threads may load it at once and one copy is dropped.
class FrameCache {
public:
   explicit FrameCache(MemoryLedger& ledger) : ledger_(ledger), reservation_(ledger) {}
   /// REQUIRES: nothing is pinned.
   ~FrameCache();

   /// Pin a page; when it is not cached, `load` fills `size` bytes (it may throw; nothing is kept then). Throws 53200
   /// when the ledger refuses.
   PagePin pin(const PageKey& key, size_t size, const std::function<void(char*)>& load);
   bool contains(const PageKey& key);
   MemoryLedger& ledger() const { return ledger_; }
   /// Free unpinned frames until `bytes` are released or none is left; returns what was.
   size_t evict(size_t bytes);
   /// Forget all pages of a segment; pinned ones go when their pins do.
   void evictSegment(SegmentId segment);
   size_t cachedBytes() const { return reservation_.used(); }
   uint64_t hits() const { return hits_.load(std::memory_order_relaxed); }
   uint64_t misses() const { return misses_.load(std::memory_order_relaxed); }

private:
   friend class PagePin;
   static constexpr uint32_t detachedBit = 1u << 31;
   static constexpr uint32_t shardCount = 64;

   struct KeyHash {
      size_t operator()(const PageKey& key) const;
   };
   struct Shard {
      std::mutex mutex;
      std::unordered_map<PageKey, Frame*, KeyHash> frames;
      std::vector<Frame*> ring;
      size_t hand = 0;
   };

   Frame* findPinned(Shard& shard, const PageKey& key);
   void detach(Shard& shard, Frame* frame); // the shard's mutex is held
   void free(Frame* frame);
   size_t evictFrom(Shard& shard, size_t bytes);

   MemoryLedger& ledger_;
   Reservation reservation_;
   std::array<Shard, shardCount> shards_;
   std::atomic<uint32_t> nextShard_{0};
   std::atomic<uint64_t> hits_{0}, misses_{0};
};

} // namespace ouzel::storage
