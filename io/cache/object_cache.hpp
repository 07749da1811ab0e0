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

/// Pieces of objects on a local device, for whoever would read them over a network otherwise. It never fails and is
/// never waited for: what it has not got, cannot read or finds changed is missing, what it has no time to write is
/// dropped, and when the device fails it goes off with one warning.
///
/// Regions lie in the file in the order in which they came. When all segments are full the oldest is overwritten; of
/// its regions those that were read since they were written are written again (FIFO with a second chance, as CLOCK),
/// half a segment at most, so that writing always gets on. A thread writes, and closes a segment's summary when it has
/// had nothing to do for a second, so that a process that is killed leaves nearly all behind.
///
/// Memory: RegionIndex::bytesPerRegion for each region of up to 128 KiB (of large caches 1 MiB), what waits to be
/// written (a sixteenth of the ledger's limit at most), and a segment while it is overwritten. The first two are
/// charged; what the ledger refuses is not cached. Thread-safe.
class ObjectCache {
public:
   using Piece = RegionIndex::Piece;

   /// Opens what an earlier process has left. Throws 58030, 53100, 55006 (another process uses it).
   explicit ObjectCache(CacheOptions options);
   /// Writes what waits.
   ~ObjectCache();
   ObjectCache(const ObjectCache&) = delete;
   ObjectCache& operator=(const ObjectCache&) = delete;

   /// The range cut into what is here and what is missing, in order.
   std::vector<Piece> find(const ObjectKey& object, uint64_t begin, uint64_t end);
   /// Read a piece that find() has given. False: it is missing after all.
   [[nodiscard]] bool read(const Piece& piece, char* target);
   /// Have a copy written, if there is time and room for it.
   void offer(const ObjectKey& object, uint64_t objectSize, uint64_t offset, const char* bytes, size_t size);
   /// Of an object that is here in part.
   std::optional<uint64_t> objectSize(const ObjectKey& object) const;
   /// It was removed from its store.
   void forget(const ObjectKey& object);
   /// Forget it, and do not take it again: its bytes were damaged before they came here, where they look right. After
   /// a restart they may come back, to be distrusted again.
   void distrust(const ObjectKey& object);

   void countMiss(size_t bytes);
   void countJoin() { joins_.fetch_add(1, std::memory_order_relaxed); }
   CacheStatistics statistics() const;
   /// Return when all that was offered is written or dropped, and the summary with it. For tests.
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
   RegionIndex index_ GUARDED_BY(indexMutex_);                                       // under indexMutex_
   std::unordered_set<ObjectKey, ObjectKeyHash> distrusted_ GUARDED_BY(indexMutex_); // under indexMutex_
   std::optional<Reservation> memory_;

   // of the writer
   uint32_t segment_ = 0; ///< being filled
   size_t position_ = 0;  ///< where its bytes end
   RegionFile::Summary summary_;
   bool isSummaryWritten_ = true;
   size_t regionsCharged_ = 0;

   Mutex queueMutex_; ///< guards what follows
   CondVar queueChanged_;
   std::deque<Fill> queue_ GUARDED_BY(queueMutex_);
   size_t queueSize_ GUARDED_BY(queueMutex_) = 0; ///< bytes, with the fill that is being written
   bool isStopping_ GUARDED_BY(queueMutex_) = false;
   bool wantsFlush_ GUARDED_BY(queueMutex_) = false;
   std::thread writer_;
};

} // namespace ouzel::io
