#pragma once
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "common/memory/ledger.hpp"
#include "common/sync/mutex.hpp"
#include "io/cache/cache_options.hpp"
#include "io/cache/region_file.hpp"
#include "io/cache/region_index.hpp"
#include "io/object_store/store_statistics.hpp"

namespace ouzel::io {

/// A cache of pieces of remote objects in a file on a local device. No caller fails or waits because of the cache:
/// bytes that are absent, unreadable or changed count as missing, bytes that the writer thread has no time to write are
/// dropped, and when the device fails the cache turns itself off with one warning.
///
/// The file is a ring of segments, filled in the order in which regions arrive. When all segments are full, the oldest
/// one is overwritten. Its regions that were read since they were written are written again (FIFO with a second chance,
/// as CLOCK), at most half a segment of them, so that each segment has room for new regions. One writer thread does all
/// writing. It writes a segment's summary when the segment is full, or after a second without work, so that a killed
/// process loses few regions.
///
/// Memory: RegionIndex::bytesPerRegion for each region of up to 128 KiB (1 MiB in large caches), the queue of bytes to
/// be written (at most a sixteenth of the ledger's limit), and up to half a segment while a segment is overwritten.
/// Index and queue are charged to the ledger; bytes that the ledger refuses are not cached. Thread-safe.
class ObjectCache {
public:
   using Piece = RegionIndex::Piece;

   /// Opens the file that an earlier process has left, or makes one. Throws 22023 (too small), 58030, 53100, 55006
   /// (another process uses the file).
   explicit ObjectCache(CacheOptions options);
   /// Writes the queued bytes and the last summary.
   ~ObjectCache();
   ObjectCache(const ObjectCache&) = delete;
   ObjectCache& operator=(const ObjectCache&) = delete;

   /// Cuts the range into pieces that the cache has and pieces that are missing, in order.
   std::vector<Piece> find(const ObjectKey& object, uint64_t begin, uint64_t end);
   /// Reads a piece that find() returned with a place. False: the piece has been overwritten, is damaged, or the cache
   /// is off.
   [[nodiscard]] bool read(const Piece& piece, char* target);
   /// Queues a copy of the bytes for the writer thread. Drops the bytes when the queue is full.
   void offer(const ObjectKey& object, uint64_t objectSize, uint64_t offset, const char* bytes, size_t size);
   /// The size of an object of which the cache has a region; none if it has none.
   std::optional<uint64_t> objectSize(const ObjectKey& object) const;
   /// Drops the object's regions, since the object was removed from its store.
   void forget(const ObjectKey& object);
   /// Drops the object's regions and takes no new ones: the bytes were damaged before they came here, so their
   /// checksums match. A restart forgets this, so the object may have to be distrusted again.
   void distrust(const ObjectKey& object);

   void countMiss(size_t bytes);
   void countJoin() { joins_.fetch_add(1, std::memory_order_relaxed); }
   CacheStatistics statistics() const;
   /// Waits until all offered bytes are written or dropped and the summary is written. For tests.
   void flush();

private:
   struct Fill {
      ObjectKey object;
      uint64_t objectSize, offset;
      std::unique_ptr<char[]> bytes;
      size_t size;
   };
   void offerPiece(const ObjectKey& object, uint64_t objectSize, uint64_t offset, const char* bytes, size_t size);
   void load() REQUIRES(indexMutex_);
   void work();
   void store(const Fill& fill);
   void append(Region region, const char* bytes);
   void nextSegment();
   void writeSummary();
   [[nodiscard]] bool chargeIndex(size_t regions);
   void turnOff(const std::string& reason);

   // PROPERTIES
   const CacheOptions options_;
   const size_t regionSizeMax_;
   RegionFile file_;
   size_t queueSizeMax_ = 0;

   // STATE
   std::atomic<bool> isOn_{true};
   std::atomic<uint64_t> hits_{0}, hitBytes_{0}, misses_{0}, missBytes_{0}, joins_{0}, evictions_{0}, fills_{0},
       droppedFills_{0}, corruptions_{0}, errors_{0};
   mutable Mutex indexMutex_;
   RegionIndex index_ GUARDED_BY(indexMutex_);
   std::unordered_set<ObjectKey, ObjectKeyHash> distrusted_ GUARDED_BY(indexMutex_);
   std::optional<Reservation> memory_;

   // Used by the writer thread only:
   uint32_t segment_ = 0; ///< the segment being filled
   size_t position_ = 0;  ///< end of the regions in that segment
   RegionFile::Summary summary_;
   bool isSummaryWritten_ = true;
   size_t regionsCharged_ = 0;

   Mutex queueMutex_; ///< guards the members below
   CondVar queueChanged_;
   std::deque<Fill> queue_ GUARDED_BY(queueMutex_);
   size_t queueSize_ GUARDED_BY(queueMutex_) = 0; ///< bytes, including the fill that is being written
   bool isStopping_ GUARDED_BY(queueMutex_) = false;
   bool wantsFlush_ GUARDED_BY(queueMutex_) = false;
   std::thread writer_;
};

} // namespace ouzel::io
