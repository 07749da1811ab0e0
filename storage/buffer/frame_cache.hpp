#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/memory/ledger.hpp"
#include "common/sync/mutex.hpp"
#include "storage/base/ids.hpp"

namespace ouzel::storage {

/// Names a page: pages of a chunk are numbered, chunks by row group.
struct PageKey {
   SegmentId segment = 0;
   uint32_t column = 0;
   uint32_t page = 0; ///< row group << 16 | page of the chunk
   bool operator==(const PageKey&) const = default;
};

/// Memory of the cache: of one page, or a stretch of an object in which several lie as they arrived. Evicted as a
/// whole.
struct Frame {
   char* data = nullptr; // 64-byte aligned
   size_t size = 0;
   class FrameCache* cache = nullptr;
   /// Pins, plus detachedBit while the cache does not know the frame: whoever takes the last pin frees it then.
   std::atomic<uint32_t> state{0};
   std::atomic<bool> isReferenced{true};
   // Under the mutex of its ring:
   enum class Place : uint8_t { Private, Listed, Dropped };
   Place place = Place::Private;
   uint32_t ringIndex = 0;
   std::vector<PageKey> keys; ///< under which it is found
};

/// Keeps one frame from being evicted. Movable, not copyable.
class PagePin {
public:
   PagePin() = default;
   PagePin(Frame* frame, const char* data) : frame_(frame), data_(data) {}
   PagePin(PagePin&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)), data_(other.data_) {}
   PagePin& operator=(PagePin&& other) noexcept {
      std::swap(frame_, other.frame_);
      std::swap(data_, other.data_);
      return *this;
   }
   ~PagePin() { reset(); }
   void reset();
   const char* data() const { return data_; }
   explicit operator bool() const { return frame_ != nullptr; }

private:
   friend class FrameCache;
   Frame* frame_ = nullptr;
   const char* data_ = nullptr; ///< of the page, inside the frame
};

/// Cached pages of blocks: LZ4 removed, still encoded. Everything is charged to the ledger; when that runs out,
/// unpinned frames go by second chance (clock). Thread-safe; a page missing is loaded outside all locks, so that two
/// threads may load it at once and one copy is dropped.
///
/// Pages are found by the maps of the shards, frames to evict on the rings. A frame that is to go leaves its ring
/// first, which one thread can do only once, then the maps, from where new pins come; then whoever drops the last pin
/// frees it. A map's mutex may be held when a ring's is taken, not the other way round.
class FrameCache {
public:
   explicit FrameCache(MemoryLedger& ledger) : ledger_(ledger), reservation_(ledger) {}
   /// REQUIRES: nothing is pinned.
   ~FrameCache();

   /// Pin a page if it is cached; else the pin is empty.
   PagePin find(const PageKey& key);
   /// Pin a page that was not found; when it still is not, `load` fills `size` bytes (it may throw; nothing is kept
   /// then). Throws 53200 when the ledger refuses.
   PagePin load(const PageKey& key, size_t size, const std::function<void(char*)>& load);
   /// Memory for a stretch of pages, to be written to by whoever holds the only pin; nobody finds it, and it goes with
   /// its last pin. Empty when the ledger refuses.
   PagePin tryAllocate(size_t size, char*& data);
   /// From now on the page is found at `data` in the stretch, where it will not change any more. Pins it.
   PagePin adopt(const PagePin& stretch, const PageKey& key, const char* data);

   bool contains(const PageKey& key);
   MemoryLedger& ledger() const { return ledger_; }
   /// Free unpinned frames until `bytes` are released or none is left; returns what was.
   size_t evict(size_t bytes);
   /// Forget all pages of a segment; pinned ones go when their pins do.
   void evictSegment(SegmentId segment);
   /// Of what is found, and can be evicted where it is not pinned.
   size_t cachedBytes() const { return reservation_.used() - privateBytes_.load(std::memory_order_relaxed); }
   uint64_t hits() const { return hits_.load(std::memory_order_relaxed); }
   uint64_t misses() const { return misses_.load(std::memory_order_relaxed); }

private:
   friend class PagePin;
   static constexpr uint32_t detachedBit = 1u << 31;
   static constexpr uint32_t shardCount = 64;

   struct KeyHash {
      size_t operator()(const PageKey& key) const;
   };
   struct Place {
      Frame* frame;
      const char* data;
   };
   struct Shard {
      Mutex mutex;
      std::unordered_map<PageKey, Place, KeyHash> pages GUARDED_BY(mutex);
   };
   struct Ring {
      Mutex mutex;
      std::vector<Frame*> frames GUARDED_BY(mutex);
      size_t hand GUARDED_BY(mutex) = 0;
   };
   /// A frame that has left its ring.
   struct Dropped {
      Frame* frame;
      std::vector<PageKey> keys;
   };

   Shard& shardOf(const PageKey& key) { return shards_[KeyHash{}(key) % shardCount]; }
   Ring& ringOf(const Frame& frame);
   Frame* allocate(size_t size); // charged already
   PagePin pinned(const Shard& shard, const PageKey& key) REQUIRES(shard.mutex);
   bool list(Frame& frame, const PageKey& key);
   Dropped takeFromRing(Ring& ring, Frame& frame) REQUIRES(ring.mutex);
   size_t drop(const Dropped& dropped);
   void free(Frame* frame);
   size_t evictFrom(Ring& ring, size_t bytes);

   MemoryLedger& ledger_;
   Reservation reservation_;
   std::array<Shard, shardCount> shards_;
   std::array<Ring, shardCount> rings_;
   std::atomic<size_t> privateBytes_{0}; ///< of frames that nobody finds
   std::atomic<uint32_t> nextRing_{0};
   std::atomic<uint64_t> hits_{0}, misses_{0};
};

} // namespace ouzel::storage
