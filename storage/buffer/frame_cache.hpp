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
#include "storage/buffer/fetch_cost.hpp"
#include "storage/buffer/working_set.hpp"

namespace ouzel::storage {

/// Names a page: pages are numbered within their chunk, chunks within their column by row group.
struct PageKey {
   SegmentId segment = 0;
   uint32_t column = 0;
   uint32_t page = 0; ///< row group << 16 | page of the chunk
   bool operator==(const PageKey&) const = default;
};

/// Memory of the cache: one page, or a stretch of an object with several pages as they arrived. The cache evicts a
/// frame as a whole.
///
///    allocate() ──> Private ──adopt(), load()──> Listed ──evict(), evictSegment()──> Dropped ──last pin──> (freed)
///                      └──last pin──> (freed)
///
/// A Private frame has no key and is on no ring; a Listed frame is on a ring and has keys in the maps; a Dropped frame
/// has left its ring and is leaving the maps.
struct Frame {
   char* data = nullptr; // 64-byte aligned
   size_t size = 0;
   class FrameCache* cache = nullptr;
   /// Number of pins, plus detachedBit while no map has the frame. The last pin frees a detached frame.
   std::atomic<uint32_t> state{0};
   std::atomic<bool> isReferenced{true};
   std::atomic<uint32_t> turn{0}; ///< of the WorkingSet, when the frame was used last
   // Guarded by the mutex of the frame's ring:
   enum class Place : uint8_t { Private, Listed, Dropped };
   Place place = Place::Private;
   uint32_t ringIndex = 0;
   std::vector<PageKey> keys; ///< under which find() reaches the frame
};

/// Keeps one frame from being evicted, and points to one page in it. Movable, not copyable; one thread at a time.
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

/// Cached pages of blocks: LZ4 removed, still encoded. All frames are charged to the ledger; when the ledger runs out,
/// unpinned frames are evicted by second chance (clock). Thread-safe. A missing page is loaded outside all locks: two
/// threads may load the same page at once, and one copy is dropped.
///
/// The maps of the shards find pages; the rings find frames to evict. A frame to be evicted first leaves its ring,
/// which only one thread can do; then the maps, which give new pins; then the last pin frees the frame. Lock order: a
/// map's mutex before a ring's.
class FrameCache {
public:
   explicit FrameCache(MemoryLedger& ledger) : ledger_(ledger), reservation_(ledger) {}
   /// REQUIRES: no page is pinned.
   ~FrameCache();

   /// Pin a page if it is cached; else the pin is empty.
   PagePin find(const PageKey& key);
   /// Load a page that find() did not find, and pin it: `load` fills `size` bytes. When another thread has listed the
   /// page meanwhile, its copy is pinned and this one freed. When `load` throws, the frame is freed. Throws 53200 when
   /// the ledger refuses.
   PagePin load(const PageKey& key, size_t size, const std::function<void(char*)>& load);
   /// Memory for a stretch of pages; the holder of the returned pin, the only one, writes to it. find() does not reach
   /// the stretch, and its last pin frees it, unless adopt() lists it. The pin is empty when the ledger refuses.
   PagePin tryAllocate(size_t size, char*& data);
   /// List the page `key` at `data` in the stretch, and pin it. REQUIRES: these bytes do not change any more.
   PagePin adopt(const PagePin& stretch, const PageKey& key, const char* data);

   bool contains(const PageKey& key);
   MemoryLedger& ledger() const { return ledger_; }
   /// Free unpinned frames until `bytes` are released or none is left; returns the bytes freed.
   size_t evict(size_t bytes);
   /// Forget all pages of a segment; pinned ones are freed with their last pin.
   void evictSegment(SegmentId segment);
   /// Bytes of frames that are not Private: those that can be evicted when they are not pinned.
   size_t cachedBytes() const { return reservation_.used() - privateBytes_.load(std::memory_order_relaxed); }
   /// Of cachedBytes(), those that cannot be evicted now.
   size_t pinnedBytes() const { return pinnedBytes_.load(std::memory_order_relaxed); }
   WorkingSet& workingSet() { return workingSet_; }
   /// What pages cost that have to be loaded. Who fetches pages into stretches reports that, load() does it itself.
   FetchCost& fetchCost() { return fetchCost_; }
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
   Frame* allocate(size_t size); // REQUIRES: `size` is charged already
   PagePin pinned(const Shard& shard, const PageKey& key) REQUIRES(shard.mutex);
   void noteUse(Frame& frame);
   bool list(Frame& frame, const PageKey& key);
   Dropped takeFromRing(Ring& ring, Frame& frame) REQUIRES(ring.mutex);
   size_t drop(const Dropped& dropped);
   void free(Frame* frame);
   size_t evictFrom(Ring& ring, size_t bytes);

   MemoryLedger& ledger_;
   Reservation reservation_;
   std::array<Shard, shardCount> shards_;
   std::array<Ring, shardCount> rings_;
   std::atomic<size_t> privateBytes_{0}; ///< bytes of Private frames
   std::atomic<uint32_t> nextRing_{0};
   std::atomic<size_t> pinnedBytes_{0}; ///< bytes of frames that are not Private and have a pin
   std::atomic<uint64_t> hits_{0}, misses_{0};
   WorkingSet workingSet_;
   FetchCost fetchCost_;
};

} // namespace ouzel::storage
